"""Floating-point operations of a model: two for each multiply-add of its contractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import onnx
from onnx import shape_inference

Shape = tuple[int, ...]


def flops(model: onnx.ModelProto, dims: Mapping[str, int] | None = None) -> int:
    """Operations of Conv, ConvTranspose, MatMul, Gemm and LSTM nodes; symbolic dimensions from `dims`, else 1."""
    shapes = _shapes(_static(model, dims or {}))
    counted = [(COUNTS[node.op_type], node) for node in model.graph.node if node.op_type in COUNTS]
    return sum(count([shapes.get(name, ()) for name in (*node.input, *node.output)], node) for count, node in counted)


def _static(model: onnx.ModelProto, dims: Mapping[str, int]) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for value in (*copy.graph.input, *copy.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = dims.get(dim.dim_param, 1)
    return copy


def _shapes(model: onnx.ModelProto) -> dict[str, Shape]:
    graph = shape_inference.infer_shapes(model, data_prop=True).graph
    shapes: dict[str, Shape] = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        shapes[value.name] = tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
    return shapes


def _conv(shapes: list[Shape], node: onnx.NodeProto) -> int:
    return 2 * math.prod(shapes[-1]) * math.prod(shapes[1][1:])


def _conv_transpose(shapes: list[Shape], node: onnx.NodeProto) -> int:
    return 2 * math.prod(shapes[0]) * math.prod(shapes[1][1:])


def _matmul(shapes: list[Shape], node: onnx.NodeProto) -> int:
    return 2 * math.prod(shapes[-1]) * shapes[0][-1]


def _gemm(shapes: list[Shape], node: onnx.NodeProto) -> int:
    transposed = any(attribute.name == "transA" and attribute.i for attribute in node.attribute)
    return 2 * math.prod(shapes[-1]) * shapes[0][0 if transposed else 1]


def _lstm(shapes: list[Shape], node: onnx.NodeProto) -> int:
    steps, batch, _ = shapes[0]
    return 2 * steps * batch * (math.prod(shapes[1]) + math.prod(shapes[2]))


COUNTS: dict[str, Callable[[list[Shape], onnx.NodeProto], int]] = {
    "Conv": _conv, "ConvTranspose": _conv_transpose, "MatMul": _matmul, "Gemm": _gemm, "LSTM": _lstm,
}  # fmt: skip
