"""Sparse Jacobians by colouring. Source: Curtis, Powell and Reid, 1974; Gebremedhin, Manne and Pothen, 2005.

Columns that have no row in common are found by one directional derivative: the colours of a graph of columns. As many
derivatives as colours give all values, for a banded matrix as many as the band is wide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.batching import vmap
from mlc.frontends.array.transforms.derivatives.jacobians import jacfwd
from mlc.frontends.array.transforms.derivatives.linear_maps import linearize, vjp
from mlc.scipy.sparse.compressed import Compressed, csr_array
from mlc.scipy.sparse.structure import known_entries

Known = np.ndarray[Any, Any]


def sparse_jacobian(f: Callable[..., Any], sparsity: Any) -> Callable[..., csr_array]:
    """A function that returns the Jacobian [m, n] of ``f``, from vectors [n] to vectors [m], by its first argument.

    ``sparsity``: a sparse or dense matrix [m, n] that is not 0 where the Jacobian may be; see ``jacobian_sparsity``.
    Columns are coloured, or rows where these need fewer colours. The result can be jitted, batched and differentiated.

    Raises:
        InputError: ``f`` has other shapes than the pattern.
    """
    pattern = csr_array(sparsity)
    rows, columns = known_entries(pattern)
    kept = np.asarray(pattern.data) != 0
    rows, columns = rows[kept], columns[kept]
    by_column, by_row = color(rows, columns, pattern.shape[1]), color(columns, rows, pattern.shape[0])
    forward = by_column.max(initial=-1) <= by_row.max(initial=-1)

    def jacobian(x: Any, *args: Any) -> csr_array:
        point = as_array(x)
        if tuple(point.shape) != (pattern.shape[1],):
            what = f"A pattern of shape {list(pattern.shape)} does not fit an argument of shape {list(point.shape)}"
            raise InputError(what, hint="Give the function's Jacobian [results, arguments] as pattern")
        along = _forward if forward else _reverse
        data = along(lambda y: f(y, *args), point, by_column if forward else by_row, rows, columns, pattern.shape[0])
        return csr_array((data, (rows, columns)), pattern.shape)

    return jacobian


def _forward(f: Callable[..., Any], x: Array, colors: Known, rows: Known, columns: Known, count: int) -> Array:
    y, derivative = linearize(f, x)
    _check(y, count)
    found = vmap(derivative)(_seeds(colors, x.dtype))
    return found[colors[columns], rows]


def _reverse(f: Callable[..., Any], x: Array, colors: Known, rows: Known, columns: Known, count: int) -> Array:
    y, pullback = vjp(f, x)
    _check(y, count)
    found = vmap(lambda bar: pullback(bar)[0])(_seeds(colors, y.dtype))
    return found[colors[rows], columns]


def _check(y: Any, count: int) -> None:
    if not isinstance(y, Array) or tuple(y.shape) != (count,):
        shown = list(y.shape) if isinstance(y, Array) else type(y).__name__
        raise InputError(f"A pattern of {count} rows does not fit a result {shown}", hint="Return one vector")


def _seeds(colors: Known, dtype: Any) -> Array:
    """[colours, n]: 1 where an element has the colour."""
    return as_array((colors == np.arange(colors.max(initial=0) + 1)[:, None]).astype(dtype))


def color(rows: Known, columns: Known, count: int) -> Known:
    """A colour from 0 on for each of ``count`` columns; columns of one colour have no row in common.

    Greedy, columns with the most entries first.
    """
    by_column, by_row = _lists(columns, rows, count), _lists(rows, columns, int(rows.max(initial=-1)) + 1)
    colors = np.full(count, -1)
    for column in np.argsort([-len(each) for each in by_column], kind="stable"):
        near = {int(colors[other]) for row in by_column[column] for other in by_row[row]}
        colors[column] = next(n for n in range(count) if n not in near)
    return colors


def _lists(keys: Known, values: Known, count: int) -> list[Known]:
    order = np.argsort(keys, kind="stable")
    return np.split(values[order], np.cumsum(np.bincount(keys, minlength=count))[:-1]) if count else []


def jacobian_sparsity(f: Callable[..., Any], x: Any, *args: Any, points: int = 3, seed: int = 0) -> csr_array:
    """Where the Jacobian of ``f`` is not 0 at one of ``points`` random points near ``x`` [n]: ones [m, n].

    Each is a whole Jacobian, so this is for once. A derivative that is 0 at all of these points, such as one after a
    ``where``, is not found: give ``sparse_jacobian`` a pattern of your own then.
    """
    centre = np.asarray(as_array(x))
    rng = np.random.default_rng(seed)
    near = [centre + 0.1 * (1 + np.abs(centre)) * rng.standard_normal(centre.shape) for _ in range(points)]
    derivative = jacfwd(lambda y: f(y, *args))
    found = [np.asarray(derivative(mnp.asarray(p.astype(centre.dtype)))) != 0 for p in near]
    return csr_array(np.logical_or.reduce(found).astype(centre.dtype))


__all__ = ["Compressed", "color", "jacobian_sparsity", "sparse_jacobian"]
