"""Data movement as NumPy names it: transposition, joining, splitting. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import DimLike
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.reductions import axes_of
from mlc.frontends.array.functions.shapes import Extents, sizes
from mlc.frontends.array.functions.shaping import concat, expand_dims, flip, moveaxis, permute_dims, reshape, tile

Sections = int | Sequence[int]


def ravel(x: Any, /, order: str = "C") -> Array:
    """The elements in a row, row-major; column-major for order F."""
    given = as_array(x)
    if order not in ("C", "F"):
        raise InputError(f"mlc.numpy.ravel has no order '{order}'", hint="Give C or F")
    return reshape(given if order == "C" else transpose(given), (-1,))


def transpose(x: Any, /, axes: Sequence[int] | None = None) -> Array:
    """The dimensions in another order, by default the opposite one."""
    given = as_array(x)
    return permute_dims(given, tuple(range(given.ndim))[::-1] if axes is None else tuple(axes))


def swapaxes(x: Any, axis1: int, axis2: int, /) -> Array:
    """Two dimensions exchanged."""
    given = as_array(x)
    (a,), (b,) = axes_of(given, axis1), axes_of(given, axis2)
    order = list(range(given.ndim))
    order[a], order[b] = b, a
    return permute_dims(given, order)


def rollaxis(x: Any, /, axis: int, start: int = 0) -> Array:
    """``x`` with dimension ``axis`` moved before the dimension that has the number ``start`` now."""
    given = as_array(x)
    (at,) = axes_of(given, axis)
    place = start % given.ndim if start < 0 else start
    return moveaxis(given, at, place - 1 if place > at else place)


def atleast_1d(*arrays: Any) -> Any:
    """Arrays with one dimension at least: one array, or a list of several."""
    return _each([x if x.ndim else reshape(x, (1,)) for x in map(as_array, arrays)])


def atleast_2d(*arrays: Any) -> Any:
    """Arrays with two dimensions at least; a vector is a row."""
    return _each([x if x.ndim > 1 else reshape(x, (1, x.size)) for x in map(as_array, arrays)])


def atleast_3d(*arrays: Any) -> Any:
    """Arrays with three dimensions at least: [n] is [1, n, 1], [m, n] is [m, n, 1]."""
    return _each([_three(x) for x in map(as_array, arrays)])


def _three(x: Array) -> Array:
    return x if x.ndim > 2 else expand_dims(x, 2) if x.ndim == 2 else reshape(x, (1, x.size, 1))


def _each(found: list[Array]) -> Any:
    return found[0] if len(found) == 1 else found


def vstack(arrays: Sequence[Any], /) -> Array:
    """Arrays one below the other; vectors are rows."""
    return concat([atleast_2d(x) for x in arrays], axis=0)


def hstack(arrays: Sequence[Any], /) -> Array:
    """Arrays side by side along the second dimension; vectors one after the other."""
    given = [atleast_1d(x) for x in arrays]
    return concat(given, axis=0 if given and given[0].ndim == 1 else 1)


def dstack(arrays: Sequence[Any], /) -> Array:
    """Arrays along the third dimension."""
    return concat([atleast_3d(x) for x in arrays], axis=2)


def column_stack(arrays: Sequence[Any], /) -> Array:
    """Arrays side by side; vectors are columns."""
    return concat([x if x.ndim > 1 else reshape(x, (-1, 1)) for x in map(as_array, arrays)], axis=1)


def block(arrays: Any, /) -> Array:
    """An array of nested lists of blocks: the innermost lists are joined along the last dimension, and so on."""
    depth = _depth(arrays)
    rank = max(depth, max(x.ndim for x in _blocks(arrays)))
    return _joined(arrays, depth, rank)


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _blocks(arrays: Any) -> list[Array]:
    return [x for each in arrays for x in _blocks(each)] if isinstance(arrays, list) else [as_array(arrays)]


def _joined(arrays: Any, depth: int, rank: int) -> Array:
    if not isinstance(arrays, list):
        x = as_array(arrays)
        return reshape(x, (*[1] * (rank - x.ndim), *x.shape))
    return concat([_joined(each, depth - 1, rank) for each in arrays], axis=-depth)


def array_split(x: Any, /, indices_or_sections: Sections, axis: int = 0) -> list[Array]:
    """Parts along ``axis``: as many as an integer says, of which the first ones have one element more, or cut at
    indices.
    """
    given = as_array(x)
    (at,) = axes_of(given, axis)
    cuts = [0, *_cuts(given.shape[at], indices_or_sections), None]
    before = (slice(None),) * at
    return [given[(*before, slice(a, b))] for a, b in zip(cuts, cuts[1:], strict=False)]


def _cuts(extent: DimLike, given: Sections) -> list[int]:
    if not isinstance(given, int | np.integer):
        return [operator.index(n) for n in given]
    if not isinstance(extent, int) or given < 1:
        raise InputError(f"An extent of {extent} cannot have {given} parts", hint="Give indices, or a number from 1 on")
    small, more = divmod(extent, int(given))
    return [n * small + min(n, more) for n in range(1, int(given))]


def split(x: Any, /, indices_or_sections: Sections, axis: int = 0) -> list[Array]:
    """Parts along ``axis``: as many equal ones as an integer says, or cut at indices.

    Raises:
        InputError: equal parts do not exist.
    """
    extent = as_array(x).shape[axes_of(as_array(x), axis)[0]]
    if isinstance(indices_or_sections, int) and (not isinstance(extent, int) or extent % indices_or_sections):
        what = f"mlc.numpy.split cannot make {indices_or_sections} equal parts of {extent} elements"
        raise InputError(what, hint="Use array_split, or give the indices of the cuts")
    return array_split(x, indices_or_sections, axis)


def vsplit(x: Any, /, indices_or_sections: Sections) -> list[Array]:
    """Parts along the first dimension."""
    return split(x, indices_or_sections, 0)


def hsplit(x: Any, /, indices_or_sections: Sections) -> list[Array]:
    """Parts along the second dimension; of a vector along its own."""
    return split(x, indices_or_sections, 0 if as_array(x).ndim == 1 else 1)


def dsplit(x: Any, /, indices_or_sections: Sections) -> list[Array]:
    """Parts along the third dimension."""
    return split(x, indices_or_sections, 2)


def fliplr(x: Any, /) -> Array:
    """The columns in the opposite order."""
    return flip(x, axis=1)


def flipud(x: Any, /) -> Array:
    """The rows in the opposite order."""
    return flip(x, axis=0)


def rot90(x: Any, /, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """``x`` turned by 90° ``k`` times in the plane of ``axes``, from the first towards the second."""
    given, (a, b) = as_array(x), axes
    if k % 4 == 2:
        return flip(flip(given, axis=a), axis=b)
    if k % 4 == 1:
        return swapaxes(flip(given, axis=b), a, b)
    return flip(swapaxes(given, a, b), axis=b) if k % 4 else given


def resize(x: Any, /, new_shape: Extents) -> Array:
    """The elements in a new shape, repeated as often as needed."""
    given, shape = ravel(x), sizes(new_shape)
    wanted = int(np.prod(shape))  # type: ignore[arg-type]
    times = -(-wanted // max(len(given), 1))
    return reshape(tile(given, (times,))[:wanted], shape)


PUBLIC = (
    *("ravel", "transpose", "swapaxes", "rollaxis", "atleast_1d", "atleast_2d", "atleast_3d", "vstack", "hstack"),
    *("dstack", "column_stack", "block", "array_split", "split", "vsplit", "hsplit", "dsplit", "fliplr", "flipud"),
    *("rot90", "resize"),
)
