"""Indexing: integers, slices, None, ellipsis, integer arrays, masks. Source: NumPy's rules."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.types import numpy_dtype
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, TraceError, apply, as_array, constant, linear
from mlc.frontends.array.collectives import emits
from mlc.frontends.array.functions.creation import zeros
from mlc.frontends.array.functions.elementwise import broadcast
from mlc.frontends.array.functions.shaping import broadcast_to, expand_dims, reshape
from mlc.frontends.array.record import Record
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.comparisons import at_least, larger, smaller
from mlc.frontends.build.ops.indexing.gather import wrapped_read
from mlc.frontends.build.tensors import Tensor


@linear
def sliced(
    build: Builder,
    xs: Sequence[Tensor],
    starts: tuple[DimLike, ...],
    sizes: tuple[DimLike, ...],
    steps: tuple[int, ...],
) -> Tensor:
    for start, step in zip(starts, steps, strict=True):
        if step > 0:  # x[::-1] of no elements has none
            build.require(start, 0)  # x[-3]
            build.refuse_empty(start)  # x[-1]
    return build.slice(xs[0], starts, sizes, steps)


def index(x: Array, key: Any) -> Array:
    """``x[key]``: basic indices first, then arrays of indices, as NumPy does.

    Raises:
        IndexError: an index that the shape does not have.
        TraceError: a mask of a traced array, whose number of elements is not known.
    """
    basic, arrays, first = parts(x, key)
    return gathered(basic, arrays, first) if arrays else basic


def parts(x: Array, key: Any) -> tuple[Array, dict[int, Array], int]:
    """``x`` cut by the basic indices of a key, its index arrays by the dimension of that which they index, and where
    their dimensions are in the result.

    Raises:
        IndexError: an index that the shape does not have.
        TraceError: a mask of a traced array, whose number of elements is not known.
    """
    items = [as_array(each) if _is_data(each) else each for each in (key if isinstance(key, tuple) else (key,))]
    apart = _are_apart(items)
    x, items = _with_masks_as_indices(x, _without_ellipsis(x, items))
    basic, arrays = _basic(x, items)
    kept = [each is None or isinstance(each, slice) for each in items]
    return basic, arrays, kept.index(False) if arrays and not apart else 0


def _are_apart(items: list[Any]) -> bool:
    """Whether a slice separates index arrays (integers count as such). Then their dimensions come first in the
    result.
    """
    kept = [each is None or each is Ellipsis or isinstance(each, slice) for each in items]
    chosen = [n for n, k in enumerate(kept) if not k]
    return any(kept[chosen[0] : chosen[-1]]) if chosen else False


def _is_data(each: Any) -> bool:
    return isinstance(each, bool | list | np.ndarray | np.bool)


def _is_mask(each: Any) -> bool:
    return isinstance(each, Array) and each.element == "i1"


def _without_ellipsis(x: Array, items: list[Any]) -> list[Any]:
    """Slices in place of an ellipsis, and at the end for the dimensions that are not named."""
    positions = [n for n, each in enumerate(items) if each is Ellipsis]
    if len(positions) > 1:
        raise IndexError("an index has one ellipsis at most")
    dims = [each.ndim if _is_mask(each) else each is not None and each is not Ellipsis for each in items]
    missing = x.ndim - sum(dims)
    if missing < 0:
        raise IndexError(f"an array of shape {x.shape} cannot have {x.ndim - missing} indices")
    at = positions[0] if positions else len(items)
    return [*items[:at], *[slice(None)] * missing, *items[at + len(positions) :]]


def _with_masks_as_indices(x: Array, items: list[Any]) -> tuple[Array, list[Any]]:
    """Arrays of the indices at which masks hold; a mask of rank 0 indexes a new dimension of 1."""
    found: list[Any] = []
    axis = 0
    for each in items:
        if not _is_mask(each):
            found.append(each)
            axis += each is not None
            continue
        if each.traced:
            hint = "Use mlc.numpy.where, or index by integers"
            raise TraceError("A traced mask selects an unknown number of elements", hint=hint)
        if each.shape != x.shape[axis : axis + each.ndim]:
            what = f"a mask of shape {each.shape} does not fit dimension {axis} of an array of shape {x.shape}"
            raise IndexError(what)
        x = x if each.ndim else expand_dims(x, axis)
        found += [as_array(at) for at in np.nonzero(np.atleast_1d(each.numpy()))]
        axis += max(each.ndim, 1)
    return x, found


def _basic(x: Array, items: list[Any]) -> tuple[Array, dict[int, Array]]:
    """``x`` cut by integers and slices, with new dimensions, and the index arrays by the dimension that they index."""
    starts: list[DimLike] = []
    sizes: list[DimLike] = []
    steps: list[int] = []
    shape: list[DimLike] = []
    arrays: dict[int, Array] = {}
    dims = iter(x.shape)
    for each in items:
        if each is None:
            shape.append(1)
            continue
        extent = next(dims)
        scalar = not isinstance(each, slice | Array)
        if isinstance(each, Array) and (each.ndim or each.traced or _is_of_a_rank(each.record)):
            arrays[len(shape)] = each
            each = slice(None)
        start, size, step = _range(each, extent) if isinstance(each, slice) else (_position(each, extent), 1, 1)
        starts.append(start)
        sizes.append(size)
        steps.append(step)
        if not scalar and isinstance(each, slice):
            shape.append(size)
    params = (tuple(starts), tuple(sizes), tuple(steps))
    whole = all(s == 0 for s in starts) and tuple(sizes) == x.shape and all(s == 1 for s in steps)
    cut = x if whole else apply(sliced, [x], params, x.element, sizes)
    return (cut if tuple(shape) == cut.shape else reshape(cut, shape)), arrays


def _is_of_a_rank(given: Record) -> bool:
    """Whether an array follows from the number of the rank, which a program for all ranks asks for when it runs."""
    return given.data is None and (given.emit is emits.rank or any(map(_is_of_a_rank, given.operands)))


def _position(at: Any, extent: DimLike) -> DimLike:
    if isinstance(at, Dim):
        return at
    number = operator.index(at)
    if isinstance(extent, int) and not -extent <= number < extent:
        raise IndexError(f"index {number} is outside of a dimension of {extent}")
    return number + extent if number < 0 else number


def _range(at: slice, extent: DimLike) -> tuple[DimLike, DimLike, int]:
    """(first element, number of elements, step) of a slice."""
    if isinstance(extent, int) and not isinstance(at.start, Dim) and not isinstance(at.stop, Dim):
        chosen = range(*at.indices(extent))
        return (chosen.start if len(chosen) else 0), len(chosen), chosen.step if len(chosen) else 1
    step = 1 if at.step is None else operator.index(at.step)
    if step == -1 and at.start is None and at.stop is None:
        return extent - 1, extent, -1
    if step != 1:
        what = f"Steps of {step} over an open dimension '{extent}' are not translated"
        raise InputError(what, hint="Fix the dimension")
    start = _clamped(0 if at.start is None else at.start, extent)
    stop = extent if at.stop is None else _clamped(at.stop, extent)
    return start, larger(stop - start, 0), 1


def _clamped(at: DimLike, extent: DimLike) -> DimLike:
    if isinstance(at, Dim):
        return at
    if at < 0:
        return larger(extent + at, 0)
    return at if at_least(extent, at) else smaller(at, extent)


@linear
def indexed(build: Builder, xs: Sequence[Tensor], axes: tuple[int, ...], first: int) -> Tensor:
    """``x`` read at index arrays of one shape along ``axes``. Dimension ``first`` of the result is the first of
    theirs.
    """
    x, *arrays = xs
    rank = arrays[0].rank
    kept = [n for n in range(x.rank) if n not in axes]
    shape = [x.shape[n] for n in kept]
    shape[first:first] = arrays[0].shape
    names = [f"i{n}" for n in range(len(shape))]
    at = ", ".join(names[first : first + rank]) or "()"
    rest = names[:first] + names[first + rank :]
    loads = {n: f"x{k + 1}[{at}]" for k, n in enumerate(axes)}
    reads = [
        wrapped_read(arrays[axes.index(n)], loads[n], x.shape[n]) if n in axes else rest[kept.index(n)]
        for n in range(x.rank)
    ]
    return build.compute(f"x0[{', '.join(reads)}]", [x, *arrays], shape)


def gathered(x: Array, arrays: dict[int, Array], first: int) -> Array:
    """``x`` read at index arrays, given by the dimension that each indexes. Dimension ``first`` of the result is the
    first of theirs.
    """
    axes = tuple(arrays)
    shape = broadcast(*(each.shape for each in arrays.values()))
    given = [broadcast_to(checked_indices(each, x.shape[n]), shape) for n, each in arrays.items()]
    result = [d for n, d in enumerate(x.shape) if n not in axes]
    result[first:first] = shape
    if 0 in result:
        return zeros(result, dtype=x.dtype)
    return apply(indexed, [x, *given], (axes, first), x.element, result)


def elements_known(x: Array) -> np.ndarray[Any, Any] | None:
    """The elements of an array that has been evaluated, or is a constant of the program."""
    if x.value is not None or x.record.emit is not constant:
        return x.value
    element, shape, data = x.record.params
    return np.frombuffer(data, numpy_dtype(element)).reshape(shape)


def checked_indices(indices: Array, extent: DimLike) -> Array:
    """Check indices whose values are known. Others are clamped when the program runs."""
    if dtypes.kind(indices.element) != 1:
        raise IndexError(f"an index of type {indices.dtype}; give integers or a mask")
    data = elements_known(indices)
    if data is not None and isinstance(extent, int) and data.size:
        low, high = data.min(), data.max()
        if low < -extent or high >= extent:
            raise IndexError(f"indices from {low} to {high} are outside of a dimension of {extent}")
    return indices
