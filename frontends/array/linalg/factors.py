"""Cholesky, LU and triangular systems of real matrices, each a graph operator; those of complex ones are loops
(``elimination.py``). 16-bit floats are factored in f32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mlc.frontends.array.array import Array, apply
from mlc.frontends.array.functions.elementwise import broadcast, convert, is_complex
from mlc.frontends.array.functions.reductions import sum
from mlc.frontends.array.functions.shaping import broadcast_to, matrix_transpose
from mlc.frontends.array.linalg import elimination
from mlc.frontends.array.linalg.matrices import counts
from mlc.frontends.array.selecting.taking import take_along_axis
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.linalg import factors
from mlc.frontends.build.tensors import Tensor

WIDE = {"f16": "f32", "bf16": "f32"}


class Factors(NamedTuple):
    """``lu``: U above and L below the diagonal; ``rows`` [..., n]: which row of the matrix each one was."""

    lu: Array
    rows: Array

    def sign(self) -> Array:
        """The sign of the permutation, as an integer, from the number of pairs in inverted order."""
        exchanged = self.rows[..., :, None] > self.rows[..., None, :]
        line = counts(self.rows.shape[-1])
        return 1 - 2 * (sum(exchanged & (line[:, None] < line), axis=(-2, -1)) % 2)


def cholesky_factor(x: Array) -> Array:
    """The lower triangular L of ``x = L L^H``; NaN where ``x`` is not positive definite."""
    if is_complex(x):
        return elimination.cholesky_factor(x)
    wide = convert(x, WIDE.get(x.element, x.element))
    return convert(apply(_cholesky, [wide], (), wide.element, wide.shape), x.element)


def lu_factors(x: Array) -> Factors:
    """Gaussian elimination with row pivots."""
    if is_complex(x):
        return Factors(*elimination.lu_factors(x))
    wide = convert(x, WIDE.get(x.element, x.element))
    *outer, n, _ = wide.shape
    found = apply(_lu, [wide], (), wide.element, (*outer, n + 1, n))
    return Factors(convert(found[..., :n, :], x.element), convert(found[..., n, :], "i64"))


def triangular_solution(a: Array, b: Array, *, lower: bool, unit: bool = False, transposed: bool = False) -> Array:
    """``x`` of ``a x = b`` [..., n, m], or of ``a^T x = b``, of one triangle of ``a``, broadcast over the leading
    dimensions; with ``unit`` the diagonal of ``a`` counts as 1."""
    if is_complex(a, b):
        return elimination.triangular_solution(matrix_transpose(a) if transposed else a, b, lower != transposed, unit)
    outer, element = broadcast(a.shape[:-2], b.shape[:-2]), WIDE.get(a.element, a.element)
    given = [convert(broadcast_to(x, (*outer, *x.shape[-2:])), element) for x in (a, b)]
    return convert(apply(_triangular, given, (lower, unit, transposed), element, given[1].shape), a.element)


def solve_factored(factors: Factors, b: Array) -> Array:
    """``x`` of ``a x = b`` [..., n, m] from the factors of ``a``."""
    lu, n = factors.lu, factors.lu.shape[-1]
    outer = broadcast(lu.shape[:-2], b.shape[:-2])
    rows = broadcast_to(factors.rows[..., None], (*outer, n, b.shape[-1]))
    given = broadcast_to(b, rows.shape)
    below = take_along_axis(given, rows, axis=-2)
    return triangular_solution(lu, triangular_solution(lu, below, lower=True, unit=True), lower=False)


def _cholesky(build: Builder, xs: Sequence[Tensor]) -> Tensor:
    return factors.cholesky(build, xs[0])


def _lu(build: Builder, xs: Sequence[Tensor]) -> Tensor:
    return factors.lu(build, xs[0])


def _triangular(build: Builder, xs: Sequence[Tensor], lower: bool, unit: bool, transposed: bool) -> Tensor:
    return factors.triangular_solve(build, xs[0], xs[1], lower, unit, transposed)
