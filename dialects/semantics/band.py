"""Band matrices: arrays that have one value on a band of diagonals and another one elsewhere, such as causal masks.

    [[0, -inf, -inf],        0 where -1 <= j - i <= 0, -inf elsewhere: a causal mask of a window of two keys
     [0,    0, -inf],    →
     [-inf, 0,    0]]

(Golub and Van Loan, Matrix Computations, 1.2: lower and upper bandwidth.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Band:
    """A band matrix: ``inside`` if ``lower <= j - i <= upper`` for row i and column j, else ``outside``; None is no
    bound."""

    lower: int | None
    upper: int | None
    inside: Any
    outside: Any

    def share(self, rows: int, columns: int) -> float:
        """Return the share of a matrix's elements that are inside the band."""
        first = np.arange(rows) + (self.lower if self.lower is not None else -rows)
        last = np.arange(rows) + (self.upper if self.upper is not None else columns)
        each = np.minimum(last, columns - 1) - np.maximum(first, 0) + 1
        return float(np.maximum(each, 0).sum() / (rows * columns))


def bands_of(array: np.ndarray[Any, Any]) -> list[Band]:
    """Return the ways to read an array of two values as a band matrix in its last two dimensions; none if it is no such
    matrix.

    Both values may be the inside: below a diagonal is one band, and above it another one.
    """
    shape = (1, 1, *array.shape)
    if array.size < 2 or array.size != shape[-2] * shape[-1]:
        return []
    matrix = array.reshape(shape[-2:])
    first = matrix.flat[0]
    is_first = matrix == first
    if not (is_first[0, 0] and (others := matrix[~is_first]).size and (others == others[0]).all()):
        return []
    found = [(is_first, first, others[0]), (~is_first, others[0], first)]
    return [Band(*b, i.item(), o.item()) for inside, i, o in found if (b := _bandwidths(inside)) is not None]


def _bandwidths(inside: np.ndarray[Any, Any]) -> tuple[int | None, int | None] | None:
    """Return the diagonals between which ``inside`` is true (None if they are beyond the matrix), or None if it is no
    band."""
    rows, columns = inside.shape
    some = np.flatnonzero(inside.any(1))
    lower = int((inside.argmax(1) - np.arange(rows))[some].min())
    upper = int((columns - 1 - inside[:, ::-1].argmax(1) - np.arange(rows))[some].max())
    if not np.array_equal(inside, np.tri(rows, columns, upper, bool) & ~np.tri(rows, columns, lower - 1, bool)):
        return None
    return (lower if lower > 1 - rows else None), (upper if upper < columns - 1 else None)
