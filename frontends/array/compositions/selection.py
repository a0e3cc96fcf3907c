"""Choices of elements and orders, and updates as functions. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array, from_numpy
from mlc.frontends.array.compositions.arranging import ravel
from mlc.frontends.array.functions.creation import arange
from mlc.frontends.array.functions.elementwise import FUNCTIONS, operands, where
from mlc.frontends.array.functions.reductions import axes_of
from mlc.frontends.array.functions.shaping import broadcast_arrays, broadcast_to, expand_dims, moveaxis, reshape, stack
from mlc.frontends.array.functions.sorting import argsort, sort
from mlc.frontends.array.selecting.sets import nonzero
from mlc.frontends.array.selecting.taking import take, take_along_axis
from mlc.frontends.array.transforms.batching import vmap


def argwhere(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """[n, rank]: the indices of the elements that are not 0; ``size`` as in ``nonzero``."""
    return stack(nonzero(x, size=size, fill_value=fill_value), axis=1)


def flatnonzero(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The positions of the elements that are not 0 in the flat array."""
    return nonzero(ravel(x), size=size, fill_value=fill_value)[0]


def extract(condition: Any, x: Any, /) -> Array:
    """The elements where a condition, whose elements are known, holds."""
    return take(ravel(x), from_numpy(np.flatnonzero(as_array(condition).numpy())), axis=0)


def compress(condition: Any, x: Any, /, axis: int | None = None) -> Array:
    """The slices along ``axis`` for which a condition, whose elements are known, holds."""
    given, at = (ravel(x), 0) if axis is None else (as_array(x), axis)
    return take(given, from_numpy(np.flatnonzero(as_array(condition).numpy())), axis=at)


def select(conditions: Sequence[Any], choices: Sequence[Any], /, default: Any = 0) -> Array:
    """The first of ``choices`` whose condition holds, ``default`` where none does."""
    if len(conditions) != len(choices) or not len(choices):
        what = f"mlc.numpy.select has {len(conditions)} conditions and {len(choices)} choices"
        raise InputError(what, hint="Give a choice for each condition, and one at least")
    *given, found = operands(*choices, default)
    for condition, choice in zip(reversed(conditions), reversed(given), strict=True):
        found = where(condition, choice, found)
    return found


def piecewise(x: Any, conditions: Sequence[Any], functions: Sequence[Any], /, *args: Any, **kwargs: Any) -> Array:
    """Functions of ``x`` (or numbers), each where its condition holds. The last of several true conditions counts. One
    more function serves where no condition holds (default: 0). All functions are computed everywhere.
    """
    given, tests = as_array(x), list(conditions) if isinstance(conditions, list | tuple) else [conditions]
    rest = len(functions) == len(tests) + 1
    if not rest and len(functions) != len(tests):
        what = f"mlc.numpy.piecewise has {len(tests)} conditions and {len(functions)} functions"
        raise InputError(what, hint="Give a function for each condition, and at most one for the rest")
    values = [f(given, *args, **kwargs) if callable(f) else f for f in functions]
    found = values[-1] if rest else given * 0
    for test, value in zip(tests, values, strict=False):
        found = where(test, value, found)
    return broadcast_to(found, given.shape) if isinstance(found, Array) else found


def choose(x: Any, choices: Any, /, mode: str = "clip") -> Array:
    """The element of array ``x`` of ``choices``; numbers outside are clipped, or wrapped by ``mode``."""
    at, *given = broadcast_arrays(x, *operands(*choices))
    at = at % len(given) if mode == "wrap" else FUNCTIONS["clip"](at, 0, len(given) - 1)
    return take_along_axis(stack(given), at[None], axis=0)[0]


def lexsort(keys: Any, /, axis: int = -1) -> Array:
    """The indices that sort by the last key, then by the one before, and so on."""
    given = [as_array(k) for k in keys]
    order = argsort(given[0], axis=axis)
    for key in given[1:]:
        order = take_along_axis(order, argsort(take_along_axis(key, order, axis=axis), axis=axis), axis=axis)
    return order


