"""Elementwise operators that depend on types or parameters: power, bit shift, shrink, clip, isinf. Source: ONNX 28."""

from __future__ import annotations

import numpy as np

from mlc.dialects.types import ITEMSIZE, bit_width, is_float, is_unsigned, numpy_dtype
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.casts import widened
from mlc.frontends.build.tensors import Tensor

POWERS = {2.0: "x0 * x0", 3.0: "x0 * x0 * x0", 0.5: "sqrt(x0)", 1.0: "x0", -1.0: "1 / x0", -0.5: "rsqrt(x0)"}


def power(build: Builder, base: Tensor, exponent: Tensor) -> Tensor:
    """base ** exponent in the element of ``base``, with broadcasting; known small exponents without ``pow``."""
    known = exponent.known if exponent.known is not None and exponent.known.dtype != object else None
    if known is not None and known.size == 1 and known.ndim == 0 and float(known) in POWERS and is_float(base.element):
        return build.formula(POWERS[float(known)], base)
    if base.element == exponent.element or _holds(base.element, exponent):
        return build.map("x0 ** x1", base, build.cast(exponent, base.element))
    return build.cast(build.map("f64(x0) ** f64(x1)", base, exponent), base.element)


def _holds(element: str, exponent: Tensor) -> bool:
    """Whether an exponent can be converted to ``element``.

    Then whole powers of whole numbers stay exact, and a large exponent stays odd or even as a float.
    """
    if not is_float(element):
        return not is_float(exponent.element)
    if exponent.known is not None and exponent.known.dtype != object:
        with np.errstate(over="ignore"):
            return bool((exponent.known.astype(numpy_dtype(element)).astype(np.float64) == exponent.known).all())
    return element == "f64" or ITEMSIZE[exponent.element] < ITEMSIZE[element]


def bit_shift(build: Builder, x: Tensor, amount: Tensor, left: bool) -> Tensor:
    """Integers ``x`` shifted. Only the sign stays of a shift by a negative number or by all bits and more."""
    most, signed = bit_width(x.element) - 1, not is_unsigned(x.element)
    inside = f"(x1 >= 0) & (x1 <= {most})" if signed else f"x1 <= {most}"
    shifted = f"x0 {'<<' if left else '>>'} (x1 & {most})"
    gone = f"x0 >> {most}" if signed and not left else "0"
    return build.map(f"where({inside}, {shifted}, {gone})", x, amount)


def shrink(build: Builder, x: Tensor, threshold: float, bias: float) -> Tensor:
    """``x`` moved towards 0 by ``bias``; 0 where |x| <= ``threshold``. Computed in floats, returned as ``x``'s
    element.
    """
    real = x if x.element[0] in "fb" else build.cast(x, "f64")
    at, by = literal(threshold), literal(bias)
    text = f"where(x0 < -{at}, x0 + {by}, where(x0 > {at}, x0 - {by}, 0))"
    return build.cast(build.formula(text, real), x.element)


def clip(build: Builder, x: Tensor, low: Tensor | None, high: Tensor | None) -> Tensor:
    """``x`` clamped to [low, high]."""
    if low is not None and high is not None:
        return build.map("clip(x0, x1, x2)", x, low, high)
    x = x if low is None else build.map("max(x0, x1)", x, low)
    return x if high is None else build.map("min(x0, x1)", x, high)


def is_inf(build: Builder, x: Tensor, positive: bool, negative: bool) -> Tensor:
    """i1: whether an element is infinite, with a sign that is asked for."""
    tests = {(True, True): "isinf(x0)", (True, False): "x0 == inf", (False, True): "x0 == -inf"}
    return build.map(tests.get((positive, negative), "(x0 == inf) & (x0 == -inf)"), widened(build, x))
