"""Pooling, MaxUnpool, Col2Im."""

from __future__ import annotations

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.convolution import col2im as columns
from mlc.frontends.build.ops.convolution import pooling
from mlc.frontends.build.ops.convolution.windows import Window
from mlc.frontends.build.ops.reduction import mean
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.nn.windows import counts, window_of


def pooling_window(node: Node, x: Tensor | None = None) -> Window:
    """The window of a pooling operator over ``x`` [N, C, …], input 0 unless it is given."""
    x, kernel = node[0] if x is None else x, counts(node, "kernel_shape")
    if len(kernel) != x.rank - 2:
        raise NotSupported(f"a window of {len(kernel)} dimensions over a tensor of rank {x.rank}")
    return window_of(node, x.shape[2:], kernel)


@onnx_op("MaxPool")
def max_pool(node: Node) -> Tensor | tuple[Tensor, Tensor]:
    window = pooling_window(node)
    if not node.wants(1):
        return pooling.max_pool(node.build, node[0], window)
    return pooling.max_pool_with_positions(node.build, node[0], window, node.flag("storage_order", 0))


@onnx_op("AveragePool")
def average_pool(node: Node) -> Tensor:
    return pooling.average_pool(node.build, node[0], pooling_window(node), node.flag("count_include_pad", 0))


@onnx_op("LpPool")
def lp_pool(node: Node) -> Tensor:
    return pooling.lp_pool(node.build, node[0], pooling_window(node), node.attr("p", 2))


@onnx_op("GlobalAveragePool")
def global_average_pool(node: Node) -> Tensor:
    return mean(node.build, node[0], pooling.spatial_axes(node[0]), keepdims=True)


@onnx_op("GlobalMaxPool")
def global_max_pool(node: Node) -> Tensor:
    return node.build.reduce("max", node[0], pooling.spatial_axes(node[0]), keepdims=True)


@onnx_op("GlobalLpPool")
def global_lp_pool(node: Node) -> Tensor:
    return pooling.global_lp_pool(node.build, node[0], node.attr("p", 2))


@onnx_op("MaxUnpool", since=9)
def max_unpool(node: Node) -> Tensor:
    """ONNX opset 9, 11, 22. The positions count in the shape that the window gives, whatever input 2 says."""
    x, kernel = node[0], counts(node, "kernel_shape")
    rank = len(kernel)
    strides, pads = counts(node, "strides", rank), node.attr("pads", None) or [0] * (2 * rank)
    sizes = [
        (d - 1) * s + k - pads[n] - pads[n + rank]
        for n, (d, s, k) in enumerate(zip(x.shape[2:], strides, kernel, strict=True))
    ]
    inner = (*x.shape[:2], *sizes)
    return pooling.max_unpool(node.build, x, node[1], inner, node.dims(2) if node.has(2) else inner)


@onnx_op("Col2Im", since=18)
def col2im(node: Node) -> Tensor:
    image, kernel = node.dims(1), node.dims(2)
    rank = len(kernel)
    strides, dilations = counts(node, "strides", rank), counts(node, "dilations", rank)
    pads = node.attr("pads", None) or [0] * (2 * rank)
    return columns.col2im(node.build, node[0], image, kernel, strides, dilations, pads)
