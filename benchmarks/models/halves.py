"""Models in 16 bits, f16 or bf16: weights, inputs, outputs and what is between them."""

from __future__ import annotations

from collections.abc import Iterator

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

DTYPES = {TensorProto.FLOAT16: np.dtype(np.float16), TensorProto.BFLOAT16: np.dtype(ml_dtypes.bfloat16)}


def halved(model: onnx.ModelProto, element: int = TensorProto.FLOAT16) -> onnx.ModelProto:
    """A copy of ``model`` in which floats of 32 bits are of 16, but for what operators take in 32 bits alone, such as
    the scales of Resize; large weights must be in the model itself."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    versions = {each.domain: each.version for each in made.opset_import}
    graphs = list(_graphs(made.graph))
    kept = {name for graph in graphs for node in graph.node for name in _of_32_bits(node, versions)}
    for graph in graphs:
        _halve_graph(graph, kept, element)
    return made


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """A graph, and the bodies of its loops and branches."""
    yield graph
    for attribute in (a for node in graph.node for a in node.attribute):
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield from _graphs(attribute.g)


def _of_32_bits(node: onnx.NodeProto, versions: dict[str, int]) -> Iterator[str]:
    """The inputs of a node that may be floats of 32 bits, and not of 16."""
    try:
        schema = onnx.defs.get_schema(node.op_type, versions.get(node.domain, 1), node.domain)
    except onnx.defs.SchemaError:  # of a domain that ONNX does not know
        return
    for name, formal in zip(node.input, schema.inputs, strict=False):
        if "tensor(float)" in formal.types and "tensor(float16)" not in formal.types:
            yield name


def _halve_graph(graph: onnx.GraphProto, kept: set[str], element: int) -> None:
    for value in (*graph.input, *graph.output, *graph.value_info):
        if value.type.tensor_type.elem_type == TensorProto.FLOAT and value.name not in kept:
            value.type.tensor_type.elem_type = element
    for tensor in graph.initializer:
        if tensor.name not in kept:
            _halve(tensor, element)
    for node in graph.node:
        for attribute in () if kept & {*node.output} else node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                _halve(attribute.t, element)
            elif attribute.name in ("to", "dtype") and attribute.i == TensorProto.FLOAT:
                attribute.i = element


def _halve(tensor: TensorProto, element: int) -> None:
    """Finite values stay finite."""
    if tensor.data_type != TensorProto.FLOAT:
        return
    data, dtype = numpy_helper.to_array(tensor), DTYPES[element]  # type: ignore[index]
    largest = np.float32(ml_dtypes.finfo(dtype).max)
    finite = np.where(np.isfinite(data), np.clip(data, -largest, largest), data).astype(dtype)
    tensor.CopyFrom(numpy_helper.from_array(finite, tensor.name))
