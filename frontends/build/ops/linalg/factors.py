"""Factors of matrices [.., n, n] and triangular systems in f32 or f64, by runtime functions."""

from __future__ import annotations

from mlc.dialects.graph import CholeskyOp, LuOp, TriangularSolveOp
from mlc.dialects.semantics.dims import product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


def cholesky(build: Builder, x: Tensor) -> Tensor:
    """The lower triangular L of ``x = L L^T``; only the lower triangle of ``x`` is read."""
    return build.reshape(build.emit(CholeskyOp(build.value(_rows(build, x)))), x.shape)


def lu(build: Builder, x: Tensor) -> Tensor:
    """[.., n + 1, n]: L and U packed into one matrix, followed by a row that holds the pivoted order of the rows of
    ``x``.
    """
    found = build.emit(LuOp(build.value(_rows(build, x))))
    return build.reshape(found, (*x.shape[:-2], *found.shape[1:]))


def triangular_solve(build: Builder, a: Tensor, b: Tensor, lower: bool, unit: bool, transposed: bool) -> Tensor:
    """``x`` [.., n, m] of ``a x = b``, or of ``a^T x = b``; both have the same dimensions before the last two."""
    matrix, right = build.values(_rows(build, a), _rows(build, b))
    return build.reshape(build.emit(TriangularSolveOp(matrix, right, lower, unit, transposed)), b.shape)


def _rows(build: Builder, x: Tensor) -> Tensor:
    return build.reshape(x, (product(x.shape[:-2]), *x.shape[-2:]))
