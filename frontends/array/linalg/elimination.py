"""Loops over columns: Cholesky, LU with pivots and triangular systems of complex matrices; Householder's QR of all.

Source: Golub and Van Loan, "Matrix Computations", chapters 3 to 5. Each step is array code,
batched over the leading dimensions. Real matrices have graph operators for the first three (``factors.py``).
"""

from __future__ import annotations

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import eye, zeros_like
from mlc.frontends.array.functions.elementwise import FUNCTIONS, broadcast, conj, imag, real, where
from mlc.frontends.array.functions.positions import argmax
from mlc.frontends.array.functions.reductions import max, sum
from mlc.frontends.array.functions.shaping import broadcast_to
from mlc.frontends.array.linalg.matrices import adjoint, apply_matrix, counts, extent, outer_products, phase, squares
from mlc.frontends.array.selecting.taking import take_along_axis
from mlc.frontends.array.transforms.control import fori_loop


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


def triangular_solution(a: Array, b: Array, lower: bool, unit: bool) -> Array:
    """``x`` of ``a x = b`` [..., n, m], of one triangle of ``a``; with ``unit`` its diagonal counts as 1."""
    n = extent(a, -1)
    line = counts(n)
    given = broadcast_to(b, (*broadcast(a.shape[:-2], b.shape[:-2]), n, b.shape[-1]))

    def row(step: Array, x: Array) -> Array:
        i = step if lower else n - 1 - step
        known = where(line < i if lower else line > i, a[..., i, :], 0)[..., None, :] @ x
        rest = given[..., i, :][..., None, :] - known
        return where((line == i)[:, None], rest if unit else rest / a[..., i, i][..., None, None], x)

    return fori_loop(0, n, row, zeros_like(given))


def lu_factors(x: Array) -> tuple[Array, Array]:
    """Gaussian elimination, and the order of rows [..., n]: each step exchanges two, so that the pivot is the largest
    of its column, by the sum of magnitudes of both parts, as LAPACK's."""
    n = extent(x, -1)
    line = counts(n)

    def step(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        size = where(line >= k, sum_of_parts(state[0][..., k]), -1)
        pivot = argmax(size, axis=-1)[..., None]
        order = where(line == k, pivot, where(line == pivot, k, line))
        lu = take_along_axis(state[0], order[..., None], axis=-2)
        return _eliminated(lu, k, line), take_along_axis(state[1], order, axis=-1)

    return fori_loop(0, n, step, (x, broadcast_to(line, x.shape[:-1])))


def sum_of_parts(x: Array) -> Array:
    """|re| + |im|."""
    return FUNCTIONS["abs"](real(x)) + FUNCTIONS["abs"](imag(x))


def _eliminated(lu: Array, k: Array, line: Array) -> Array:
    """Row ``k`` times a factor subtracted from each row after it; the factors are kept in column ``k``."""
    pivot, column = lu[..., k, k][..., None], lu[..., k]
    factors = where((line > k) & (pivot != 0), column / where(pivot == 0, 1, pivot), 0)
    rest = lu - factors[..., None] * where(line > k, lu[..., k, :], 0)[..., None, :]
    return where((line > k)[:, None] & (line == k), factors[..., None], rest)


def householder(x: Array) -> tuple[Array, Array]:
    """Q [..., m, m] and R [..., m, n]: a reflection for each column makes it zero below the diagonal."""
    m, n = extent(x, -2), extent(x, -1)
    line = counts(m)
    start = broadcast_to(eye(m, dtype=x.dtype), (*x.shape[:-1], m))

    def reflect(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        q, r = state
        v = reflector(where(line >= k, r[..., k], 0), k, line)
        weight = sum(squares(v), axis=-1)
        below = max(FUNCTIONS["abs"](where(line > k, r[..., k], 0)), axis=-1)
        idle = (below == 0) & (imag(r[..., k, k]) == 0)  # where LAPACK reflects nothing
        scale = where((weight == 0) | idle, 0, 2 / where(weight == 0, 1, weight))[..., None, None]
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
