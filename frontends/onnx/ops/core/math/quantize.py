"""QuantizeLinear, DequantizeLinear, MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv."""

from __future__ import annotations

from mlc.dialects.types import is_float
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops import quantization
from mlc.frontends.build.ops.contraction import matmul
from mlc.frontends.build.ops.quantization import centred, integer_conv, integer_matmul, per_filter, per_row, requantize
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.nn.windows import window_of
from mlc.frontends.onnx.reading.types import element_of_onnx


def _parameter(node: Node, n: int) -> Tensor | None:
    """The scale or zero point of input ``n`` as it broadcasts to input 0."""
    parameter = node.get(n)
    if parameter is None:
        return None
    many = parameter.rank > 0 and parameter.shape != (1,)
    axis = normalize_axis(node.attr("axis", 1), node[0].rank) if many else 0
    return quantization.per_axis(node.build, node[0], parameter, axis, node.attr("block_size", 0))


def _element(node: Node, zero: Tensor | None) -> str:
    given = node.attr("output_dtype", 0)
    element = zero.element if zero is not None else element_of_onnx(given) if given else "ui8"
    if is_float(element) or element == "f8e8m0":
        raise NotSupported(f"quantisation to {element}")
    return element


@onnx_op("QuantizeLinear", since=10)
def quantize_linear(node: Node) -> Tensor:
    element = _element(node, node.get(2))
    scale, zero = _parameter(node, 1), _parameter(node, 2)
    assert scale is not None
    saturate = element[0] != "f" or node.flag("saturate", 1)
    return quantization.quantize_linear(node.build, node[0], scale, zero, element, saturate)


@onnx_op("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(node: Node) -> tuple[Tensor, Tensor, Tensor]:
    """(ui8, scale, zero point); as in onnxruntime the scale of zeros, and of nothing, is 1."""
    build, x = node.build, node[0]
    scale, zero = quantization.dynamic_range(build, x)
    return quantization.quantize_linear(build, x, scale, zero, "ui8", True), scale, zero


@onnx_op("DequantizeLinear", since=10)
def dequantize_linear(node: Node) -> Tensor:
    scale, zero, given = _parameter(node, 1), _parameter(node, 2), node.attr("output_dtype", 0)
    assert scale is not None
    y = quantization.dequantize_linear(node.build, node[0], scale, zero)
    return node.build.cast(y, element_of_onnx(given) if given else scale.element)


@onnx_op("MatMulInteger", since=10)
def matmul_integer(node: Node) -> Tensor:
    return integer_matmul(node.build, node[0], node[1], node.get(2), node.get(3))


@onnx_op("QLinearMatMul", since=10)
def qlinear_matmul(node: Node) -> Tensor:
    build = node.build
    a, b = centred(build, node[0], per_row(build, node[2])), centred(build, node[3], node[5])
    scale = build.map("f32(x0) * f32(x1)", per_row(build, node[1]), node[4])
    return requantize(build, matmul(build, a, b), scale, node[6], node[7])


@onnx_op("ConvInteger", since=10)
def conv_integer(node: Node) -> Tensor:
    return _conv(node, node[0], node[1], node.get(2), node.get(3))


def _conv(node: Node, x: Tensor, w: Tensor, x_zero: Tensor | None, w_zero: Tensor | None) -> Tensor:
    window = window_of(node, x.shape[2:], w.shape[2:])
    return integer_conv(node.build, x, w, (x_zero, w_zero), window, node.attr("group", 1))


@onnx_op("QLinearConv", since=10)
def qlinear_conv(node: Node) -> Tensor:
    build, bias = node.build, node.get(8)
    total = _conv(node, node[0], node[3], node[2], node[5])
    if bias is not None:
        total = build.map("x0 + x1", total, build.reshape(bias, (*bias.shape, *[1] * (total.rank - 2))))
    scale = build.map("x0 * x1", build.reshape(node[1], ()), per_filter(build, node[4], total.rank - 1))
    return requantize(build, total, scale, node[6], node[7])
