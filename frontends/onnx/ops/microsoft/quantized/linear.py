"""com.microsoft: QuantizeLinear, DequantizeLinear, QLinearConv, NhwcMaxPool, QLinearWhere, MatMulInteger16."""

from __future__ import annotations

from mlc.frontends.build.ops import quantization
from mlc.frontends.build.ops.contraction import matmul
from mlc.frontends.build.ops.convolution import pooling
from mlc.frontends.build.ops.quantization import integer_conv, per_filter, requantize
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.math import quantize as core
from mlc.frontends.onnx.ops.core.nn.pool import pooling_window
from mlc.frontends.onnx.ops.core.nn.windows import window_of
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.microsoft.quantized.elementwise import dequantized, in_channels_last, quantized

WINDOW = ("auto_pad", "dilations", "kernel_shape", "pads", "strides")


@onnx_op("QuantizeLinear", domain=DOMAIN)
def quantize_linear(node: Node) -> Tensor:
    """To 4, 8 or 16 bits, as the zero point is; ui8 without one. A scale of several elements is that of an axis."""
    node.only("axis")
    return core.quantize_linear(node)


@onnx_op("DequantizeLinear", domain=DOMAIN)
def dequantize_linear(node: Node) -> Tensor:
    """From 4, 8, 16 or 32 bits."""
    node.only("axis")
    return core.dequantize_linear(node)


@onnx_op("QLinearConv", domain=DOMAIN)
def qlinear_conv(node: Node) -> Tensor:
    """A convolution of 8-bit integers with a weight [F, C / groups, …], also of [N, …, C]."""
    node.only(*WINDOW, "group", "channels_last")
    last = node.flag("channels_last", 0)
    return in_channels_last(node.build, node[0], lambda x: _conv(node, x)) if last else _conv(node, node[0])


def _conv(node: Node, x: Tensor) -> Tensor:
    build, w, bias = node.build, node[3], node.get(8)
    window = window_of(node, x.shape[2:], w.shape[2:])
    total = integer_conv(build, x, w, (node[2], node[5]), window, node.attr("group", 1))
    if bias is not None:
        total = build.map("x0 + x1", total, build.reshape(bias, (*bias.shape, *[1] * (total.rank - 2))))
    scale = build.map("x0 * x1", build.reshape(node[1], ()), per_filter(build, node[4], total.rank - 1))
    return requantize(build, total, scale, node[6], node[7])


@onnx_op("NhwcMaxPool", domain=DOMAIN)
def nhwc_max_pool(node: Node) -> Tensor:
    """The maximum of each window of [N, …, C]."""
    node.only(*WINDOW, "ceil_mode")
    build = node.build
    return in_channels_last(build, node[0], lambda x: pooling.max_pool(build, x, pooling_window(node, x)))


@onnx_op("QLinearWhere", domain=DOMAIN)
def qlinear_where(node: Node) -> Tensor:
    """The elements of the second or of the third operand, in a scale of their own."""
    node.only()
    a, b = dequantized(node, 1), dequantized(node, 4)
    return quantized(node, node.build.map("where(x0, x1, x2)", node[0], a, b), 7, node[1].element)


@onnx_op("MatMulInteger16", domain=DOMAIN)
def matmul_integer_16(node: Node) -> Tensor:
    """A product of 16-bit integers in 32 bits."""
    node.only()
    a, b = (quantization.centred(node.build, node[n], None) for n in range(2))
    return matmul(node.build, a, b)
