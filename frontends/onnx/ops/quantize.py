"""Quantised operators: QuantizeLinear, DequantizeLinear, MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv."""

from __future__ import annotations

import numpy as np

from mlc.dialects.types import bit_width, is_float, is_unsigned
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.ops.cast import converted
from mlc.frontends.onnx.ops.contract import matrix_product
from mlc.frontends.onnx.ops.windows import Window
from mlc.frontends.onnx.tensors import Tensor, element_of_onnx


def _aligned(node: Node, x: Tensor, parameter: Tensor | None) -> Tensor | None:
    """A scale or zero point as it broadcasts to ``x``: one value, one an element of the axis, or one a block of it."""
    if parameter is None or parameter.rank == 0 or parameter.shape == (1,):
        return parameter if parameter is None else node.build.reshape(parameter, ())
    axis = normalise_axis(node.attr("axis", 1), x.rank)
    if parameter.rank == 1:
        return node.build.reshape(parameter, (*parameter.shape, *[1] * (x.rank - axis - 1)))
    block = node.attr("block_size", 0) or x.shape[axis] // parameter.shape[axis]
    names = [f"i{n}" for n in range(x.rank)]
    at = ", ".join(f"i{n} // {block}" if n == axis else a for n, a in enumerate(names))
    return node.build.compute(f"x0[{at}]", [parameter], x.shape)


def quantized(build: Builder, x: Tensor, scale: Tensor, zero: Tensor | None, element: str) -> Tensor:
    """round(x / scale) + zero, clamped to the range of ``element``."""
    if element[0] == "f":
        raise NotSupported(f"products quantised to {element}; quantise a product in f32 instead")
    bits = bit_width(element)
    low, high = (0, (1 << bits) - 1) if is_unsigned(element) else (-(1 << bits - 1), (1 << bits - 1) - 1)
    ratio = build.map(f"round(x0 / {'f32(x1)' if scale.element != x.element else 'x1'})", x, scale)
    shifted = ratio if zero is None or _is_zero(zero) else build.map(f"x0 + {x.element}(x1)", ratio, zero)
    return build.map(f"{element}(min(max(x0, {low}), {high}))", shifted)


def _to_float(build: Builder, x: Tensor, scale: Tensor, zero: Tensor | None, element: str, saturate: bool) -> Tensor:
    """x / scale + zero in f32, rounded to a narrow float."""
    ratio = build.map("x0 / x1", x, scale)
    shifted = ratio if zero is None or _is_zero(zero) else build.map("x0 + f32(x1)", ratio, zero)
    return converted(build, shifted, element, saturate)


def _is_zero(x: Tensor) -> bool:
    return x.known is not None and not x.known.astype(np.float32).any()


def _element(node: Node, zero: Tensor | None) -> str:
    given = node.attr("output_dtype", 0)
    element = zero.element if zero is not None else element_of_onnx(given) if given else "ui8"
    if is_float(element) or element == "f8e8m0":
        raise NotSupported(f"quantisation to {element}")
    return element


@onnx_op("QuantizeLinear", since=10)
def quantize_linear(node: Node) -> Tensor:
    x, build, element = node[0], node.build, _element(node, node.get(2))
    scale, zero = _aligned(node, x, node[1]), _aligned(node, x, node.get(2))
    assert scale is not None
    wide, scale = build.cast(x, "f32"), build.cast(scale, "f32")
    if element[0] == "f":
        return _to_float(build, wide, scale, zero, element, node.flag("saturate", 1))
    return quantized(build, wide, scale, zero, element)


@onnx_op("DequantizeLinear", since=10)
def dequantize_linear(node: Node) -> Tensor:
    x, build = node[0], node.build
    scale, zero = _aligned(node, x, node[1]), _aligned(node, x, node.get(2))
    assert scale is not None
    given = node.attr("output_dtype", 0)
    return build.cast(_centred(build, x, zero, scale), element_of_onnx(given) if given else scale.element)


def _data(build: Builder, x: Tensor) -> Tensor:
    """A matrix of bytes that is known is a weight: it is not computed with before the products are chosen."""
    return Tensor.of(build.value(x)) if x.element in ("i8", "ui8") and x.rank > 1 else x


