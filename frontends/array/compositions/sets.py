"""Sets of elements: unique, unions, differences; of known elements, as their results' sizes depend on these.

``size`` fixes the number of elements in ``unique``: then nothing is known before the program runs. Source: NumPy 2,
``jax.numpy``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array, from_numpy
from mlc.frontends.array.compositions.arranging import ravel
from mlc.frontends.array.functions.creation import ones
from mlc.frontends.array.functions.elementwise import where
from mlc.frontends.array.functions.running import cumsum
from mlc.frontends.array.functions.shaping import concat, reshape
from mlc.frontends.array.functions.sorting import argsort


def unique(
    x: Any,
    /,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The different elements (slices along ``axis``) in ascending order; the first index of each, which one each
    element is, and how often each occurs, where asked for.

    With ``size`` so many, the first ones, or filled up by ``fill_value`` (the least element): works on traced arrays.

    Raises:
        TraceError: the elements are not known, and there is no ``size``.
    """
    flags = (return_index, return_inverse, return_counts)
    given = as_array(x)
    if size is not None:
        return _sized(given, flags, axis, size, fill_value)
    function: Any = np.unique  # whose type depends on the flags
    found = function(given.numpy(), *flags, axis=axis, equal_nan=equal_nan)
    if not any(flags):
        return from_numpy(found)
    return tuple(from_numpy(each if n == 0 else each.astype(np.int64)) for n, each in enumerate(found))


def _sized(x: Array, flags: tuple[bool, bool, bool], axis: int | None, size: int, fill_value: Any) -> Any:
    """By sorting: an element that differs from the one before it is new."""
    if axis is not None:
        raise InputError("mlc.numpy.unique cannot have both size and axis", hint="Give one of them")
    flat = ravel(x)
    order = argsort(flat)
    line = flat[order]
    number = cumsum(concat([ones((1,), dtype=bool), line[1:] != line[:-1]]).astype("int64")) - 1
    filled = line[0] if fill_value is None else fill_value
    values = (flat[:1] * 0 + filled) * ones((size,), dtype=flat.dtype)
    values = values.at[number].set(line, mode="drop")
    first = (
        (ones((size,), dtype="int64") * (len(flat) if fill_value is not None else 0))
        .at[number[::-1]]
        .set(order[::-1], mode="drop")
    )
    first = where(values == line[0], order[0], first) if fill_value is None else first
    inverse = reshape((flat * 0).astype("int64").at[order].set(number), x.shape)
    counts = (ones((size,), dtype="int64") * 0).at[number].add(1, mode="drop")
    others = [each for each, wanted in zip((first, inverse, counts), flags, strict=True) if wanted]
    return (values, *others) if others else values


def union1d(x1: Any, x2: Any, /) -> Array:
    """The elements of either array, ascending."""
    return _known(np.union1d, x1, x2)


def intersect1d(x1: Any, x2: Any, /) -> Array:
    """The elements of both arrays, ascending."""
    return _known(np.intersect1d, x1, x2)


def setdiff1d(x1: Any, x2: Any, /) -> Array:
    """The elements of ``x1`` that are not in ``x2``, ascending."""
    return _known(np.setdiff1d, x1, x2)


def setxor1d(x1: Any, x2: Any, /) -> Array:
    """The elements of one of the arrays alone, ascending."""
    return _known(np.setxor1d, x1, x2)


def _known(function: Any, *xs: Any) -> Array:
    return from_numpy(np.asarray(function(*(as_array(x).numpy() for x in xs))))


PUBLIC = ("unique", "union1d", "intersect1d", "setdiff1d", "setxor1d")
