"""Where the values of a sparse matrix are: indices and pointers, known while a function is traced or not."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array

Structure = tuple[Array, Array, Array]
"""Minor indices [nnz], pointers [major extent + 1], major indices [nnz]."""
Known = np.ndarray[Any, Any]


def structure(
    given: Any, shape: tuple[int, int] | None, by_rows: bool, name: str
) -> tuple[Any, Structure, tuple[int, int]]:
    """Values, structure and shape of what a constructor is given."""
    if hasattr(given, "coords") or hasattr(given, "tocoo"):
        return _of_sparse(given, by_rows)
    if isinstance(given, tuple) and len(given) == 3:
        return _of_pointers(given, _shape(shape, name), by_rows, name)
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], tuple | list):
        return _of_coordinates(given[0], given[1], _shape(shape, name), by_rows, name)
    dense = as_array(given)
    if dense.ndim != 2:
        hint = "Give a matrix, (data, indices, indptr) or (data, (rows, columns)) with shape="
        raise InputError(f"{name} cannot be made of an array of shape {list(dense.shape)}", hint=hint)
    at = np.nonzero(known(dense, name))
    return _of_coordinates(dense[at], at, tuple(map(int, dense.shape)), by_rows, name)  # type: ignore[arg-type]


def _of_sparse(given: Any, by_rows: bool) -> tuple[Any, Structure, tuple[int, int]]:
    if hasattr(given, "by_rows"):
        made = given.tocsr() if by_rows else given.tocsc()
        return made.data, (made.indices, made.indptr, made.major), made.shape
    coo = given.tocoo()
    return _of_coordinates(coo.data, (coo.row, coo.col), coo.shape, by_rows, "")


def _shape(shape: Any, name: str) -> tuple[int, int]:
    if shape is None or len(shape) != 2:
        raise InputError(f"{name} of parts has no known shape", hint="Give shape=(rows, columns)")
    rows, columns = (operator.index(n) for n in shape)
    return rows, columns


def _of_pointers(
    parts: tuple[Any, ...], shape: tuple[int, int], by_rows: bool, name: str
) -> tuple[Any, Structure, tuple[int, int]]:
    data, indices, indptr = (as_array(x) for x in parts)
    major, minor = shape if by_rows else shape[::-1]
    if indptr.shape != (major + 1,) or indices.shape != data.shape or data.ndim != 1:
        shapes = ", ".join(str(list(x.shape)) for x in (data, indices, indptr))
        what = f"{name} of shape {list(shape)} cannot have data, indices and indptr of shapes {shapes}"
        raise InputError(what, hint=f"Give [nnz], [nnz] and [{major + 1}]")
    _check_inside(indices, minor, name)
    if not indptr.traced and (np.any(np.diff(indptr.numpy()) < 0) or indptr.numpy()[-1] != data.shape[0]):
        raise InputError(f"The pointers of {name} do not rise from 0 to {data.shape[0]}", hint="Check indptr")
    return data, (indices, indptr, _major(indptr, int(data.shape[0]))), shape  # type: ignore[arg-type]


def _major(indptr: Array, count: int) -> Array:
    if not indptr.traced:
        pointers = indptr.numpy()
        return as_array(np.repeat(np.arange(len(pointers) - 1, dtype=pointers.dtype), np.diff(pointers)))
    return (mnp.searchsorted(indptr, mnp.arange(count, dtype=indptr.dtype), side="right") - 1).astype(indptr.dtype)


def _of_coordinates(
    data: Any, at: Any, shape: tuple[int, int], by_rows: bool, name: str
) -> tuple[Any, Structure, tuple[int, int]]:
    rows, columns = (known(x, name) for x in at)
    for each, extent in ((rows, shape[0]), (columns, shape[1])):
        _check_inside(as_array(each), extent, name)
    values = as_array(data)
    if not rows.shape == columns.shape == tuple(values.shape) or rows.ndim != 1:
        shapes = ", ".join(str(list(x.shape)) for x in (values, rows, columns))
        raise InputError(f"{name} cannot have data, rows and columns of shapes {shapes}", hint="Give three of [nnz]")
    (rows, columns), where = merged(np.stack([rows, columns]), shape)
    if len(rows) < len(where) or np.any(where != np.arange(len(where))):
        values = mnp.zeros((len(rows),), dtype=values.dtype).at[where].add(values)
    order = np.arange(len(rows)) if by_rows else np.argsort(columns, kind="stable")
    major, minor = (rows, columns) if by_rows else (columns, rows)
    extent = shape[0 if by_rows else 1]
    pointers = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=extent))])
    parts = (minor[order], pointers, major[order])
    values = values if by_rows else values[order]
    indices, indptr, majors = (as_array(x.astype(np.int64)) for x in parts)
    return values, (indices, indptr, majors), (int(shape[0]), int(shape[1]))


def compressed(major: Array, minor: Array, extent: int) -> Structure:
    """The structure of entries that are sorted by ``major``."""
    numbers = mnp.arange(extent + 1, dtype=major.dtype)
    return minor, mnp.searchsorted(major, numbers, side="left").astype(major.dtype), major


def _check_inside(indices: Array, extent: int, name: str) -> None:
    if indices.traced or not indices.shape[0]:
        return
    values = indices.numpy()
    if values.min() < 0 or values.max() >= extent:
        wrong = int(values.max() if values.max() >= extent else values.min())
        raise InputError(f"{name}: index {wrong} is outside of a dimension of {extent}", hint="Count from 0")


def known(x: Any, name: str) -> Known:
    """The elements of an array.

    Raises:
        InputError: it depends on an argument of a function that is traced.
    """
    given = as_array(x)
    if given.traced:
        hint = "Make the matrix outside of the traced function, and pass its values: A.with_data(values)"
        raise InputError(f"The positions of {name or 'a sparse matrix'} are not known while a function is traced",
                         hint=hint)  # fmt: skip
    return given.numpy()


def known_entries(matrix: Any) -> Known:
    """[2, nnz]: rows and columns of the entries."""
    return np.stack([known(x, type(matrix).__name__) for x in matrix.coords])


def merged(coords: Known, shape: tuple[int, int]) -> tuple[Known, Known]:
    """The different positions [2, n] in the order of rows, and which of them each entry has."""
    flat = coords[0].astype(np.int64) * shape[1] + coords[1]
    different, at = np.unique(flat, return_inverse=True)
    return np.stack(np.divmod(different, max(shape[1], 1))), at.reshape(-1)


def product_entries(left: Any, right: Any) -> tuple[Known, Known, Known]:
    """Pairs of entries of two matrices by rows that are multiplied, and rows and columns [2, n] of their products."""
    rows, middles = known_entries(left)
    columns, pointers = (known(x, "csr_array") for x in (right.indices, right.indptr))
    counts = np.diff(pointers)[middles]
    first = np.repeat(np.arange(len(middles)), counts)
    within = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    second = pointers[middles][first] + within
    return first, second, np.stack([rows[first], columns[second]])
