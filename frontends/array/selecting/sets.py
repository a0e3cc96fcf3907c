"""Functions whose results have a data-dependent number of elements, which is why they evaluate what they are given:
nonzero, the unique functions, repeat by an array. Source: Array API 2025.12.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array, from_numpy
from mlc.frontends.array.functions.creation import arange, full
from mlc.frontends.array.functions.elementwise import FUNCTIONS, arrays_of, convert, where
from mlc.frontends.array.functions.reductions import any_
from mlc.frontends.array.functions.running import cumsum
from mlc.frontends.array.functions.shaping import broadcast_to, expand_dims, reshape
from mlc.frontends.array.selecting.taking import take


class UniqueAll(NamedTuple):
    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    values: Array
    inverse_indices: Array


def nonzero(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """The indices of the elements that are not 0, an array for each dimension, in row-major order.

    With ``size`` so many, the first ones, or filled up by ``fill_value`` (0): works on traced arrays.

    Raises:
        TraceError: the elements of ``x`` are not known while a function is traced, and there is no ``size``.
    """
    if size is None:
        return tuple(from_numpy(at.astype(np.int64)) for at in np.nonzero(as_array(x).numpy()))
    return _nonzero_sized(as_array(x), size, fill_value)


def _nonzero_sized(x: Array, size: int, fill_value: Any) -> tuple[Array, ...]:
    holds = convert(reshape(x, (-1,)), "i1")
    place = where(holds, cumsum(holds) - 1, size)
    found = full((size,), -1, dtype="int64").at[place].set(arange(holds.shape[0]), mode="drop")
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value or 0,) * x.ndim
    coordinates: list[Array] = []
    rest = found
    for d, fill in zip(reversed(x.shape), reversed(fills), strict=True):
        coordinates.append(where(found < 0, fill, rest % d))
        rest = rest // d
    return tuple(reversed(coordinates))


def unique_all(x: Any, /) -> UniqueAll:
    """The different elements in ascending order, the index of the first of each, which one each element is, and how
    many there are of each; every NaN differs from the others.
    """
    data = as_array(x).numpy()
    values, *others = np.unique(data, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    indices, inverse, counts = (each.astype(np.int64) for each in others)
    return UniqueAll(*map(from_numpy, (values, indices, inverse.reshape(data.shape), counts)))


def unique_counts(x: Any, /) -> UniqueCounts:
    """The different elements in ascending order, and how many there are of each."""
    values, _, _, counts = unique_all(x)
    return UniqueCounts(values, counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """The different elements in ascending order, and which of them each element is."""
    values, _, inverse, _ = unique_all(x)
    return UniqueInverse(values, inverse)


def unique_values(x: Any, /) -> Array:
    """The different elements in ascending order."""
    return unique_all(x).values


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Whether each element of ``x1`` equals one of ``x2``; the opposite for ``invert``."""
    values, test = arrays_of(x1, x2)
    found = any_(FUNCTIONS["equal"](expand_dims(values, axis=-1), reshape(test, (-1,))), axis=-1)
    return FUNCTIONS["logical_not"](found) if invert else found


def repeat(x: Any, repeats: Any, /, axis: int | None = None) -> Array:
    """Each element along ``axis`` so many times; an array says how many times each, whose elements must be known."""
    given = as_array(x)
    given, at = (reshape(given, (-1,)), 0) if axis is None else (given, axis % given.ndim)
    if isinstance(repeats, int):
        if repeats < 0:
            raise InputError(f"mlc.numpy.repeat {repeats} times", hint="Give a number from 0 on")
        shape = given.shape
        wide = broadcast_to(expand_dims(given, axis=at + 1), (*shape[: at + 1], repeats, *shape[at + 1 :]))
        return reshape(wide, (*shape[:at], shape[at] * repeats, *shape[at + 1 :]))
    times = np.broadcast_to(as_array(repeats).numpy(), (given.shape[at],))  # type: ignore[arg-type]
    return take(given, from_numpy(np.repeat(np.arange(len(times)), times)), axis=at)


PUBLIC = ("isin", "nonzero", "repeat", "unique_all", "unique_counts", "unique_inverse", "unique_values")
