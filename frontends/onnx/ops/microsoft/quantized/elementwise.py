"""com.microsoft: QLinearAdd, QLinearMul, activations, pools, QLinearConcat and QLinearSoftmax on 8-bit integers.

Each dequantizes to f32, computes, and quantizes the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.convolution.pooling import averaged
from mlc.frontends.build.ops.quantization import quantize
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.ops.softmax import softmax
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.nn.pool import pooling_window
from mlc.frontends.onnx.ops.microsoft import DOMAIN

BINARY = {"QLinearAdd": "x0 + x1", "QLinearMul": "x0 * x1"}


def _one(build: Builder, x: Tensor | None, what: str) -> Tensor | None:
    """A scale or zero point that serves the whole tensor."""
    if x is not None and product(x.shape) != 1:
        raise NotSupported(f"{what} of shape {x.shape}; one for the whole tensor is supported")
    return None if x is None else build.reshape(x, ())


def dequantized(node: Node, at: int) -> Tensor:
    """Inputs ``at`` to ``at + 2`` (integers, scale, zero point) dequantized."""
    build = node.build
    scale, zero = _one(build, node[at + 1], "a scale"), _one(build, node.get(at + 2), "a zero point")
    assert scale is not None
    wide = build.cast(node[at], "i32") if zero is None else build.map("i32(x0) - i32(x1)", node[at], zero)
    return build.map("f32(x0) * x1", wide, scale)


def quantized(node: Node, y: Tensor, at: int, element: str) -> Tensor:
    """``y`` quantized by the scale and zero point of inputs ``at`` and ``at + 1``."""
    build = node.build
    scale, zero = _one(build, node[at], "a scale"), _one(build, node.get(at + 1), "a zero point")
    assert scale is not None
    return quantize(build, y, scale, zero, element)


def in_channels_last(build: Builder, x: Tensor, fn: Callable[[Tensor], Tensor]) -> Tensor:
    """A function of [N, C, …] applied to [N, …, C]."""
    if x.rank < 3:
        raise NotSupported(f"{x}; it takes [N, …, C]")
    to = [0, x.rank - 1, *range(1, x.rank - 1)]
    return build.transpose(fn(build.transpose(x, to)), [0, *range(2, x.rank), 1])


@onnx_op(*BINARY, domain=DOMAIN)
def binary(node: Node) -> Tensor:
    """A sum or a product, with broadcasting."""
    node.only()
    y = node.build.map(BINARY[node.op], dequantized(node, 0), dequantized(node, 3))
    return quantized(node, y, 6, node[0].element)


@onnx_op("QLinearSigmoid", "QLinearLeakyRelu", domain=DOMAIN)
def activation(node: Node) -> Tensor:
    """The logistic function, or a leaky relu."""
    node.only(*(["alpha"] if node.op == "QLinearLeakyRelu" else []))
    leaky = f"where(x0 >= 0, x0, {literal(node.attr('alpha', 0.01))} * x0)"
    y = node.build.map(leaky if node.op == "QLinearLeakyRelu" else "sigmoid(x0)", dequantized(node, 0))
    return quantized(node, y, 3, node[0].element)


@onnx_op("QLinearGlobalAveragePool", domain=DOMAIN)
def global_average_pool(node: Node) -> Tensor:
    """The mean of each channel, which is dimension 1, or the last one where ``channels_last`` is set."""
    node.only("channels_last")
    x, build = dequantized(node, 0), node.build
    axes = list(range(1, x.rank - 1)) if node.attr("channels_last", 0) else list(range(2, x.rank))
    total = build.reduce("add", x, axes, keepdims=True)
    count = product(x.shape[a] for a in axes)
    return quantized(node, build.map(f"x0 / f32({count})", total), 3, node[0].element)


@onnx_op("QLinearAveragePool", domain=DOMAIN)
def average_pool(node: Node) -> Tensor:
    """The mean of each window, also of [N, …, C]."""
    node.only("auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides", "channels_last")
    x, build = dequantized(node, 0), node.build
    mean = in_channels_last(build, x, partial(_means, node)) if node.flag("channels_last", 0) else _means(node, x)
    return quantized(node, mean, 3, node[0].element)


def _means(node: Node, x: Tensor) -> Tensor:
    window, build = pooling_window(node, x), node.build
    total = build.pool("add", window.padded(build, x, "0"), window.kernel, window.strides, window.dilations)
    if node.flag("count_include_pad", 0):  # also what a last, partial window lacks, unlike AveragePool
        return build.map(f"x0 * {literal(1 / math.prod(window.kernel))}", total)
    return averaged(build, x, window, total, include_padding=False)


@onnx_op("QLinearConcat", domain=DOMAIN)
def concat(node: Node) -> Tensor:
    """Tensors of their own scales concatenated, in one scale."""
    node.only("axis")
    parts = [quantized(node, dequantized(node, at), 0, node[1].element) for at in range(2, len(node), 3)]
    return node.build.concat(parts, normalize_axis(node.attr("axis"), parts[0].rank))


@onnx_op("QLinearSoftmax", domain=DOMAIN)
def qlinear_softmax(node: Node) -> Tensor:
    """Softmax along an axis; before opset 13 over all dimensions from the axis on."""
    node.only("axis", "opset")
    x, build = dequantized(node, 0), node.build
    old = node.attr("opset") < 13
    axis = normalize_axis(node.attr("axis", -1), x.rank)
    y = softmax(build, x, list(range(axis, x.rank)) if old else [axis])
    return quantized(node, y, 3, node[0].element)
