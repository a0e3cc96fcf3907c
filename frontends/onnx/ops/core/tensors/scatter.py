"""Operators that write at computed positions: Scatter*, TensorScatter; ReverseSequence."""

from __future__ import annotations

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.indexing import scatter as ops
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("Scatter", "ScatterElements")
def scatter_elements(node: Node) -> Tensor:
    """ONNX Scatter 9, 11; ScatterElements 11, 13, 16, 18."""
    axis = normalize_axis(node.attr("axis", 0), node[0].rank)
    return ops.scatter_elements(node.build, node[0], node[1], node[2], axis, node.attr("reduction", "none"))


@onnx_op("ScatterND", since=11)
def scatter_nd(node: Node) -> Tensor:
    """ONNX ScatterND 11, 13, 16, 18."""
    return ops.scatter_nd(node.build, node[0], node[1], node[2], node.attr("reduction", "none"))


@onnx_op("ReverseSequence", since=10)
def reverse_sequence(node: Node) -> Tensor:
    time, batch = node.attr("time_axis", 0), node.attr("batch_axis", 1)
    return ops.reverse_sequence(node.build, node[0], node[1], time, batch)


@onnx_op("TensorScatter", since=24)
def tensor_scatter(node: Node) -> Tensor:
    cache, update = node[0], node[1]
    axis = normalize_axis(node.attr("axis", -2), cache.rank)
    circular = {"linear": False, "circular": True}[node.attr("mode", "linear")]
    if axis == 0:
        raise NotSupported("axis 0, which is the batch")
    return ops.update_cache(node.build, cache, update, node.get(2), axis, circular)
