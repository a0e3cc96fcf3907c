"""Variances and standard deviations. Source: Array API 2025.12, NumPy 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, apply
from mlc.frontends.array.functions.elementwise import FUNCTIONS, is_complex
from mlc.frontends.array.functions.reductions import Axis, axes_of, counted, floats_of, masked, reduced_shape, sum
from mlc.frontends.array.functions.reductions import mean as mean_of
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.linalg import norms
from mlc.frontends.build.tensors import Tensor


def var(
    x: Any,
    /,
    axis: Axis = None,
    dtype: Any = None,
    *,
    ddof: float = 0.0,
    correction: float = 0.0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Array:
    """Variances along ``axis``: squared distances from the mean, their sum divided by the count less ``correction``,
    which NumPy calls ``ddof``, or by 0 where that is more than the count; real, of complex numbers too.

    Of the elements ``where`` a mask holds; ``mean`` is that of ``x`` with ``keepdims``, where it is known.

    Raises:
        InputError: ``dtype`` is no type of floats.
    """
    given = floats_of(x, dtype)
    if dtypes.kind(given.element) < 2:
        raise InputError(f"Variances and standard deviations cannot be {given.dtype}", hint="Give a dtype of floats")
    axes, correction = axes_of(given, axis), float(correction + ddof)
    if where is not None or mean is not None:
        return _about(given, mean, axes, correction, keepdims, where)
    if is_complex(given):
        re, im = (
            var(FUNCTIONS[part](given), axes, correction=correction, keepdims=keepdims) for part in ("real", "imag")
        )
        return re + im
    params = (axes, correction, bool(keepdims))
    return apply(varied, [given], params, given.element, reduced_shape(given, axes, keepdims))


def std(
    x: Any,
    /,
    axis: Axis = None,
    dtype: Any = None,
    *,
    ddof: float = 0.0,
    correction: float = 0.0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Array:
    """Standard deviations: square roots of ``var``."""
    found = var(x, axis, dtype, ddof=ddof, correction=correction, keepdims=keepdims, where=where, mean=mean)
    return FUNCTIONS["sqrt"](found)


def _about(x: Array, middle: Any, axes: tuple[int, ...], correction: float, keepdims: bool, mask: Any) -> Array:
    """The variance about a mean, which may be given, of the elements that a mask holds for, which may be none."""
    middle = mean_of(x, axes, keepdims=True, where=mask) if middle is None else middle
    distance = masked(FUNCTIONS["subtract"](x, middle), mask, 0)
    square = FUNCTIONS["real"](distance * FUNCTIONS["conj"](distance)) if is_complex(x) else distance * distance
    count = counted(square, axes, keepdims, mask) - correction
    return sum(square, axes, keepdims=keepdims) / FUNCTIONS["maximum"](count, 0)


def varied(build: Builder, xs: Sequence[Tensor], axes: tuple[int, ...], correction: float, keepdims: bool) -> Tensor:
    (x,) = xs
    spread = build.cast(norms.variance(build, x, axes, correction)[1], x.element)
    return spread if keepdims else build.reshape(spread, [d for n, d in enumerate(x.shape) if n not in axes])


PUBLIC = ("std", "var")
