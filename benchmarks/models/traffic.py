"""The bytes that a model cannot avoid to move: its inputs, outputs and weights, once each."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import onnx
from onnx import helper


def traffic(model: onnx.ModelProto, dims: Mapping[str, int] | None = None) -> int:
    """Bytes of inputs, outputs and weights; of tables that are only gathered from, none: the rows read are few.

    Symbolic dimensions take their size from `dims`, else 1.
    """
    tables = _tables(model.graph)
    weights = [tensor for tensor in model.graph.initializer if tensor.name not in tables]
    known = {tensor.name for tensor in model.graph.initializer}
    values = [value for value in (*model.graph.input, *model.graph.output) if value.name not in known]
    return sum(_size(tensor.dims, tensor.data_type) for tensor in weights) + sum(
        _size(_shape(value, dims or {}), value.type.tensor_type.elem_type) for value in values
    )


def _shape(value: onnx.ValueInfoProto, dims: Mapping[str, int]) -> list[int]:
    sizes = value.type.tensor_type.shape.dim
    return [dims.get(dim.dim_param, 1) if dim.dim_param else dim.dim_value for dim in sizes]


def _size(shape: list[int], kind: int) -> int:
    return math.prod(shape) * np.dtype(helper.tensor_dtype_to_np_dtype(kind)).itemsize


def _tables(graph: onnx.GraphProto) -> set[str]:
    """What Gathers read, and nothing else."""
    gathered = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    others = [name for node in graph.node for name in node.input[int(node.op_type == "Gather") :]]
    return gathered - set(others)
