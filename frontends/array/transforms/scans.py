"""Functions of all slices of an array: map, associative_scan. Source: JAX's functions of these names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.shaping import concat, flip, reshape, stack
from mlc.frontends.array.public import publish
from mlc.frontends.array.transforms.control import scan


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """``f`` of each slice of ``xs`` along its first axis, one after the other, and all results together."""
    return scan(lambda state, x: (state, f(x)), (), xs)[1]


def associative_scan(f: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """The results of ``f``, an associative function, on all elements up to each one along ``axis``; from the end for
    ``reverse``. ``elems`` is an array or a tree of arrays, and ``f`` takes and returns several elements at once.

    In a number of calls of ``f`` that is logarithmic in the extent.
    """
    leaves, tree = trees.flatten(elems)
    arrays = [as_array(x) for x in leaves]
    arrays = [flip(x, axis=axis) for x in arrays] if reverse else arrays

    def combine(a: Sequence[Array], b: Sequence[Array]) -> list[Array]:
        found = f(trees.unflatten(tree, a), trees.unflatten(tree, b))
        return [as_array(x) for x in trees.leaves(found)]

    found = _prefixes(combine, arrays, axis)
    return trees.unflatten(tree, [flip(x, axis=axis) for x in found] if reverse else found)


def _prefixes(combine: Callable[..., list[Array]], xs: Sequence[Array], axis: int) -> list[Array]:
    """Neighbours are combined, their prefixes found, and the elements between them put in."""
    extent = xs[0].shape[axis]
    if extent < 2:  # type: ignore[operator]
        return list(xs)
    odd = _prefixes(combine, combine(_every(xs, axis, 0, -1), _every(xs, axis, 1)), axis)
    before = [_cut(x, axis, slice(None, -1)) for x in odd] if extent % 2 == 0 else odd
    later = combine(before, _every(xs, axis, 2)) if before[0].shape[axis] else []
    first = [_cut(x, axis, slice(0, 1)) for x in xs]
    even = [concat([a, b], axis) for a, b in zip(first, later, strict=True)] if later else first
    return [_interleaved(a, b, axis) for a, b in zip(even, odd, strict=True)]


def _every(xs: Sequence[Array], axis: int, start: int, stop: int | None = None) -> list[Array]:
    """Every second element along an axis."""
    return [_cut(x, axis, slice(start, stop, 2)) for x in xs]


def _cut(x: Array, axis: int, at: slice) -> Array:
    return x[tuple(at if n == axis % x.ndim else slice(None) for n in range(x.ndim))]


def _interleaved(even: Array, odd: Array, axis: int) -> Array:
    """The elements of two arrays alternately; the first one may have one more."""
    at, count = axis % even.ndim, odd.shape[axis]
    paired = stack([_cut(even, axis, slice(0, count)), odd], axis=at + 1)
    shape = [2 * d if n == at else d for n, d in enumerate(odd.shape)]
    rest = _cut(even, axis, slice(count, None))
    return concat([reshape(paired, shape), rest], axis) if rest.shape[axis] else reshape(paired, shape)


publish(globals(), ("associative_scan", "map"), "mlc")
