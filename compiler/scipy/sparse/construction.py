"""Sparse matrices that are made of few numbers. Source: ``scipy.sparse`` functions of these names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import as_array
from mlc.scipy.sparse.compressed import Sparse, csr_array


def eye_array(m: int, n: int | None = None, k: int = 0, dtype: Any = float) -> csr_array:
    """Ones on diagonal ``k`` of [m, n]."""
    width = m if n is None else n
    rows = np.arange(max(0, -k), max(0, min(m, width - k)))
    return csr_array((mnp.ones((len(rows),), dtype=dtype), (rows, rows + k)), (m, width))


def diags_array(diagonals: Sequence[Any], offsets: Sequence[int] = (0,), shape: tuple[int, int] | None = None) -> Any:
    """The matrix with these diagonals, vectors or numbers that are repeated, each above the main one by its offset.

    ``shape``: by default square and as large as the first diagonal needs. The values have derivatives.

    Raises:
        InputError: another number of offsets, or a diagonal of another length than its place has.
    """
    given = [as_array(each) for each in diagonals]
    if len(given) != len(offsets):
        what = f"{len(given)} diagonals cannot be placed at {len(offsets)} offsets"
        raise InputError(what, hint="Give one offset for each diagonal")
    size = int(given[0].shape[0] if given[0].ndim else 1) + abs(offsets[0])  # type: ignore[arg-type]
    wanted = (size, size) if shape is None else shape
    data, rows, columns = [], [], []
    for each, offset in zip(given, offsets, strict=True):
        at = np.arange(max(0, -offset), max(0, min(wanted[0], wanted[1] - offset)))
        if each.ndim > 1 or (each.ndim == 1 and each.shape[0] != len(at)):
            what = f"A diagonal of shape {list(each.shape)} does not fit offset {offset} of a matrix {list(wanted)}"
            raise InputError(what, hint=f"Give {len(at)} numbers, or one")
        data.append(mnp.broadcast_to(each, (len(at),)))
        rows.append(at)
        columns.append(at + offset)
    return csr_array((mnp.concat(data), (np.concatenate(rows), np.concatenate(columns))), wanted)


def issparse(x: Any) -> bool:
    """Whether ``x`` is a sparse matrix of this package."""
    return isinstance(x, Sparse)