def partition(x: Any, kth: Any, /, axis: int = -1) -> Array:
    """The elements in sorted order, which is a partition at every ``kth``."""
    return sort(x, axis=axis)


def argpartition(x: Any, kth: Any, /, axis: int = -1) -> Array:
    """The indices that sort the elements, which is a partition at every ``kth``."""
    return argsort(x, axis=axis)


def put_along_axis(x: Any, indices: Any, values: Any, /, axis: int | None, *, inplace: bool = True) -> Array:
    """``x`` with ``values`` written at one index of each line along ``axis``. With ``inplace`` the array ``x`` itself
    changes.
    """
    given = as_array(x)
    if axis is None:
        found = reshape(ravel(given).at[ravel(indices)].set(values), given.shape)
    else:
        where_, (at,) = as_array(indices), axes_of(given, axis)
        grid = [
            reshape(arange(d), [-1 if m == n else 1 for m in range(given.ndim)]) for n, d in enumerate(where_.shape)
        ]
        key = tuple(where_ if n == at else each for n, each in enumerate(grid))
        found = given.at[key].set(values)
    return _written(x, found, inplace)


def fill_diagonal(x: Any, value: Any, /, wrap: bool = False, *, inplace: bool = True) -> Array:
    """``x`` with ``value`` on its main diagonal. With ``inplace`` the array ``x`` itself changes."""
    given = as_array(x)
    at = arange(min(given.shape))  # type: ignore[type-var]
    return _written(x, given.at[(at,) * given.ndim].set(value), inplace)


def _written(x: Any, found: Array, inplace: bool) -> Array:
    if inplace and isinstance(x, Array):
        x.become(found)
    return found


def apply_along_axis(f: Callable[..., Any], axis: int, x: Any, /, *args: Any, **kwargs: Any) -> Array:
    """``f`` applied to each line along ``axis``. Its result takes the place of the line."""
    given = as_array(x)
    (at,) = axes_of(given, axis)
    rows = moveaxis(given, at, -1)
    found = vmap(lambda row: as_array(f(row, *args, **kwargs)))(reshape(rows, (-1, rows.shape[-1])))
    whole = reshape(found, (*rows.shape[:-1], *found.shape[1:]))
    extra = found.ndim - 1
    return moveaxis(whole, tuple(range(whole.ndim - extra, whole.ndim)), tuple(range(at, at + extra)))


def apply_over_axes(f: Callable[..., Any], x: Any, axes: Sequence[int] | int, /) -> Array:
    """``f(x, axis)`` applied for one axis after another. The reduced axes stay with extent 1."""
    given = as_array(x)
    for axis in (axes,) if isinstance(axes, int) else axes:
        found = as_array(f(given, axis))
        given = found if found.ndim == given.ndim else expand_dims(found, axis)
    return given


def vectorize(f: Callable[..., Any], *, excluded: Sequence[int] = ()) -> Callable[..., Any]:
    """Turn a function of scalars into a function of arrays that broadcast, by ``vmap``. The arguments ``excluded`` pass
    unchanged.
    """

    def vectorized(*args: Any) -> Any:
        chosen = [n for n in range(len(args)) if n not in excluded]
        arrays = broadcast_arrays(*(args[n] for n in chosen))
        shape = arrays[0].shape if arrays else ()

        def scalar(*xs: Array) -> Any:
            given = list(args)
            for n, x in zip(chosen, xs, strict=True):
                given[n] = x
            return f(*given)

        if not shape:
            return scalar(*arrays)
        found = vmap(scalar)(*(ravel(x) for x in arrays))
        whole = [reshape(y, (*shape, *y.shape[1:])) for y in (found if isinstance(found, tuple) else (found,))]
        return tuple(whole) if isinstance(found, tuple) else whole[0]

    return vectorized


PUBLIC = (
    *("argwhere", "flatnonzero", "extract", "compress", "select", "piecewise", "choose", "lexsort", "partition"),
    *("argpartition", "put_along_axis", "fill_diagonal", "apply_along_axis", "apply_over_axes", "vectorize"),
)
