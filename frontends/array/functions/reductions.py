"""Reductions: sums, extremes, means, positions, tests, prefix sums. Source: Array API 2025.12."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike, product
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert, formulas, is_complex
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops import reduction
from mlc.frontends.build.ops.indexing.sorting import cumulative
from mlc.frontends.build.ops.linalg import norms
from mlc.frontends.build.tensors import Tensor

Axis = int | tuple[int, ...] | None
EXTREMES = ("max", "min")


def axes_of(x: Array, axis: Axis) -> tuple[int, ...]:
    """Axes counted from the front, ascending; all of them for None.

    Raises:
        InputError: there is no such axis, or one is given twice.
    """
    given = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    if not isinstance(given, Iterable) or any(not isinstance(a, int) for a in given):
        raise InputError(f"Axis {axis!r}", hint="Give an integer, or a tuple of integers")
    if any(not -x.ndim <= a < x.ndim for a in given):
        raise InputError(f"Axis {axis} of an array of shape {x.shape}", hint=f"Axes are from {-x.ndim} to {x.ndim - 1}")
    found = sorted(a % x.ndim for a in given)
    if len(set(found)) < len(found):
        raise InputError(f"Axes {axis} name one axis twice")
    return tuple(found)


def reduced_shape(x: Array, axes: Sequence[int], keepdims: bool) -> tuple[DimLike, ...]:
    return tuple(1 if n in axes else d for n, d in enumerate(x.shape) if keepdims or n not in axes)


def reduced(build: Builder, operands: Sequence[Tensor], fn: str, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    if fn in EXTREMES and operands[0].element != "i1":  # of booleans they are any and all
        _refuse_empty(build, operands[0], axes)
    return reduction.reduce(build, fn, operands[0], reduction.Axes(axes, keepdims))


def _refuse_empty(build: Builder, x: Tensor, axes: Sequence[int]) -> None:
    """No number is the greatest of none."""
    for axis in axes:
        build.refuse_empty(x.shape[axis] - 1)


def reduce(fn: str, x: Array, axis: Axis, keepdims: bool) -> Array:
    axes = axes_of(x, axis)
    if is_complex(x) and fn == "sum":
        return formulas().by_parts(lambda part: reduce(fn, part, axes, keepdims), x)
    return apply(reduced, [x], (fn, axes, bool(keepdims)), x.element, reduced_shape(x, axes, keepdims))


def _accumulated(x: Any, dtype: Any) -> Array:
    given = as_array(x)
    return convert(given, dtypes.accumulator(given.element) if dtype is None else dtypes.element(dtype))


def sum(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Sums along ``axis``; narrow integers are summed in 64 bits."""
    return reduce("sum", _accumulated(x, dtype), axis, keepdims)


