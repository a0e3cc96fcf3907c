"""Factors that are kept, and systems that are solved with them, as SciPy names them. Source: ``jax.scipy.linalg``.

All are batched over the leading dimensions; ``overwrite_a``, ``check_finite`` and the like of SciPy are not there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.compositions.arranging import ravel
from mlc.frontends.array.functions.creation import eye, tril, triu
from mlc.frontends.array.functions.elementwise import conj, convert, operands, where
from mlc.frontends.array.functions.positions import argmax
from mlc.frontends.array.functions.shaping import broadcast_to, moveaxis, reshape
from mlc.frontends.array.linalg.closed_forms import factor
from mlc.frontends.array.linalg.decompositions import inv, solve
from mlc.frontends.array.linalg.factors import Factors, lu_factors, solve_factored, triangular_solution
from mlc.frontends.array.linalg.matrices import adjoint, counts, extent, matrices
from mlc.frontends.array.selecting.taking import take_along_axis
from mlc.frontends.array.transforms.control import fori_loop

TRANS = {0: "N", 1: "T", 2: "C", "N": "N", "T": "T", "C": "C"}


def solve_triangular(
    a: Any, b: Any, /, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False
) -> Array:
    """``x`` of ``a x = b`` from one triangle of ``a`` [..., n, n]; ``b`` is a vector [n] or [..., n, m].

    ``trans`` 1 (``T``) and 2 (``C``) solve with the transposed and the adjoint matrix; with ``unit_diagonal`` the
    diagonal counts as 1. A 0 on the diagonal gives infinities and NaN.

    Raises:
        InputError: ``a`` is not square, ``b`` has another number of rows, or another ``trans``.
    """
    left, right, vector = _system("solve_triangular", a, b)
    how = _transposition(trans)
    matrix = conj(left) if how == "C" else left
    found = triangular_solution(matrix, right, lower=bool(lower), unit=bool(unit_diagonal), transposed=how != "N")
    return found[..., 0] if vector else found


def cho_factor(a: Any, /, lower: bool = False) -> tuple[Array, bool]:
    """A Cholesky factor for ``cho_solve``, and whether it is the lower one; the other triangle is 0."""
    given = matrices("cho_factor", a, square=True)
    found = factor((given + adjoint(given)) / 2)
    return (found if lower else adjoint(found)), bool(lower)


def cho_solve(c_and_lower: tuple[Any, bool], b: Any, /) -> Array:
    """``x`` of ``a x = b`` from the factor of ``a`` that ``cho_factor`` gives."""
    c, lower = c_and_lower
    given = as_array(c)
    below = given if lower else adjoint(given)
    return solve_triangular(below, solve_triangular(below, b, lower=True), trans="C", lower=True)


def lu_factor(a: Any, /) -> tuple[Array, Array]:
    """L (below the diagonal, which is 1) and U in one matrix, and the row [..., n] that each row was exchanged with."""
    found = lu_factors(matrices("lu_factor", a, square=True))
    return found.lu, _exchanges(found.rows)


def lu_solve(lu_and_piv: tuple[Any, Any], b: Any, /, trans: int | str = 0) -> Array:
    """``x`` of ``a x = b`` from what ``lu_factor`` gives of ``a``; ``trans`` as ``solve_triangular``."""
    lu, right, vector = _system("lu_solve", lu_and_piv[0], b)
    how, rows = _transposition(trans), _order(as_array(lu_and_piv[1]))
    if how == "N":
        found = solve_factored(Factors(lu, rows), right)
        return found[..., 0] if vector else found
    matrix = conj(lu) if how == "C" else lu
    above = triangular_solution(matrix, right, lower=False, transposed=True)
    exchanged = triangular_solution(matrix, above, lower=True, unit=True, transposed=True)
    back = where(rows[..., None, :] == counts(extent(lu, -1))[:, None], 1, 0)
    found = convert(back, exchanged.element) @ exchanged
    return found[..., 0] if vector else found


def lu(a: Any, /, permute_l: bool = False) -> tuple[Array, ...]:
    """P, L and U of ``a = P L U`` [..., n, n]; with ``permute_l`` the product P L, and U."""
    given = matrices("lu", a, square=True)
    found, n = lu_factors(given), extent(given, -1)
    lower = tril(found.lu, k=-1) + eye(n, dtype=found.lu.dtype)
    moved = where(counts(n)[:, None] == found.rows[..., None, :], 1, 0)
    permutation = convert(moved, "f64" if given.element in ("f64", "c128") else "f32")
    upper = triu(found.lu)
    return (convert(permutation, lower.element) @ lower, upper) if permute_l else (permutation, lower, upper)


def tensorinv(a: Any, /, ind: int = 2) -> Array:
    """The inverse of the matrix that the first ``ind`` and the other dimensions of ``a`` are, with these exchanged."""
    given = as_array(a)
    rows = math.prod(given.shape[:ind])
    found = inv(reshape(given, (rows, -1)))
    return reshape(found, (*given.shape[ind:], *given.shape[:ind]))


def tensorsolve(a: Any, b: Any, /, axes: Sequence[int] | None = None) -> Array:
    """``x`` of ``tensordot(a, x) = b``; the ``axes`` of ``a`` are moved to its end first."""
    left, right = operands(a, b)
    left = left if axes is None else moveaxis(left, tuple(axes), tuple(range(left.ndim - len(axes), left.ndim)))
    shape = left.shape[right.ndim :]
    return reshape(solve(reshape(left, (-1, math.prod(shape))), ravel(right)), shape)


def _system(name: str, a: Any, b: Any) -> tuple[Array, Array, bool]:
    """Both operands as one type, the second as columns, and whether it was a vector."""
    left, right = operands(a, b)
    left, right = operands(matrices(name, left, square=True), right)
    vector = right.ndim == 1
    columns = right[:, None] if vector else right
    if columns.ndim < 2 or columns.shape[-2] != left.shape[-1]:
        raise InputError(
            f"{name} cannot take the shapes {left.shape} and {right.shape}", hint="They need equal numbers of rows"
        )
    return left, columns, vector


def _transposition(trans: int | str) -> str:
    if trans not in TRANS:
        raise InputError(
            f"There is no trans {trans!r}", hint="Give 0 (N), 1 (T: transposed) or 2 (C: transposed and conjugated)"
        )
    return TRANS[trans]


def _exchanges(rows: Array) -> Array:
    """LAPACK's pivots of an order of rows: step k exchanges row k with row ``pivots[k]``."""
    line = counts(extent(rows, -1))

    def step(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        at = argmax(state[0] == rows[..., k][..., None], axis=-1)[..., None]
        return _exchanged(state[0], k, at, line), where(line == k, at, state[1])

    start = broadcast_to(line, rows.shape)
    return convert(fori_loop(0, extent(rows, -1), step, (start, start))[1], "i32")


def _order(pivots: Array) -> Array:
    line, wide = counts(extent(pivots, -1)), convert(pivots, "i64")
    start = broadcast_to(line, wide.shape)
    return fori_loop(0, extent(wide, -1), lambda k, order: _exchanged(order, k, wide[..., k][..., None], line), start)


def _exchanged(order: Array, k: Array, at: Array, line: Array) -> Array:
    moved = where(line == k, at, where(line == at, k, line))
    return take_along_axis(order, broadcast_to(moved, order.shape), axis=-1)
