"""Reductions: sums, extremes, means, tests. Source: Array API 2025.12."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike, product
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert, formulas, is_complex
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops import reduction
from mlc.frontends.build.tensors import Tensor

Axis = int | tuple[int, ...] | None
EXTREMES = ("max", "min")


def axes_of(x: Array, axis: Axis) -> tuple[int, ...]:
    """Axes counted from the front, ascending; all of them for None.

    Raises:
        InputError: there is no such axis, or one is given twice.
    """
    given: Any = range(x.ndim) if axis is None else (axis,) if hasattr(axis, "__index__") else axis
    if not isinstance(given, Iterable) or any(isinstance(a, bool) or not hasattr(a, "__index__") for a in given):
        raise InputError(f"{axis!r} is no axis", hint="Give an integer, or a tuple of integers")
    if any(not -x.ndim <= a < x.ndim for a in given):
        hint = f"Axes are from {-x.ndim} to {x.ndim - 1}" if x.ndim else "Leave axis out"
        raise InputError(f"An array of shape {x.shape} has no axis {axis}", hint=hint)
    found = sorted(operator.index(a) % x.ndim for a in given)
    if len(set(found)) < len(found):
        raise InputError(f"Axes {axis} name one axis twice", hint="Give each axis once")
    return tuple(found)


def reduced_shape(x: Array, axes: Sequence[int], keepdims: bool) -> tuple[DimLike, ...]:
    return tuple(1 if n in axes else d for n, d in enumerate(x.shape) if keepdims or n not in axes)


def reduced(build: Builder, operands: Sequence[Tensor], fn: str, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    if fn in EXTREMES and operands[0].element != "i1":  # of booleans they are any and all
        refuse_empty(build, operands[0], axes)
    return reduction.reduce(build, fn, operands[0], reduction.Axes(axes, keepdims))


def refuse_empty(build: Builder, x: Tensor, axes: Sequence[int]) -> None:
    """Raise where a minimum or maximum would be taken over no elements."""
    for axis in axes:
        build.refuse_empty(x.shape[axis] - 1)


def reduce(fn: str, x: Array, axis: Axis, keepdims: bool) -> Array:
    axes = axes_of(x, axis)
    if is_complex(x) and fn == "sum":
        return formulas().by_parts(lambda part: reduce(fn, part, axes, keepdims), x)
    return apply(reduced, [x], (fn, axes, bool(keepdims)), x.element, reduced_shape(x, axes, keepdims))


def accumulated(x: Any, dtype: Any) -> Array:
    given = as_array(x)
    return convert(given, dtypes.accumulator(given.element) if dtype is None else dtypes.element(dtype))


def sum(
    x: Any, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Array:
    """Sums along ``axis`` of the elements ``where`` a mask holds, and of ``initial``; narrow integers in 64 bits."""
    found = reduce("sum", accumulated(masked(x, where, 0), dtype), axis, keepdims)
    return found if initial is None else found + initial_of(found, initial)


def initial_of(x: Array, initial: Any) -> Array:
    """The initial value of a reduction, in the type of its result."""
    return convert(as_array(initial), x.element)


def prod(
    x: Any, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Array:
    """Products along ``axis`` of the elements ``where`` a mask holds, and ``initial``; narrow integers in 64 bits."""
    given = accumulated(masked(x, where, 1), dtype)
    if is_complex(given):
        found = complex_products().product(given, axes_of(given, axis), keepdims)
    else:
        found = reduce("prod", given, axis, keepdims)
    return found if initial is None else found * initial_of(found, initial)


def max(x: Any, /, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, where: Any = None) -> Array:
    """The greatest elements along ``axis`` of those ``where`` a mask holds, and of ``initial``; NaN where one is."""
    return _extreme("max", "maximum", x, axis, keepdims, initial, where)


def min(x: Any, /, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, where: Any = None) -> Array:
    """The least elements along ``axis`` of those ``where`` a mask holds, and of ``initial``; NaN where one is."""
    return _extreme("min", "minimum", x, axis, keepdims, initial, where)


def _extreme(fn: str, both: str, x: Any, axis: Axis, keepdims: bool, initial: Any, mask: Any) -> Array:
    if mask is not None and initial is None:
        raise InputError(
            f"mlc.numpy.{fn} where a mask holds needs initial", hint="Give initial, which the extreme of nothing is"
        )
    given = as_array(x)
    if is_complex(given):
        raise InputError(f"Complex numbers have no {fn}imum: they have no order", hint="Use abs, real or imag")
    if initial is None:
        return reduce(fn, not_empty(given, axis), axis, keepdims)
    first = initial_of(given, initial)
    if any(given.shape[a] == 0 for a in axes_of(given, axis)):
        return constant_like(given, first, reduced_shape(given, axes_of(given, axis), keepdims))
    return FUNCTIONS[both](reduce(fn, masked(given, mask, first), axis, keepdims), first)


def masked(x: Any, mask: Any, value: Any) -> Any:
    """``x`` with ``value`` where a mask does not hold. InputError where the mask has more elements than ``x``."""
    if mask is None:
        return x
    found, given = FUNCTIONS["where"](mask, x, value), as_array(x)
    if found.shape != given.shape:
        what = f"A mask of shape {as_array(mask).shape} for elements of shape {given.shape}"
        raise InputError(f"{what} has more dimensions or elements than they have", hint="Broadcast the elements first")
    return found


def not_empty(x: Array, axis: Axis) -> Array:
    if any(x.shape[a] == 0 for a in axes_of(x, axis)):
        raise InputError(
            f"An array of shape {x.shape} has no extreme element along axis {axis}", hint="Give an array that has some"
        )
    return x


def mean(x: Any, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None) -> Array:
    """Means along ``axis``, of floats; of the elements ``where`` a mask holds."""
    given = floats_of(x, dtype)
    if where is not None:
        return sum(given, axis, keepdims=keepdims, where=where) / counted(given, axis, keepdims, where)
    return _divided(reduce("sum", given, axis, keepdims), _count(given, axis))


def counted(x: Array, axis: Axis, keepdims: bool, mask: Any) -> Array:
    """How many elements along ``axis`` a mask holds for, in the type of ``x``."""
    every = FUNCTIONS["logical_or"](FUNCTIONS["equal"](x, x), True)
    return convert(sum(every, axis, keepdims=keepdims, where=mask), x.element)


def floats_of(x: Any, dtype: Any = None) -> Array:
    """``x`` as an array of ``dtype``; without one whole numbers and booleans as floats."""
    given = as_array(x)
    if dtype is not None:
        return convert(given, dtypes.element(dtype))
    return given if dtypes.kind(given.element) >= 2 else convert(given, dtypes.FLOAT)


def _count(x: Array, axis: Axis) -> Any:
    return product(x.shape[a] for a in axes_of(x, axis))


def _divided(total: Array, count: Any) -> Array:
    if not isinstance(count, int | float):
        return FUNCTIONS["divide"](total, apply(extent, [], (total.element, count), total.element, ()))
    return FUNCTIONS["multiply"](total, 1 / count) if count > 0 else FUNCTIONS["multiply"](total, math.nan)


def extent(build: Builder, operands: Sequence[Tensor], element: str, count: DimLike) -> Tensor:
    """The value of a dimension as an array of rank 0."""
    return build.compute(f"{element}({count})", [], ())


def all(x: Any, /, axis: Axis = None, *, keepdims: bool = False, where: Any = None) -> Array:
    """Whether all elements along ``axis`` are true, of those ``where`` a mask holds."""
    return reduce("min", masked(convert(as_array(x), "i1"), where, True), axis, keepdims)


def any_(x: Any, /, axis: Axis = None, *, keepdims: bool = False, where: Any = None) -> Array:
    """Whether one element along ``axis`` is true, of those ``where`` a mask holds."""
    return reduce("max", masked(convert(as_array(x), "i1"), where, False), axis, keepdims)


def count_nonzero(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """How many elements along ``axis`` are not 0."""
    return sum(convert(as_array(x), "i1"), axis=axis, keepdims=keepdims)


def constant_like(x: Array, value: Any, shape: Sequence[DimLike]) -> Array:
    """``value`` everywhere, in the type of ``x``."""
    from mlc.frontends.array.functions.creation import full

    return full(shape, value, dtype=x.dtype)


def complex_products() -> Any:
    from mlc.frontends.array.complex import products

    return products


PUBLIC = (
    "all",
    "count_nonzero",
    "max",
    "mean",
    "min",
    "prod",
    "sum",
)
