"""Systems of equations with banded matrices.

Source: Golub and Van Loan, "Matrix computations", 2013, 4.3; the layout of the band is that of ``scipy.linalg``.

Elimination with exchanges of rows looks at ``lower + 1`` rows at a time: a window of them is the state of a loop over
columns, of which each adds one row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.control import scan


def solve_banded(l_and_u: tuple[int, int], ab: Any, b: Any) -> Array:
    """``x`` of ``a x = b`` for a matrix [n, n] with so many diagonals below and above the main one.

    ``ab`` [l + u + 1, n] has the diagonals as rows, the highest first: ``ab[u + i - j, j] = a[i, j]``. ``b`` is [n] or
    [n, m]: many right sides are solved together. Work and memory are of n (l + 1) (l + u + m) numbers. A singular
    matrix gives infinities and NaN. Derivatives are by ``ab`` and ``b``.

    Raises:
        InputError: shapes that do not fit.
    """
    lower, upper = l_and_u
    band, right = as_array(ab), as_array(b)
    fits = band.ndim == 2 and band.shape[0] == lower + upper + 1 and band.shape[1:] == right.shape[:1]
    if not fits or right.ndim not in (1, 2):
        what = f"solve_banded cannot take {lower} and {upper} diagonals as {list(band.shape)}, and {list(right.shape)}"
        raise InputError(what, hint="Give ab [l + u + 1, n] and b [n] or [n, m]")
    kind = np.result_type(band.dtype, right.dtype, np.float32)
    rows = _rows(band.astype(kind), lower, upper)
    columns = (right if right.ndim == 2 else right[:, None]).astype(kind)
    found = _substituted(*_eliminated(rows, columns, lower), lower + upper)
    return found if right.ndim == 2 else found[:, 0]


def solveh_banded(ab: Any, b: Any, lower: bool = False) -> Array:
    """``x`` of ``a x = b`` for a symmetric matrix [n, n], of which ``ab`` [u + 1, n] has the upper diagonals, or with
    ``lower`` the lower ones: ``ab[u + i - j, j] = a[i, j]``, or ``ab[i - j, j] = a[i, j]``; ``b`` as ``solve_banded``.

    Raises:
        InputError: shapes that do not fit.
    """
    band = as_array(ab)
    if band.ndim != 2:
        raise InputError(f"A band of shape {list(band.shape)} has no diagonals as rows", hint="Give ab [u + 1, n]")
    count, n = (int(e) for e in band.shape)  # type: ignore[arg-type]
    below = [_shifted(band[k] if lower else band[count - 1 - k], 0 if lower else k, n) for k in range(count)]
    above = [_shifted(below[k], -k, n) for k in range(count - 1, 0, -1)]
    return solve_banded((count - 1, count - 1), mnp.stack([*above, *below]), b)


def _shifted(x: Array, by: int, n: int) -> Array:
    """``x[j + by]`` at j, 0 outside."""
    zeros = mnp.zeros((abs(by),), dtype=x.dtype)
    return mnp.concat([x[by:], zeros] if by >= 0 else [zeros, x[:by]])[:n]


def _rows(band: Array, lower: int, upper: int) -> Array:
    """[n, l + u + 1]: of each row the columns from l before the diagonal to u after it."""
    n = int(band.shape[1])  # type: ignore[arg-type]
    parts = [_shifted(band[upper + lower - k], k - lower, n) if abs(k - lower) <= n else band[0] * 0
             for k in range(lower + upper + 1)]  # fmt: skip
    return mnp.stack(parts, axis=1)


def _eliminated(rows: Array, right: Array, lower: int) -> tuple[Array, Array]:
    """Rows [n, l + u + 1] of the upper factor, each from its diagonal on, and the right sides [n, m] with them."""
    width, n = int(rows.shape[1]), int(rows.shape[0])  # type: ignore[arg-type]
    extra = mnp.zeros((lower + 1, width), dtype=rows.dtype)
    whole, sides = mnp.concat([rows, extra]), mnp.concat([right, mnp.zeros((lower + 1, right.shape[1]), right.dtype)])
    first = [mnp.concat([whole[i][lower - i :], mnp.zeros((lower - i,), rows.dtype)]) for i in range(lower + 1)]
    line = mnp.arange(lower + 1)

    def column(state: tuple[Array, Array], row: tuple[Array, Array]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        window, beside = state
        pivot = mnp.argmax(mnp.abs(window[:, 0]))
        order = mnp.where(line == 0, pivot, mnp.where(line == pivot, 0, line))
        window, beside = window[order], beside[order]
        factors = window[1:, :1] / window[:1, :1]
        below, rest = window[1:] - factors * window[:1], beside[1:] - factors * beside[:1]
        moved = mnp.concat([below[:, 1:], mnp.zeros((lower, 1), rows.dtype)], axis=1)
        after = mnp.concat([moved, row[0][None]]), mnp.concat([rest, row[1][None]])
        return after, (window[0], beside[0])

    entering = whole[lower + 1 :], sides[lower + 1 :]
    found: tuple[Array, Array] = scan(column, (mnp.stack(first), sides[: lower + 1]), entering)[1]
    assert found[0].shape[0] == n
    return found


def _substituted(upper: Array, right: Array, reach: int) -> Array:
    """The solution [n, m], from the last row to the first."""

    def row(after: Array, each: tuple[Array, Array]) -> tuple[Array, Array]:
        factors, side = each
        x = (side - factors[1:] @ after) / factors[0]
        return mnp.concat([x[None], after])[:reach], x

    start = mnp.zeros((reach, right.shape[1]), dtype=right.dtype)
    found: Array = scan(row, start, (upper, right), reverse=True)[1]
    return found
