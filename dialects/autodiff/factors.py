"""Derivatives of factorizations in closed form, as triangular systems and products.

Source: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008);
Murray, "Differentiation of the Cholesky decomposition" (2016).
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from mlc.dialects.autodiff.emitting import Adjoints, Emit, computed, cut, filled
from mlc.dialects.autodiff.operators import derivative
from mlc.dialects.graph import CholeskyOp, ContractOp, LuOp, ReshapeOp, ScatterOp, TransposeOp, TriangularSolveOp
from mlc.dialects.types import element_of, shape_of


@derivative(TriangularSolveOp)
def of_triangular_solve(op: TriangularSolveOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """The adjoint of ``b`` solves the transposed system; that of the matrix is minus the outer product of this solution
    with the result, within the triangle."""
    lower, unit, transposed = op.flags
    right = emit(TriangularSolveOp(op.matrix, bar, lower, unit, not transposed))
    factors = (op.result, right) if transposed else (right, op.result)
    outer = emit(ContractOp("bik,bjk->bij", *factors))
    return [_masked(emit, outer, f"{'i1 - i2' if lower else 'i2 - i1'} >= {int(unit)}", "-x0[i0, i1, i2]"), right]


@derivative(CholeskyOp)
def of_cholesky(op: CholeskyOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """The adjoint of the matrix is ``S + S^T`` with its diagonal halved, where ``S = L^-T Φ(L^T bar) L^-1`` and Φ
    halves the diagonal and sets the elements above it to 0."""
    factor = op.result
    product = emit(ContractOp("bki,bkj->bij", factor, _masked(emit, bar, "i1 >= i2")))
    half = _masked(emit, product, "i1 >= i2", "where(i1 == i2, x0[i0, i1, i2] / 2, x0[i0, i1, i2])")
    left = emit(TriangularSolveOp(factor, half, True, False, True))
    both = emit(TriangularSolveOp(factor, emit(TransposeOp(left, [0, 2, 1])), True, False, True))  # S^T
    sums = "where(i1 == i2, x0[i0, i1, i2], x0[i0, i1, i2] + x0[i0, i2, i1])"
    return [_masked(emit, both, "i1 >= i2", sums)]


@derivative(LuOp)
def of_lu(op: LuOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """The adjoint of the matrix is ``P^T L^-T (tril(L^T bar_L) + triu(bar_U U^T)) U^-T``, where tril is the strict
    lower triangle."""
    count, n, _ = shape = shape_of(op.input)
    none, ones = [0, 0, 0], [1, 1, 1]
    lu, along = (cut(emit, x, none, shape, ones) for x in (op.result, bar))
    below = "where(i1 == i2, 1, where(i1 > i2, x0[i0, i1, i2], 0))"
    lower, upper = computed(emit, below, [lu], shape), _masked(emit, lu, "i1 <= i2")
    of_lower = emit(ContractOp("bki,bkj->bij", lower, _masked(emit, along, "i1 > i2")))
    of_upper = emit(ContractOp("bik,bjk->bij", _masked(emit, along, "i1 <= i2"), upper))
    middle = computed(emit, "where(i1 > i2, x0[i0, i1, i2], x1[i0, i1, i2])", [of_lower, of_upper], shape)
    left = emit(TriangularSolveOp(lu, middle, True, True, True))
    both = emit(TriangularSolveOp(lu, emit(TransposeOp(left, [0, 2, 1])), False, False, False))  # transposed
    order = emit(ReshapeOp(cut(emit, op.result, [0, n, 0], (count, 1, n), ones), (count * n,)))
    at = computed(emit, f"i64(x0[i0]) + i0 // max({n}, 1) * ({n})", [order], (count * n,))
    rows = emit(ReshapeOp(emit(TransposeOp(both, [0, 2, 1])), (count * n, n)))
    start = filled(emit, 0, element_of(bar), (count * n, n))
    return [emit(ReshapeOp(emit(ScatterOp("none", start, at, rows)), shape))]


def _masked(emit: Emit, x: SSAValue, where: str, value: str = "x0[i0, i1, i2]") -> SSAValue:
    """Emit ``value`` of ``x`` [N, n, n] where the condition ``where`` on i1 and i2 holds, and 0 elsewhere."""
    return computed(emit, f"where({where}, {value}, 0)", [x], shape_of(x))
