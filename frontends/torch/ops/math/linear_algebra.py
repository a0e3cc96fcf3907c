"""Linear algebra, real and complex, by that of arrays (``frontends/array/linalg``).

What torch raises for a singular matrix, or one that is not positive definite, is infinity or NaN here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import eye, tril, triu
from mlc.frontends.array.functions.elementwise import where
from mlc.frontends.array.functions.shaping import broadcast_to
from mlc.frontends.array.linalg import decompositions as linalg
from mlc.frontends.array.linalg.factors import Factors, lu_factors, solve_factored, triangular_solution
from mlc.frontends.array.linalg.matrices import adjoint, counts, extent
from mlc.frontends.array.selecting.taking import take_along_axis
from mlc.frontends.array.transforms.control import fori_loop
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.dtypes import Complex
from mlc.frontends.torch.ops.arrays import by_arrays
from mlc.frontends.torch.ops.math.complex import FORMULAS
from mlc.frontends.torch.registry import Call, Translation, aten


def matrix(*names: str) -> Callable[[Translation], Translation]:
    """Register a translation of operators of real and of complex matrices."""

    def register(function: Translation) -> Translation:
        FORMULAS.update(dict.fromkeys(names, function))
        return aten(*names)(function)

    return register


def _inverse(lower: Array) -> Array:
    """The inverse of a lower triangular matrix."""
    unit = broadcast_to(eye(extent(lower, -1), dtype=lower.dtype), lower.shape)
    return triangular_solution(lower, unit, lower=True)


def _batch(x: Any) -> Any:
    return (x.re if isinstance(x, Complex) else x).shape[:-2]


def _info(call: Call, x: Any) -> Tensor:
    """0 for each matrix: nothing is reported."""
    return call.build.broadcast(call.build.constant(0, "i32"), _batch(x))


@matrix("linalg_cholesky_ex")
def cholesky(call: Call, x: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    def factor(a: Array) -> Array:
        return linalg.cholesky(adjoint(a) if upper else a, upper=upper)

    return by_arrays(call.build, factor, x), _info(call, x)


@matrix("cholesky_solve")
def solve_by_cholesky(call: Call, b: Any, factor: Any, upper: bool = False) -> Any:
    def solved(b: Array, a: Array) -> Array:
        inverse = _inverse(adjoint(a) if upper else a)
        return adjoint(inverse) @ (inverse @ b)

    return by_arrays(call.build, solved, b, factor)


@matrix("cholesky_inverse")
def inverse_by_cholesky(call: Call, factor: Any, upper: bool = False) -> Any:
    def inverted(a: Array) -> Array:
        inverse = _inverse(adjoint(a) if upper else a)
        return adjoint(inverse) @ inverse

    return by_arrays(call.build, inverted, factor)


@matrix("linalg_inv_ex")
def inverse(call: Call, x: Any, *, check_errors: bool = False) -> Any:
    return by_arrays(call.build, linalg.inv, x), _info(call, x)


@matrix("_linalg_det")
def determinant(call: Call, x: Any) -> Any:
    """(determinant, LU, pivots)."""
    return by_arrays(call.build, lambda a: (linalg.det(a), *_lu(a)), x)


@matrix("_linalg_slogdet")
def log_determinant(call: Call, x: Any) -> Any:
    """(sign, logarithm, LU, pivots)."""
    return by_arrays(call.build, lambda a: (*linalg.slogdet(a), *_lu(a)), x)


@matrix("linalg_lu_factor_ex")
def lu_factor(call: Call, x: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    return [*by_arrays(call.build, _lu, _square(x, pivot)), _info(call, x)]


@matrix("linalg_lu")
def lu(call: Call, x: Any, *, pivot: bool = True) -> Any:
    """(P, L, U) of x = P L U."""

    def factored(a: Array) -> tuple[Array, Array, Array]:
        found, n = lu_factors(a), extent(a, -1)
        unit = eye(n, dtype=a.dtype)
        order = where(counts(n)[:, None] == found.rows[..., None, :], 1, unit * 0)
        return order, tril(found.lu, k=-1) + unit, triu(found.lu)

    return by_arrays(call.build, factored, _square(x, pivot))


@matrix("linalg_lu_solve")
def solve_by_lu(call: Call, lu: Any, pivots: Tensor, b: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    if not left or adjoint:
        raise NotSupported("a solution with factors from the right, or of the adjoint")
    return by_arrays(call.build, lambda f, p, b: solve_factored(Factors(f, _rows(p)), b), lu, pivots, b)


def _square(x: Any, pivot: bool) -> Any:
    shape = (x.re if isinstance(x, Complex) else x).shape
    if shape[-1] != shape[-2] or not pivot:
        raise NotSupported(f"factors of shape {list(shape)}, pivot={pivot}; only of square matrices, with pivots")
    return x


def _lu(x: Array) -> tuple[Array, Array]:
    """The factors, and the pivots as LAPACK has them: row k was exchanged with row pivots[k], from 1 on."""
    found = lu_factors(x)
    line = counts(extent(x, -1))

    def step(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        order, pivots = state
        at = _index(where(order == found.rows[..., k][..., None], line, 0))
        swapped = where(line == k, at, where(line == at, k, line))
        return take_along_axis(order, swapped, axis=-1), where(line == k, at + 1, pivots)

    start = broadcast_to(line, found.rows.shape)
    return found.lu, fori_loop(0, extent(x, -1), step, (start, start * 0))[1]


def _index(x: Array) -> Array:
    return x.sum(axis=-1)[..., None]


def _rows(pivots: Array) -> Array:
    """Which row each one was, after the exchanges."""
    n = extent(pivots, -1)
    line = counts(n)

    def step(k: Array, order: Array) -> Array:
        at = pivots.astype("int64")[..., k][..., None] - 1
        return take_along_axis(order, where(line == k, at, where(line == at, k, line)), axis=-1)

    return fori_loop(0, n, step, broadcast_to(line, pivots.shape))


@matrix("_linalg_solve_ex")
def solve(call: Call, a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """(solution, LU, pivots, 0); ``left``: a x = b, else x a = b."""

    def solved(a: Array, b: Array) -> tuple[Array, ...]:
        vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
        columns = b[..., None] if vector else b
        x = linalg.solve(a, columns) if left else _transposed(linalg.solve(_transposed(a), _transposed(columns)))
        return (x[..., 0] if vector else x, *_lu(a))

    return [*by_arrays(call.build, solved, a, b), _info(call, a)]


def _transposed(x: Array) -> Array:
    return x.swapaxes(-1, -2)


@matrix("linalg_solve_triangular")
def solve_triangular(
    call: Call, a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    def solved(a: Array, b: Array) -> Array:
        if left:
            return triangular_solution(a, b, lower=not upper, unit=unitriangular)
        return _transposed(triangular_solution(_transposed(a), _transposed(b), lower=upper, unit=unitriangular))

    return by_arrays(call.build, solved, a, b)


@matrix("triangular_solve")
def old_solve_triangular(
    call: Call, b: Any, a: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    turned = by_arrays(call.build, _transposed, a) if transpose else a
    return solve_triangular(call, turned, b, upper=upper != transpose, unitriangular=unitriangular), a


@matrix("linalg_qr")
def qr(call: Call, x: Any, mode: str = "reduced") -> Any:
    """Of mode ``r`` Q has no elements."""
    q, r = by_arrays(call.build, lambda a: linalg.qr(a, mode="reduced" if mode == "r" else mode), x)
    return (by_arrays(call.build, lambda a: a[..., :0, :0].reshape((0,)), q), r) if mode == "r" else (q, r)


@matrix("_linalg_eigh")
def hermitian_eigen(call: Call, x: Any, uplo: str = "L", compute_v: bool = True) -> Any:
    """(eigenvalues, eigenvectors) of the matrix that a triangle of ``x`` is half of."""

    def decomposed(a: Array) -> tuple[Array, Array]:
        lower = tril(adjoint(a) if uplo.upper() == "U" else a)
        diagonal = where(eye(extent(a, -1), dtype=bool), (lower + adjoint(lower)) * 0.5, 0)
        below = tril(lower, k=-1)
        found = linalg.eigh(below + adjoint(below) + diagonal)
        return found[0], found[1]

    values, vectors = by_arrays(call.build, decomposed, x)
    return values, vectors if compute_v else by_arrays(call.build, lambda a: a.reshape(-1)[:0], vectors)


@matrix("_linalg_svd")
def singular_values(
    call: Call, x: Any, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> Any:
    """(U, S, Vh); without vectors U and Vh have no elements."""
    if compute_uv:
        return by_arrays(call.build, lambda a: tuple(linalg.svd(a, full_matrices=full_matrices)), x)
    empty = by_arrays(call.build, lambda a: a.reshape(-1)[:0], x)
    return empty, by_arrays(call.build, linalg.svdvals, x), empty


@matrix("linalg_eig")
def eigen(call: Call, x: Any) -> Any:
    return by_arrays(call.build, lambda a: tuple(linalg.eig(a)), x)


@matrix("_linalg_eigvals", "linalg_eigvals")
def eigenvalues(call: Call, x: Any) -> Any:
    return by_arrays(call.build, linalg.eigvals, x)
