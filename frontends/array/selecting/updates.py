"""Updates of arrays at indices: ``x.at[i].set(v)`` is a new array. Source: JAX's property of this name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import DimLike, product
from mlc.errors import InputError
from mlc.frontends.array.array import Array, apply, as_array, linear
from mlc.frontends.array.functions.creation import arange
from mlc.frontends.array.functions.elementwise import FUNCTIONS, broadcast, convert, where
from mlc.frontends.array.functions.indexing import checked_indices, gathered, parts
from mlc.frontends.array.functions.reductions import min as least
from mlc.frontends.array.functions.shaping import broadcast_to, reshape
from mlc.frontends.array.selecting.known import write
from mlc.frontends.array.selecting.numbers import integers_of, numbered
from mlc.frontends.array.selecting.taking import filled_where, inside, is_inside
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.indexing.scatter import scatter_at
from mlc.frontends.build.tensors import Tensor

MODES = ("drop", "clip", "wrap", "check", "fill", "promise_in_bounds")
Mode = str | None


@linear
def added(build: Builder, xs: Sequence[Tensor], reduction: str, width: DimLike) -> Tensor:
    """A scatter that replaces groups of ``width`` elements (``none``) or adds to them."""
    return combined(build, xs, reduction, width)


def combined(build: Builder, xs: Sequence[Tensor], reduction: str, width: DimLike) -> Tensor:
    x, offsets, values = xs
    return scatter_at(build, x, offsets, values, width, reduction)


@linear
def checked(build: Builder, xs: Sequence[Tensor], extent: DimLike) -> Tensor:
    """Indices unchanged. The run fails where ``all_inside``, the second operand, is below 0."""
    indices, all_inside = xs
    build.check(build.scalars.of(all_inside).item(), f"an index is outside of a dimension of {extent}")
    return indices


class At:
    """The elements of ``x`` at a key: integers, slices, index arrays, masks.

    Each function returns ``x`` with these elements combined with ``values``, which are broadcast to ``x[key]`` and take
    the type of ``x``. Where the key names an element several times, the last value is set, and all are combined.

    ``mode`` of index arrays that have indices outside of their dimension: ``drop`` (the default) passes these over,
    ``clip`` moves them to the nearest element, ``wrap`` counts on from the other end, ``check`` is an error when the
    program runs, which names the line.
    """

    def __init__(self, x: Array, key: Any) -> None:
        self.x, self.key = x, key

    def get(self, *, mode: Mode = "fill", fill_value: Any = None) -> Array:
        """The elements; for indices outside ``fill_value``: by default NaN of floats, 0 of others."""
        basic, arrays, first = parts(self.x, self.key)
        if not arrays:
            return basic
        _check(mode)
        found = gathered(basic, {n: _moved(each, basic.shape[n], mode) for n, each in arrays.items()}, first)
        return filled_where(_valid(basic, arrays, first), found, fill_value) if mode in ("fill", "drop") else found

    def set(self, values: Any, *, mode: Mode = None, **hints: bool) -> Array:
        return self._updated(added, "none", values, mode)

    def add(self, values: Any, *, mode: Mode = None, **hints: bool) -> Array:
        return self._updated(added, "add", values, mode)

    def subtract(self, values: Any, *, mode: Mode = None, **hints: bool) -> Array:
        return self._updated(added, "add", FUNCTIONS["negative"](as_array(values, self.x.element)), mode)

    def multiply(self, values: Any, *, mode: Mode = None, **hints: bool) -> Array:
        return self._updated(combined, "mul", values, mode)

    mul = multiply

    def divide(self, values: Any, *, mode: Mode = None, **hints: bool) -> Array:
        return self.multiply(FUNCTIONS["reciprocal"](as_array(values, self.x.element)), mode=mode)

    def power(self, values: Any, *, mode: Mode = None, **hints: bool) -> Array:
        return self.apply(lambda x: FUNCTIONS["pow"](x, values), mode=mode)

    def min(self, values: Any, *, mode: Mode = None, **hints: bool) -> Array:
        return self._updated(combined, "min", values, mode)

    def max(self, values: Any, *, mode: Mode = None, **hints: bool) -> Array:
        return self._updated(combined, "max", values, mode)

    def apply(self, f: Callable[[Array], Any], *, mode: Mode = None, **hints: bool) -> Array:
        """``x`` with ``f`` applied to each selected element. An element that the key names several times gets it
        once.
        """
        return self.set(f(self.get(mode="clip")), mode=mode)

    def _updated(self, emit: Any, reduction: str, values: Any, mode: Mode) -> Array:
        x, how = self.x, "drop" if mode is None else mode
        rows, at = self._rows(), integers_of(x, self.key)
        inner = x.shape[len(at) :] if at else () if rows is None else x.shape[1:]
        offsets = self._number(at, how) if at else self._offsets(how) if rows is None else self._numbers(rows, how)
        given = broadcast_to(convert(as_array(values, x.element), x.element), (*offsets.shape, *inner))
        if 0 in given.shape:
            return x
        flat = [reshape(each, (-1,)) for each in (offsets, given)]
        return apply(emit, [x, *flat], (reduction, product(inner)), x.element, x.shape)

    def _rows(self) -> Array | None:
        """The index array of a key that is one, whose elements are whole rows: no position of an element is needed."""
        (key,) = self.key if isinstance(self.key, tuple) and len(self.key) == 1 else (self.key,)
        if not isinstance(key, Array | np.ndarray | list) or not self.x.ndim:
            return None
        given = as_array(key)
        return given if given.ndim and given.element != "i1" else None

    def _number(self, at: Sequence[Any], mode: str) -> Array:
        """The number of the row at integers, of which a row is what follows their dimensions; -1 if passed over."""
        _check(mode)
        moved = [
            _moved(each, d, mode) if isinstance(each, Array) and mode in ("clip", "wrap", "check") else each
            for each, d in zip(at, self.x.shape, strict=False)
        ]
        known = tuple(None if isinstance(each, Array) else each for each in moved)
        arrays = [convert(each, "i64") for each in moved if isinstance(each, Array)]
        return apply(numbered, arrays, (self.x.shape, known), "i64", ())

    def _numbers(self, indices: Array, mode: str) -> Array:
        """The numbers of rows from 0 on; -1 of those that are passed over."""
        _check(mode)
        extent = self.x.shape[0]
        moved = _moved(indices, extent, mode)
        found = convert(where(moved < 0, moved + extent, moved), "i64")
        passed = mode in ("drop", "fill") and not _surely_inside(indices, extent)
        return where(is_inside(indices, extent), found, -1) if passed else found

    def _offsets(self, mode: str) -> Array:
        """The positions of the elements in the flat array; -1 of those that are passed over."""
        _check(mode)
        basic, arrays, first = parts(reshape(arange(self.x.size), self.x.shape), self.key)
        if not arrays:
            return basic
        found = gathered(basic, {n: _moved(each, basic.shape[n], mode) for n, each in arrays.items()}, first)
        passed = mode in ("drop", "fill") and not all(_surely_inside(x, basic.shape[n]) for n, x in arrays.items())
        return where(_valid(basic, arrays, first), found, -1) if passed else found


def _check(mode: Mode) -> None:
    if mode not in MODES:
        raise InputError(f"There is no mode {mode!r} for updates", hint=f"The modes are {', '.join(MODES)}")


def _moved(indices: Array, extent: DimLike, mode: Mode) -> Array:
    """Indices, moved inside their dimension."""
    if 0 in indices.shape:
        return indices
    if mode == "clip":  # those that count from the end are inside
        return inside(where(indices < 0, indices + extent, indices), extent, mode)
    if mode != "check":
        return inside(indices, extent, mode or "clip")
    outside = least(convert(is_inside(indices, extent), "i64")) - 1
    if not outside.traced and int(outside) < 0:
        raise IndexError(f"an index is outside of a dimension of {extent}")
    return apply(checked, [indices, outside], (extent,), indices.element, indices.shape)


def _surely_inside(indices: Array, extent: DimLike) -> bool:
    data = indices.value
    return data is not None and isinstance(extent, int) and bool(((data >= -extent) & (data < extent)).all())


def _valid(basic: Array, arrays: dict[int, Array], first: int) -> Array:
    """Whether all indices of an element of the result are inside, in the result's shape up to broadcasting."""
    shape = broadcast(*(each.shape for each in arrays.values()))
    valid = as_array(True)
    for n, each in arrays.items():
        valid = valid & is_inside(each, basic.shape[n])
    after = basic.ndim - len(arrays) - first
    return reshape(broadcast_to(valid, shape), (*shape, *[1] * after))


