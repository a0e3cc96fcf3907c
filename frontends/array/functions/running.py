"""Sums and products of the elements up to each one along an axis. Source: Array API 2025.12, NumPy 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import product
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions.elementwise import formulas, is_complex
from mlc.frontends.array.functions.reductions import accumulated, axes_of, complex_products, constant_like
from mlc.frontends.array.functions.shaping import concat, reshape
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.indexing.sorting import cumulative
from mlc.frontends.build.tensors import Tensor


def running(build: Builder, operands: Sequence[Tensor], fn: str, axis: int) -> Tensor:
    (x,) = operands
    rows = build.reshape(x, (product(x.shape[:axis]), x.shape[axis], product(x.shape[axis + 1 :])))
    return build.cast(build.reshape(cumulative(build, fn, rows), x.shape), x.element)


def _running(fn: str, x: Any, axis: int | None, dtype: Any, include_initial: bool) -> Array:
    given = accumulated(x, dtype)
    if axis is None and given.ndim != 1:
        what = f"A running sum of an array of shape {given.shape} without an axis is not defined"
        raise InputError(what, hint="Give axis")
    (at,) = axes_of(given, 0 if axis is None else axis)
    found = prefixes(fn, given, at)
    if not include_initial:
        return found
    first = [1 if n == at else d for n, d in enumerate(given.shape)]
    return concat([constant_like(given, int(fn == "mul"), first), found], axis=at)


def prefixes(fn: str, x: Array, axis: int) -> Array:
    if fn == "mul" and dtypes.kind(x.element) == 2 and (x.traced or x.is_varied()):
        from mlc.frontends.array.transforms.running_products import running_product

        return running_product(x, axis)
    if not is_complex(x):
        return apply(running, [x], (fn, axis), x.element, x.shape)
    if fn == "add":
        return formulas().by_parts(lambda part: prefixes(fn, part, axis), x)
    return complex_products().running_products(x, axis)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """The sums of the elements up to each one along ``axis``; a 0 before them with ``include_initial``."""
    return _running("add", x, axis, dtype, include_initial)


def cumsum(x: Any, /, axis: int | None = None, dtype: Any = None) -> Array:
    """``cumulative_sum``; of the flat array without ``axis``."""
    return _running("add", *_flat_without_axis(x, axis), dtype, False)


def cumprod(x: Any, /, axis: int | None = None, dtype: Any = None) -> Array:
    """``cumulative_prod``; of the flat array without ``axis``."""
    return _running("mul", *_flat_without_axis(x, axis), dtype, False)


def _flat_without_axis(x: Any, axis: int | None) -> tuple[Array, int]:
    return (reshape(as_array(x), (-1,)), 0) if axis is None else (as_array(x), axis)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """The products of the elements up to each one along ``axis``; a 1 before them with ``include_initial``."""
    return _running("mul", x, axis, dtype, include_initial)


PUBLIC = ("cumprod", "cumsum", "cumulative_prod", "cumulative_sum")
