"""Running sums, products and extremes, and the greatest elements. Source: ``jax.lax``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions import running
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert
from mlc.frontends.array.functions.shaping import flip, moveaxis
from mlc.frontends.array.functions.sorting import ordering
from mlc.frontends.array.selecting.taking import take_along_axis
from mlc.frontends.array.transforms.scans import associative_scan


def _scanned(name: str, function: str) -> Callable[..., Array]:
    def cumulative(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
        found: Array = associative_scan(FUNCTIONS[function], as_array(operand), reverse, axis)
        return found

    cumulative.__name__ = cumulative.__qualname__ = name
    cumulative.__doc__ = f"``{function}`` of the elements up to each one along ``axis``; from the end for ``reverse``."
    return cumulative


cummax, cummin = _scanned("cummax", "maximum"), _scanned("cummin", "minimum")
cumlogsumexp = _scanned("cumlogsumexp", "logaddexp")


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """The sums of the elements up to each one along ``axis``, in the operand's type."""
    return _directed(running.cumsum, as_array(operand), axis, reverse)


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """The products of the elements up to each one along ``axis``, in the operand's type."""
    return _directed(running.cumprod, as_array(operand), axis, reverse)


def _directed(f: Callable[..., Array], x: Array, axis: int, reverse: bool) -> Array:
    given = flip(x, axis=axis) if reverse else x
    found = f(given, axis=axis, dtype=x.dtype)
    return flip(found, axis=axis) if reverse else found


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Array, Array]:
    """The ``k`` greatest elements along an axis, the greatest first, and their indices (int32); the first of equal ones
    comes first.

    Raises:
        InputError: ``k`` is over the extent.
    """
    x = moveaxis(as_array(operand), axis, -1)
    extent = x.shape[-1]
    if k < 0 or isinstance(extent, int) and k > extent:
        raise InputError(f"There are no {k} greatest elements of {extent}", hint="Give k of at most the extent")
    positions = apply(ordering, [x], (True,), "i64", x.shape)[..., :k]
    values = take_along_axis(x, positions, axis=-1)
    return moveaxis(values, -1, axis), moveaxis(convert(positions, "i32"), -1, axis)


PUBLIC = ("cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum", "top_k")
