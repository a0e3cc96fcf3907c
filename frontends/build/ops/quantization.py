"""Affine quantization: quantize, dequantize, and products of quantized integers. Source: ONNX QuantizeLinear 25.

A quantized element q represents (q - zero) · scale. Scale and zero point broadcast to the tensor (``per_axis``).
"""

from __future__ import annotations

import numpy as np

from mlc.dialects.types import bit_width, is_unsigned
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops import casts
from mlc.frontends.build.ops.contraction import matmul
from mlc.frontends.build.ops.convolution.windows import Window
from mlc.frontends.build.tensors import Tensor


def per_axis(build: Builder, x: Tensor, parameter: Tensor, axis: int, block: int = 0) -> Tensor:
    """A scale or zero point reshaped so that it broadcasts to ``x``. It has one element, one for each index of an axis,
    or one for each block.

    ``block``: elements of a block; 0 where the shapes of ``x`` and ``parameter`` say how many.
    """
    if parameter.rank == 0 or parameter.shape == (1,):
        return build.reshape(parameter, ())
    if parameter.rank == 1:
        return build.reshape(parameter, (*parameter.shape, *[1] * (x.rank - axis - 1)))
    size = block or x.shape[axis] // parameter.shape[axis]
    names = [f"i{n}" for n in range(x.rank)]
    at = ", ".join(f"i{n} // {size}" if n == axis else a for n, a in enumerate(names))
    return build.compute(f"x0[{at}]", [parameter], x.shape)


def quantize_linear(
    build: Builder, x: Tensor, scale: Tensor, zero: Tensor | None, element: str, saturate: bool = True
) -> Tensor:
    """``x`` quantized to ``element``, an integer or a float of 8 bits. The computation is in f32."""
    wide, scale = build.cast(x, "f32"), build.cast(scale, "f32")
    if element[0] != "f":
        return quantize(build, wide, scale, zero, element)
    ratio = build.map("x0 / x1", wide, scale)
    shifted = ratio if zero is None or _is_zero(zero) else build.map("x0 + f32(x1)", ratio, zero)
    return casts.cast(build, shifted, element, saturate)


def quantize(build: Builder, x: Tensor, scale: Tensor, zero: Tensor | None, element: str) -> Tensor:
    """round(x / scale) + zero, clamped to the range of ``element``, an integer."""
    if element[0] == "f":
        raise NotSupported(f"products quantised to {element}; quantise a product in f32 instead")
    bits = bit_width(element)
    low, high = (0, (1 << bits) - 1) if is_unsigned(element) else (-(1 << bits - 1), (1 << bits - 1) - 1)
    ratio = build.map(f"round(x0 / {'f32(x1)' if scale.element != x.element else 'x1'})", x, scale)
    shifted = ratio if zero is None or _is_zero(zero) else build.map(f"x0 + {x.element}(x1)", ratio, zero)
    return build.map(f"{element}(min(max(x0, {low}), {high}))", shifted)


def _is_zero(x: Tensor) -> bool:
    return x.known is not None and not x.known.astype(np.float32).any()


def dequantize_linear(build: Builder, x: Tensor, scale: Tensor, zero: Tensor | None) -> Tensor:
    """(x - zero) · scale in f32."""
    exact = "f32" if x.element[0] == "f" else "i32"
    wide = build.cast(_as_weight(build, x), exact)
    wide = wide if zero is None or _is_zero(zero) else build.map(f"x0 - {exact}(x1)", wide, zero)
    return build.map("f32(x0) * x1", wide, build.cast(scale, "f32"))


def _as_weight(build: Builder, x: Tensor) -> Tensor:
    """Make a known matrix of bytes a weight, such that nothing folds it before the products are chosen."""
    return Tensor.of(build.value(x)) if x.element in ("i8", "ui8") and x.rank > 1 else x


