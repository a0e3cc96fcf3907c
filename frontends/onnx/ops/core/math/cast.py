"""Cast, CastLike, BitCast, IsNaN of narrow floats."""

from __future__ import annotations

from onnx import TensorProto

from mlc.frontends.build.ops import casts
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.reading.types import element_of_onnx


@onnx_op("Cast")
def cast(node: Node) -> Tensor:
    to = node.attr("to")
    element = element_of_onnx(TensorProto.DataType.Value(to) if isinstance(to, str) else to)
    return _converted(node, element)


@onnx_op("CastLike", since=15)
def cast_like(node: Node) -> Tensor:
    return _converted(node, node[1].element)


def _converted(node: Node, element: str) -> Tensor:
    saturate, round_mode = node.flag("saturate", 1), node.attr("round_mode", "up")
    return casts.cast(node.build, node[0], element, saturate, round_mode)


@onnx_op("BitCast", since=26)
def bit_cast(node: Node) -> Tensor:
    return casts.bit_cast(node.build, node[0], element_of_onnx(node.attr("to")))


@onnx_op("IsNaN", since=20)
def is_nan(node: Node) -> Tensor:
    return node.build.map("isnan(x0)", casts.widened(node.build, node[0]))
