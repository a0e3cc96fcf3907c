"""Factorizations by elimination: Cholesky, LU with pivots, Householder's QR; solving with them.

Source: Golub and Van Loan, "Matrix Computations", chapters 3 to 5. A loop over columns, each step of it array code,
batched over the leading dimensions; the state of a loop is real or complex.
"""

from __future__ import annotations

from typing import NamedTuple

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import eye, ones, zeros_like
from mlc.frontends.array.functions.elementwise import FUNCTIONS, broadcast, conj, real, where
from mlc.frontends.array.functions.positions import argmax
from mlc.frontends.array.functions.reductions import max, sum
from mlc.frontends.array.functions.shaping import broadcast_to
from mlc.frontends.array.linalg.matrices import adjoint, apply_matrix, counts, extent, outer_products, phase, squares
from mlc.frontends.array.selecting.taking import take_along_axis
from mlc.frontends.array.transforms.control import fori_loop


class Factors(NamedTuple):
    """``lu``: U above and L below the diagonal; ``rows`` [..., n]: which row of the matrix each one was; the sign of
    this permutation.
    """

    lu: Array
    rows: Array
    sign: Array


def cholesky_factor(x: Array) -> Array:
    """The lower triangular L of ``x = L L^H``, column by column; NaN where ``x`` is not positive definite."""
    n = extent(x, -1)
    line = counts(n)

    def column(j: Array, factor: Array) -> Array:
        rest = x[..., j] - apply_matrix(factor, conj(factor[..., j, :]))
        scaled = rest / FUNCTIONS["sqrt"](real(rest[..., j]))[..., None]
        below = where(line >= j, scaled, 0)
        return where(line == j, below[..., None], factor)

    return fori_loop(0, n, column, zeros_like(x))


def triangular_inverse(lower: Array) -> Array:
    """The inverse of a lower triangular matrix, row by row."""
    n = extent(lower, -1)
    line = counts(n)
    unit = broadcast_to(eye(n, dtype=lower.dtype), lower.shape)

    def row(i: Array, found: Array) -> Array:
        before = where(line < i, lower[..., i, :], 0)[..., None, :] @ found
        made = (unit[..., i, :][..., None, :] - before) / lower[..., i, i][..., None, None]
        return where((line == i)[:, None], made, found)

    return fori_loop(0, n, row, zeros_like(lower))


def lu_factors(x: Array) -> Factors:
    """Gaussian elimination; each step exchanges two rows, so that the pivot is the largest of its column."""
    n = extent(x, -1)
    line = counts(n)

    def step(k: Array, state: Factors) -> Factors:
        size = where(line >= k, FUNCTIONS["abs"](state.lu[..., k]), -1)
        pivot = argmax(size, axis=-1)[..., None]
        order = where(line == k, pivot, where(line == pivot, k, line))
        lu = take_along_axis(state.lu, order[..., None], axis=-2)
        sign = where(pivot[..., 0] == k, state.sign, -state.sign)
        return Factors(_eliminated(lu, k, line), take_along_axis(state.rows, order, axis=-1), sign)

    start = Factors(x, broadcast_to(line, x.shape[:-1]), ones(x.shape[:-2], dtype=x.dtype))
    return fori_loop(0, n, step, start)


def _eliminated(lu: Array, k: Array, line: Array) -> Array:
    """Row ``k`` times a factor subtracted from each row after it; the factors are kept in column ``k``."""
    pivot, column = lu[..., k, k][..., None], lu[..., k]
    factors = where((line > k) & (pivot != 0), column / where(pivot == 0, 1, pivot), 0)
    rest = lu - factors[..., None] * where(line > k, lu[..., k, :], 0)[..., None, :]
    return where((line > k)[:, None] & (line == k), factors[..., None], rest)


def solve_factored(factors: Factors, b: Array) -> Array:
    """``x`` of ``a x = b`` [..., n, m] from the factors of ``a``: forward and backward substitution."""
    lu, n = factors.lu, extent(factors.lu, -1)
    line = counts(n)
    outer = broadcast(lu.shape[:-2], b.shape[:-2])
    at = broadcast_to(factors.rows[..., None], (*outer, n, b.shape[-1]))
    given = take_along_axis(broadcast_to(b, at.shape), at, axis=-2)

    def forward(i: Array, y: Array) -> Array:
        row = where(line < i, lu[..., i, :], 0)[..., None, :]
        return where((line == i)[:, None], given[..., i, :][..., None, :] - row @ y, y)

    lower = fori_loop(0, n, forward, zeros_like(given))

    def backward(step: Array, x: Array) -> Array:
        i = n - 1 - step
        row = where(line > i, lu[..., i, :], 0)[..., None, :]
        rest = lower[..., i, :][..., None, :] - row @ x
        return where((line == i)[:, None], rest / lu[..., i, i][..., None, None], x)

    return fori_loop(0, n, backward, zeros_like(given))


def householder(x: Array) -> tuple[Array, Array]:
    """Q [..., m, m] and R [..., m, n]: a reflection for each column makes it zero below the diagonal."""
    m, n = extent(x, -2), extent(x, -1)
    line = counts(m)
    start = broadcast_to(eye(m, dtype=x.dtype), (*x.shape[:-1], m))

    def reflect(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        q, r = state
        v = reflector(where(line >= k, r[..., k], 0), k, line)
        weight = sum(squares(v), axis=-1)
        scale = where(weight == 0, 0, 2 / where(weight == 0, 1, weight))[..., None, None]
        r = r - outer_products(v, apply_matrix(adjoint(r), v)) * scale
        return q - outer_products(apply_matrix(q, v), v) * scale, r

    if x.shape[-2] == 0 or x.shape[-1] == 0:
        return start, x
    return fori_loop(0, m if m < n else n, reflect, (start, x))


def reflector(column: Array, k: Array, line: Array) -> Array:
    """The normal, of any length, of the reflection that moves ``column`` to axis ``k``; scaled against overflow."""
    top = max(FUNCTIONS["abs"](column), axis=-1)[..., None]
    scaled = column / where(top == 0, 1, top)
    length = FUNCTIONS["sqrt"](sum(squares(scaled), axis=-1))
    return scaled + where(line == k, (phase(scaled[..., k]) * length)[..., None], 0)