def prod(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Products along ``axis``; narrow integers are multiplied in 64 bits."""
    given = _accumulated(x, dtype)
    if is_complex(given):
        return _complex_products().product(given, axes_of(given, axis), keepdims)
    return reduce("prod", given, axis, keepdims)


def max(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The greatest elements along ``axis``; NaN where one is."""
    return reduce("max", _not_empty(as_array(x), axis), axis, keepdims)


def min(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The least elements along ``axis``; NaN where one is."""
    return reduce("min", _not_empty(as_array(x), axis), axis, keepdims)


def _not_empty(x: Array, axis: Axis) -> Array:
    if any(x.shape[a] == 0 for a in axes_of(x, axis)):
        raise InputError(f"An array of shape {x.shape} has no extreme element along axis {axis}")
    return x


def mean(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Means along ``axis``, of floats."""
    given = _real(x)
    return _divided(reduce("sum", given, axis, keepdims), _count(given, axis))


def var(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Variances along ``axis``: squared distances from the mean, their sum divided by the count less ``correction``, or
    by 0 where that is more than the count."""
    given = _real(x)
    axes = axes_of(given, axis)
    params = (axes, float(correction), bool(keepdims))
    return apply(varied, [given], params, given.element, reduced_shape(given, axes, keepdims))


def std(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Standard deviations: square roots of ``var``."""
    return FUNCTIONS["sqrt"](var(x, axis=axis, correction=correction, keepdims=keepdims))


def varied(build: Builder, xs: Sequence[Tensor], axes: tuple[int, ...], correction: float, keepdims: bool) -> Tensor:
    (x,) = xs
    spread = build.cast(norms.variance(build, x, axes, correction)[1], x.element)
    return spread if keepdims else build.reshape(spread, [d for n, d in enumerate(x.shape) if n not in axes])


def _real(x: Any) -> Array:
    given = as_array(x)
    return given if dtypes.kind(given.element) >= 2 else convert(given, dtypes.FLOAT)


def _count(x: Array, axis: Axis) -> Any:
    return product(x.shape[a] for a in axes_of(x, axis))


def _divided(total: Array, count: Any) -> Array:
    if not isinstance(count, int | float):
        return FUNCTIONS["divide"](total, apply(extent, [], (total.element, count), total.element, ()))
    return FUNCTIONS["multiply"](total, 1 / count) if count > 0 else FUNCTIONS["multiply"](total, math.nan)


def extent(build: Builder, operands: Sequence[Tensor], element: str, count: DimLike) -> Tensor:
    """A dimension as an array of rank 0."""
    return build.compute(f"{element}({count})", [], ())


def all(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether all elements along ``axis`` are true."""
    return reduce("min", convert(as_array(x), "i1"), axis, keepdims)


def any_(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether one element along ``axis`` is true."""
    return reduce("max", convert(as_array(x), "i1"), axis, keepdims)


def count_nonzero(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """How many elements along ``axis`` are not 0."""
    return sum(convert(as_array(x), "i1"), axis=axis, keepdims=keepdims)


def position(build: Builder, operands: Sequence[Tensor], fn: str, axis: int) -> Tensor:
    _refuse_empty(build, operands[0], [axis])
    return reduction.arg_extreme(build, fn, operands[0], axis)


def _position(fn: str, x: Any, axis: int | None, keepdims: bool) -> Array:
    from mlc.frontends.array.functions.shaping import reshape

    given = as_array(x)
    flat = reshape(given, (-1,)) if axis is None else given
    (at,) = axes_of(_not_empty(flat, axis), 0 if axis is None else axis)
    found = apply(position, [flat], (fn, at), "i64", reduced_shape(flat, (at,), False))
    return reshape(found, reduced_shape(given, axes_of(given, axis), keepdims)) if keepdims else found


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The index of the greatest element along ``axis``, the first of several, of NaN where there is one; int64."""
    return _position("max", x, axis, keepdims)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The index of the least element along ``axis``, the first of several, of NaN where there is one; int64."""
    return _position("min", x, axis, keepdims)


def running(build: Builder, operands: Sequence[Tensor], fn: str, axis: int) -> Tensor:
    (x,) = operands
    rows = build.reshape(x, (product(x.shape[:axis]), x.shape[axis], product(x.shape[axis + 1 :])))
    return build.cast(build.reshape(cumulative(build, fn, rows), x.shape), x.element)


def _running(fn: str, x: Any, axis: int | None, dtype: Any, include_initial: bool) -> Array:
    from mlc.frontends.array.functions.shaping import concat

    given = _accumulated(x, dtype)
    if axis is None and given.ndim != 1:
        raise InputError(f"A running sum of an array of shape {given.shape} without an axis", hint="Give axis")
    (at,) = axes_of(given, 0 if axis is None else axis)
    found = _prefixes(fn, given, at)
    if not include_initial:
        return found
    first = [1 if n == at else d for n, d in enumerate(given.shape)]
    return concat([constant_like(given, int(fn == "mul"), first), found], axis=at)


def constant_like(x: Array, value: int, shape: Sequence[DimLike]) -> Array:
    """``value`` everywhere, in the type of ``x``."""
    from mlc.frontends.array.functions.creation import full

    return full(shape, value, dtype=x.dtype)


def _prefixes(fn: str, x: Array, axis: int) -> Array:
    if not is_complex(x):
        return apply(running, [x], (fn, axis), x.element, x.shape)
    if fn == "add":
        return formulas().by_parts(lambda part: _prefixes(fn, part, axis), x)
    return _complex_products().running_products(x, axis)


def _complex_products() -> Any:
    from mlc.frontends.array.complex import products

    return products


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """The sums of the elements up to each one along ``axis``; a 0 before them with ``include_initial``."""
    return _running("add", x, axis, dtype, include_initial)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """The products of the elements up to each one along ``axis``; a 1 before them with ``include_initial``."""
    return _running("mul", x, axis, dtype, include_initial)


PUBLIC = (
    "all",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
)
