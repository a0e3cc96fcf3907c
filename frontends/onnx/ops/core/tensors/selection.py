"""NonZero, Compress, Unique."""

from __future__ import annotations

from mlc.frontends.build.ops.indexing import selection
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("NonZero", since=9)
def non_zero(node: Node) -> Tensor:
    return selection.nonzero(node.build, node[0])


@onnx_op("Compress", since=9)
def compress(node: Node) -> Tensor:
    return selection.compress(node.build, node[0], node[1], node.attr("axis", None))


@onnx_op("Unique", since=11)
def unique(node: Node) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return selection.unique(node.build, node[0], node.attr("axis", None), node.flag("sorted", 1))
