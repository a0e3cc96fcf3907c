"""Factors of a banded matrix that are kept, and systems with the matrix and its transpose.

Source: Golub and Van Loan, "Matrix computations", 2013, 4.3. Step j looks at rows j to j + l: it exchanges two of them
and subtracts multiples of the first from the others. ``A = M1⁻¹ … Mn⁻¹ U``, so a system with the transpose undoes the
steps from the last one to the first.
"""

from __future__ import annotations

from typing import NamedTuple

import mlc.numpy as mnp
from mlc.frontends.array.array import Array
from mlc.frontends.array.transforms.control import scan


class BandFactors(NamedTuple):
    """``upper`` [n, l + u + 1]: the rows of U, each from its diagonal on; ``multiples`` [n, l] and ``pivots`` [n] of
    the steps."""

    upper: Array
    multiples: Array
    pivots: Array


def factored(rows: Array, lower: int) -> BandFactors:
    """The factors of ``rows`` [n, l + u + 1]: of each row the columns from l before the diagonal to u after it."""
    n, width = (int(extent) for extent in rows.shape)  # type: ignore[arg-type]
    whole = mnp.concat([rows, mnp.zeros((lower + 1, width), dtype=rows.dtype)])
    first = [_moved(whole[i], lower - i) for i in range(lower + 1)]

    def column(window: Array, row: Array) -> tuple[Array, tuple[Array, Array, Array]]:
        pivot = mnp.argmax(mnp.abs(window[:, 0]))
        window = window[_exchanged(pivot, lower + 1)]
        multiples = window[1:, 0] / window[0, 0]
        below = window[1:, 1:] - multiples[:, None] * window[:1, 1:]
        moved = mnp.concat([below, mnp.zeros((lower, 1), rows.dtype)], axis=1)
        return mnp.concat([moved, row[None]]), (window[0], multiples, pivot)

    found: tuple[Array, Array, Array] = scan(column, mnp.stack(first), whole[lower + 1 : n + lower + 1])[1]
    return BandFactors(*found)


def _moved(row: Array, by: int) -> Array:
    return mnp.concat([row[by:], mnp.zeros((by,), row.dtype)]) if by else row


def _exchanged(pivot: Array, count: int) -> Array:
    """Positions 0 and ``pivot`` exchanged, of ``count``."""
    line = mnp.arange(count)
    return mnp.where(line == 0, pivot, mnp.where(line == pivot, 0, line))


def solved(factors: BandFactors, right: Array) -> Array:
    """``x`` [n, m] of ``A x = b``."""
    lower, reach = int(factors.multiples.shape[1]), int(factors.upper.shape[1]) - 1  # type: ignore[arg-type]
    padded = _padded(right, lower + 1)

    def step(window: Array, each: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        multiples, pivot, row = each
        window = window[_exchanged(pivot, lower + 1)]
        below = window[1:] - multiples[:, None] * window[:1]
        return mnp.concat([below, row[None]]), window[0]

    y = scan(step, padded[: lower + 1], (factors.multiples, factors.pivots, padded[lower + 1 :]))[1]

    def row(after: Array, each: tuple[Array, Array]) -> tuple[Array, Array]:
        upper, side = each
        x = (side - upper[1:] @ after) / upper[0]
        return mnp.concat([x[None], after])[:reach], x

    start = mnp.zeros((reach, right.shape[1]), dtype=right.dtype)
    found: Array = scan(row, start, (factors.upper, y), reverse=True)[1]
    return found


def solved_transposed(factors: BandFactors, right: Array) -> Array:
    """``x`` [n, m] of ``Aᵀ x = b``."""
    lower, reach = int(factors.multiples.shape[1]), int(factors.upper.shape[1]) - 1  # type: ignore[arg-type]
    n, padded = int(right.shape[0]), _padded(right, reach + 1)  # type: ignore[arg-type]

    def column(window: Array, each: tuple[Array, Array]) -> tuple[Array, Array]:
        upper, entering = each
        z = window[0] / upper[0]
        return mnp.concat([window[1:] - upper[1:, None] * z[None], entering[None]]), z

    z = scan(column, padded[: reach + 1], (factors.upper, padded[reach + 1 :]))[1]

    def step(window: Array, each: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        multiples, pivot, value = each
        both = mnp.concat([(value - multiples @ window)[None], window])[_exchanged(pivot, lower + 1)]
        return both[:lower], both[lower]

    start = mnp.zeros((lower, right.shape[1]), dtype=right.dtype)
    first, rest = scan(step, start, (factors.multiples, factors.pivots, z), reverse=True)
    return mnp.concat([first, rest])[:n]


def _padded(right: Array, count: int) -> Array:
    return mnp.concat([right, mnp.zeros((count, right.shape[1]), right.dtype)])
