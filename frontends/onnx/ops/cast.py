"""Casts: Cast, CastLike, BitCast, and saturation before a cast to a narrow float."""

from __future__ import annotations

from onnx import TensorProto

from mlc.dialects.types import TEXT, bit_width, is_narrow, numpy_dtype
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.text import from_text, to_text
from mlc.frontends.onnx.tensors import Tensor, element_of_onnx

# What is added to the bits of f32 before those of its mantissa are cut off, to round to a power of two; and the
# condition on which a number goes to 2 ** -127: it is subnormal in f32, so that cutting would not round to it.
ROUNDINGS = {"up": (0x7FFFFF, "x0 <= 1 * "), "down": (0, "x0 < 2 * "), "nearest": (0x400000, "x0 < 1.5 * ")}
LEAST, LARGEST = 2.0**-127, 2.0**127


def converted(build: Builder, x: Tensor, element: str, saturate: bool = True, round_mode: str = "up") -> Tensor:
    """``x`` as ``element`` by the rules of Cast 25; ``saturate`` and ``round_mode`` concern floats of 8 bits."""
    if x.element == TEXT:
        return from_text(build, x, element)
    if element == TEXT:
        return to_text(build, x)
    if element == x.element or element[:2] != "f8":
        return build.cast(x, element)
    wide = build.cast(x, "f32")
    if element == "f8e8m0":
        return build.cast(_power_of_two(build, wide, saturate, round_mode), element)
    return build.cast(_clamped(build, wide, element) if saturate else wide, element)


def _clamped(build: Builder, x: Tensor, element: str) -> Tensor:
    """Within the finite range of a narrow float; NaN stays."""
    import ml_dtypes  # comes with onnx

    largest = float(ml_dtypes.finfo(numpy_dtype(element)).max)
    return build.map(f"min(max(x0, {-largest}), {largest})", x)


def _power_of_two(build: Builder, x: Tensor, saturate: bool, round_mode: str) -> Tensor:
    """A power of two that f8e8m0 has, or NaN. Zero and negative numbers saturate to the smallest one."""
    if round_mode not in ROUNDINGS:
        raise NotSupported(f"round_mode '{round_mode}'")
    increment, lowest = ROUNDINGS[round_mode]
    inside = f"({LEAST!r} <= x0) & (x0 <= {LARGEST!r})"
    if saturate:
        x = build.map(f"min(max(x0, {LEAST!r}), {LARGEST!r})", x)
    else:
        x = build.map(f"where({inside}, x0, f32(nan))", x)
    rounded = f"as_f32((as_i32(x0) + {increment}) & {0x7F800000})"
    return build.map(f"where(isnan(x0), x0, where({lowest}{LEAST!r}, {LEAST!r}, {rounded}))", x)


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
    return converted(node.build, node[0], element, saturate, round_mode)


@onnx_op("BitCast", since=26)
def bit_cast(node: Node) -> Tensor:
    """The same bits; those of a predicate are the byte it lies in."""
    x, build, element = node[0], node.build, element_of_onnx(node.attr("to"))
    x = build.cast(x, "ui8") if x.element == "i1" else x
    target = "ui8" if element == "i1" else element
    if bit_width(x.element) != bit_width(target):
        raise NotSupported(f"{bit_width(x.element)} bits of {x.element} as the {bit_width(target)} of {target}")
    same = x if x.element == target else build.map(f"as_{target}(x0)", x)
    return build.cast(same, element)


@onnx_op("IsNaN", since=20)
def is_nan(node: Node) -> Tensor:
    return node.build.map("isnan(x0)", computable(node.build, node[0]))


def computable(build: Builder, x: Tensor) -> Tensor:
    """``x``, or the value of a narrow float as f32, which holds all of them."""
    return build.cast(x, "f32") if is_narrow(x.element) else x
