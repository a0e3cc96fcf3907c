"""Random inputs that make sense for a model: indices in range, ragged masks, normal floats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper


def random_inputs(
    model: onnx.ModelProto, seed: int | np.random.Generator, dims: Mapping[str, int] | None = None
) -> dict[str, np.ndarray]:
    """Fresh inputs by name; a symbolic dimension takes its size from `dims`, else 1.

    Floats are standard normal. Integers that index a Gather lie within its data; those called a mask are ones and then
    zeros, at least one of them one, of a random length a row; others are 0 or 1.
    """
    random = np.random.default_rng(seed)
    bounds = _index_bounds(model.graph)
    weights = {tensor.name for tensor in model.graph.initializer}
    values = [value for value in model.graph.input if value.name not in weights]
    return {value.name: _random(random, value, bounds.get(value.name, 2), dims or {}) for value in values}


def _random(
    random: np.random.Generator, value: onnx.ValueInfoProto, bound: int, dims: Mapping[str, int]
) -> np.ndarray:
    kind = value.type.tensor_type
    shape = tuple(dims.get(dim.dim_param, 1) if dim.dim_param else dim.dim_value for dim in kind.shape.dim)
    dtype: Any = helper.tensor_dtype_to_np_dtype(kind.elem_type)
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape, np.float32).astype(dtype)
    if "mask" in value.name:
        lengths = random.integers(1, shape[-1] + 1, shape[:-1])
        return (np.arange(shape[-1]) < lengths[..., None]).astype(dtype)
    return random.integers(0, bound, shape).astype(dtype)


def _index_bounds(graph: onnx.GraphProto) -> dict[str, int]:
    """The number of rows that each value indexes with a Gather from an initializer."""
    sizes = {tensor.name: tensor.dims for tensor in graph.initializer}
    gathers = [node for node in graph.node if node.op_type == "Gather" and node.input[0] in sizes]
    return {node.input[1]: sizes[node.input[0]][_axis(node)] for node in gathers}


def _axis(node: onnx.NodeProto) -> int:
    return next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