class Indexer:
    """``x.at``, which is indexed by a key."""

    def __init__(self, x: Array) -> None:
        self.x = x

    def __getitem__(self, key: Any) -> At:
        return At(self.x, key)


def assign(x: Array, key: Any, value: Any) -> None:
    """``x[key] = value``: a mask of leading dimensions chooses elements; other keys are those of ``at``.

    Raises:
        IndexError: known indices are outside.
        TraceError: a traced mask beside other indices, or with values for the elements that it selects.
    """
    if not write(x, key, value):
        x.become(_assigned(x, key, value))


def _assigned(x: Array, key: Any, value: Any) -> Array:
    given = convert(as_array(value, x.element), x.element)
    mask = _whole_mask(x, key)
    if mask is not None and given.ndim == 0:
        return where(mask, given, x)
    basic, arrays, _ = parts(x, key)
    for n, each in arrays.items():
        if each.value is not None and each.value.size:
            checked_indices(each, basic.shape[n])
    while given.ndim and given.shape[0] == 1 and given.ndim > x.ndim:  # as NumPy drops dimensions of 1 in front
        given = given[0]
    return At(x, key).set(given)


def _whole_mask(x: Array, key: Any) -> Array | None:
    """A mask [leading dimensions of x], so that it broadcasts to ``x``."""
    given = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if not isinstance(given, Array) or given.element != "i1" or not given.ndim:
        return None
    if given.shape != x.shape[: given.ndim]:
        return None
    return reshape(given, (*given.shape, *[1] * (x.ndim - given.ndim)))
