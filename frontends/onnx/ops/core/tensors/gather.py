"""Operators that read at computed positions: Gather*, OneHot."""

from __future__ import annotations

from mlc.frontends.build.ops.indexing import gather as ops
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("Gather")
def gather(node: Node) -> Tensor:
    return ops.gather(node.build, node[0], node[1], _axis(node))


@onnx_op("GatherElements", since=11)
def gather_elements(node: Node) -> Tensor:
    return ops.gather_elements(node.build, node[0], node[1], _axis(node))


def _axis(node: Node) -> int:
    return normalize_axis(node.attr("axis", 0), node[0].rank)


@onnx_op("GatherND", since=11)
def gather_nd(node: Node) -> Tensor:
    return ops.gather_nd(node.build, node[0], node[1], node.attr("batch_dims", 0))


@onnx_op("OneHot", since=9)
def one_hot(node: Node) -> Tensor:
    depth = node.dim(node.build.scalars.of(node.build.cast(node[1], "i64")).item(0), "depth")
    axis = normalize_axis(node.attr("axis", -1), node[0].rank + 1)
    return ops.one_hot(node.build, node[0], depth, node[2], axis)