def _centred(build: Builder, x: Tensor, zero: Tensor | None, scale: Tensor) -> Tensor:
    exact = "f32" if x.element[0] == "f" else "i32"
    wide = build.cast(_data(build, x), exact)
    wide = wide if zero is None or _is_zero(zero) else build.map(f"x0 - {exact}(x1)", wide, zero)
    return build.map("f32(x0) * x1", wide, build.cast(scale, "f32"))


def _shifted(build: Builder, x: Tensor, zero: Tensor | None) -> Tensor:
    """x - zero in 32 bits."""
    if x.element[0] == "f":
        raise NotSupported(f"products of quantised {x.element}; dequantise the operands, and quantise the product")
    x = _data(build, x)
    if zero is None or zero.rank == 0 and _is_zero(zero):
        return build.cast(x, "i32")
    return build.map("i32(x0) - i32(x1)", x, zero)


def _rows(build: Builder, zero: Tensor | None) -> Tensor | None:
    """A zero point a row of the left operand, as a column."""
    return zero if zero is None or zero.rank != 1 or zero.shape == (1,) else build.reshape(zero, (*zero.shape, 1))


@onnx_op("MatMulInteger", since=10)
def matmul_integer(node: Node) -> Tensor:
    build = node.build
    a, b = _shifted(build, node[0], _rows(build, node.get(2))), _shifted(build, node[1], node.get(3))
    return matrix_product(build, a, b)


@onnx_op("QLinearMatMul", since=10)
def qlinear_matmul(node: Node) -> Tensor:
    build = node.build
    a, b = _shifted(build, node[0], _rows(build, node[2])), _shifted(build, node[3], node[5])
    scale = build.map("f32(x0) * f32(x1)", _rows(build, node[1]) or node[1], node[4])
    return _requantized(build, matrix_product(build, a, b), scale, node[6], node[7])


def _requantized(build: Builder, total: Tensor, scale: Tensor, out_scale: Tensor, out_zero: Tensor) -> Tensor:
    out = build.reshape(out_scale, ()) if out_scale.shape == (1,) else out_scale
    zero = build.reshape(out_zero, ()) if out_zero.shape == (1,) else out_zero
    ratio = build.map("x0 / f32(x1)", scale, out)
    scaled = build.map("f32(x0) * x1", total, ratio)
    return quantized(build, scaled, build.constant(1, "f32"), zero, zero.element)


def _filters(build: Builder, x: Tensor | None, rank: int) -> Tensor | None:
    """A parameter a filter of the weight [F, C, K…]."""
    return x if x is None or x.rank == 0 or x.shape == (1,) else build.reshape(x, (*x.shape, *[1] * (rank - 1)))


@onnx_op("ConvInteger", since=10)
def conv_integer(node: Node) -> Tensor:
    return _integer_conv(node, node[0], node[1], node.get(2), node.get(3))


def _integer_conv(node: Node, x: Tensor, w: Tensor, x_zero: Tensor | None, w_zero: Tensor | None) -> Tensor:
    build = node.build
    window = Window.of(node, x.shape[2:], w.shape[2:])
    centred = _shifted(build, x, None if x_zero is None else build.reshape(x_zero, ()))
    weights = _shifted(build, w, _filters(build, w_zero, w.rank))
    return build.conv(
        window.padded(build, centred, "0"), weights, window.strides, window.dilations, node.attr("group", 1)
    )


@onnx_op("QLinearConv", since=10)
def qlinear_conv(node: Node) -> Tensor:
    build, bias = node.build, node.get(8)
    total = _integer_conv(node, node[0], node[3], node[2], node[5])
    if bias is not None:
        total = build.map("x0 + x1", total, build.reshape(bias, (*bias.shape, *[1] * (total.rank - 2))))
    scale = build.map("x0 * x1", build.reshape(node[1], ()), _filters(build, node[4], total.rank - 1) or node[4])
    return _requantized(build, total, scale, node[6], node[7])
