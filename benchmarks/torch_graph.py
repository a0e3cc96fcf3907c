"""ONNX models as PyTorch modules: each node becomes the call that a PyTorch user would have written.

The result is a `torch.fx.GraphModule`, which runs eagerly without overhead and which `torch.compile` takes whole. The
converters on PyPI interpret the graph at every call, or compute shapes with tensors, which breaks compiled graphs.
Only what the benchmarks' models use is here, with shapes that are constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch import fx

from benchmarks.torch_operators import OPERATORS


class OnnxModule(torch.nn.Module):
    """Runs an ONNX graph node by node; made to be traced."""

    def __init__(self, model: onnx.ModelProto) -> None:
        super().__init__()
        self._graph = model.graph
        self._constants = {tensor.name: _constant(numpy_helper.to_array(tensor)) for tensor in model.graph.initializer}

    def forward(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The outputs, of inputs in the order of the ONNX graph."""
        values = {"": None, **self._constants}
        for i, value in enumerate(self._graph.input):
            values[value.name] = inputs[i]
        for node in self._graph.node:
            values |= _outputs(node, [values[name] for name in node.input])
        return tuple(values[value.name] for value in self._graph.output)


def _constant(array: np.ndarray) -> Any:
    """Shapes, axes and scalars as Python values, which PyTorch's functions take; the rest as tensors."""
    if array.ndim == 0 or array.ndim == 1 and array.dtype.kind == "i":
        return array.tolist()
    return torch.from_numpy(array.copy())


def _outputs(node: onnx.NodeProto, inputs: list[Any]) -> dict[str, Any]:
    if node.op_type not in OPERATORS:
        raise NotImplementedError(f"no operator {node.op_type}")
    attributes = {attribute.name: _attribute(attribute) for attribute in node.attribute}
    result = OPERATORS[node.op_type](*inputs, **attributes)
    if len(node.output) == 1:
        return {node.output[0]: result}
    return {name: result[i] for i, name in enumerate(node.output)}


def _attribute(attribute: onnx.AttributeProto) -> Any:
    value = helper.get_attribute_value(attribute)
    return value.decode() if isinstance(value, bytes) else value


def graph_module(model: onnx.ModelProto) -> fx.GraphModule:
    """A model as a PyTorch module of one argument, the inputs; NotImplementedError or TypeError for other operators."""
    return fx.symbolic_trace(OnnxModule(model).eval())
