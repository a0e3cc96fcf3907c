"""Models in f16: weights, inputs, outputs and what is between them."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper


def halved(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of ``model`` in which all floats of 32 bits are of 16; large weights must be in the model itself."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for value in (*made.graph.input, *made.graph.output, *made.graph.value_info):
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    for tensor in made.graph.initializer:
        _halve(tensor)
    for attribute in (a for node in made.graph.node for a in node.attribute):
        if attribute.type == onnx.AttributeProto.TENSOR:
            _halve(attribute.t)
        elif attribute.name == "to" and attribute.i == TensorProto.FLOAT:
            attribute.i = TensorProto.FLOAT16
    return made


def _halve(tensor: TensorProto) -> None:
    if tensor.data_type == TensorProto.FLOAT:
        data = numpy_helper.to_array(tensor).astype(np.float16)
        tensor.CopyFrom(numpy_helper.from_array(data, tensor.name))