def centred(build: Builder, x: Tensor, zero: Tensor | None) -> Tensor:
    """x - zero in i32."""
    if x.element[0] == "f":
        raise NotSupported(f"products of quantised {x.element}; dequantise the operands, and quantise the product")
    x = _as_weight(build, x)
    if zero is None or zero.rank == 0 and _is_zero(zero):
        return build.cast(x, "i32")
    return build.map("i32(x0) - i32(x1)", x, zero)


def per_row(build: Builder, parameter: Tensor) -> Tensor:
    """A scale or zero point for each row of a left operand, as a column. One with a single element stays unchanged."""
    one = parameter.rank != 1 or parameter.shape == (1,)
    return parameter if one else build.reshape(parameter, (*parameter.shape, 1))


def per_filter(build: Builder, parameter: Tensor, rank: int) -> Tensor:
    """A scale or zero point for each filter (the first of ``rank`` dimensions). One with a single element stays
    unchanged.
    """
    one = parameter.rank == 0 or parameter.shape == (1,)
    return parameter if one else build.reshape(parameter, (*parameter.shape, *[1] * (rank - 1)))


def integer_matmul(build: Builder, a: Tensor, b: Tensor, a_zero: Tensor | None, b_zero: Tensor | None) -> Tensor:
    """(a - a_zero) (b - b_zero) in i32; zero points are one element, one a row of ``a``, one a column of ``b``."""
    a_zero = None if a_zero is None else per_row(build, a_zero)
    return matmul(build, centred(build, a, a_zero), centred(build, b, b_zero))


def integer_conv(
    build: Builder, x: Tensor, w: Tensor, zeros: tuple[Tensor | None, Tensor | None], window: Window, groups: int
) -> Tensor:
    """The convolution of x - zero by w - zero in i32; zero points of one element, and of one or one a filter."""
    x_zero, w_zero = zeros
    left = centred(build, x, None if x_zero is None else build.reshape(x_zero, ()))
    right = centred(build, w, None if w_zero is None else per_filter(build, w_zero, w.rank))
    return build.conv(window.padded(build, left, "0"), right, window.strides, window.dilations, groups)


def dynamic_range(build: Builder, x: Tensor) -> tuple[Tensor, Tensor]:
    """(scale, zero point) by which the range of ``x``, with 0 in it, is that of ui8 (ONNX DynamicQuantizeLinear)."""
    axes = list(range(x.rank))
    low, high = (build.map(f"{fn}(x0, 0)", build.reduce(fn, x, axes)) for fn in ("min", "max"))
    scale = build.map("where(x1 == x0, 1, (x1 - x0) / 255)", low, high)
    return scale, build.map("ui8(min(max(round(-x0 / x1), 0), 255))", low, scale)


def dynamic_matmul(
    build: Builder, a: Tensor, b: Tensor, b_scale: Tensor, b_zero: Tensor | None, seen: Tensor | None = None
) -> Tensor:
    """``a``, quantized by its own range, times ``b`` of 8 bits, in f32; one scale, or one a column of ``b``.

    ``seen``: the elements of whose range it is, where these are not all of ``a``.
    """
    scale, zero = dynamic_range(build, a if seen is None else seen)
    total = integer_matmul(build, quantize(build, a, scale, zero, "ui8"), b, zero, b_zero)
    return build.map("f32(x0) * x1", total, build.map("x0 * x1", scale, b_scale))


def requantize(build: Builder, total: Tensor, scale: Tensor, out_scale: Tensor, out_zero: Tensor) -> Tensor:
    """A product in i32 of operands whose scales multiply to ``scale``, quantized as ``out_zero`` is."""
    out = build.reshape(out_scale, ()) if out_scale.shape == (1,) else out_scale
    zero = build.reshape(out_zero, ()) if out_zero.shape == (1,) else out_zero
    ratio = build.map("x0 / f32(x1)", scale, out)
    scaled = build.map("f32(x0) * x1", total, ratio)
    return quantize(build, scaled, build.constant(1, "f32"), zero, zero.element)
