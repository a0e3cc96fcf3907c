"""Linear algebra, real and complex, by that of arrays (``frontends/array/linalg``).

What torch raises for a singular matrix, or one that is not positive definite, is infinity or NaN here.
"""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import eye, tril
from mlc.frontends.array.functions.elementwise import FUNCTIONS, where
from mlc.frontends.array.functions.shaping import broadcast_to
from mlc.frontends.array.linalg import decompositions as linalg
from mlc.frontends.array.linalg.exponential import expm
from mlc.frontends.array.linalg.factors import triangular_solution
from mlc.frontends.array.linalg.matrices import adjoint, epsilon, extent
from mlc.frontends.torch.ops.arrays import by_arrays
from mlc.frontends.torch.ops.linalg.lu import as_torch_factors, packed_lu
from mlc.frontends.torch.ops.linalg.matrices import matrix, no_info
from mlc.frontends.torch.registry import Call


def _inverse(lower: Array) -> Array:
    """The inverse of a lower triangular matrix."""
    unit = broadcast_to(eye(extent(lower, -1), dtype=lower.dtype), lower.shape)
    return triangular_solution(lower, unit, lower=True)


@matrix("linalg_cholesky_ex")
def cholesky(call: Call, x: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    def factor(a: Array) -> Array:
        return linalg.cholesky(adjoint(a) if upper else a, upper=upper)

    return by_arrays(call.build, factor, x), no_info(call, x)


@matrix("cholesky")
def old_cholesky(call: Call, x: Any, upper: bool = False) -> Any:
    return cholesky(call, x, upper=upper)[0]


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
    return by_arrays(call.build, linalg.inv, x), no_info(call, x)


@matrix("_linalg_det")
def determinant(call: Call, x: Any) -> Any:
    """(determinant, LU, pivots)."""
    return by_arrays(call.build, lambda a: (linalg.det(a), *as_torch_factors(call, a)), x)


@matrix("_linalg_slogdet")
def log_determinant(call: Call, x: Any) -> Any:
    """(sign, logarithm, LU, pivots)."""
    return by_arrays(call.build, lambda a: (*linalg.slogdet(a), *as_torch_factors(call, a)), x)


@matrix("_linalg_solve_ex")
def solve(call: Call, a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """(solution, LU, pivots, 0); ``left``: a x = b, else x a = b."""

    def solved(a: Array, b: Array) -> tuple[Array, ...]:
        vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
        columns = b[..., None] if vector else b
        x = linalg.solve(a, columns) if left else _transposed(linalg.solve(_transposed(a), _transposed(columns)))
        return (x[..., 0] if vector else x, *packed_lu(a))

    return [*by_arrays(call.build, solved, a, b), no_info(call, a)]


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
    """QR factors. In mode ``r``, Q has no elements."""
    q, r = by_arrays(call.build, lambda a: linalg.qr(a, mode="reduced" if mode == "r" else mode), x)
    return (by_arrays(call.build, lambda a: a[..., :0, :0].reshape((0,)), q), r) if mode == "r" else (q, r)


def _of_lower(a: Array) -> Array:
    """The Hermitian matrix that has the lower triangle of ``a``, of whose diagonal the real part counts."""
    lower, below = tril(a), tril(a, k=-1)
    diagonal = where(eye(extent(a, -1), dtype=bool), (lower + adjoint(lower)) * 0.5, 0)
    return below + adjoint(below) + diagonal


@matrix("_linalg_eigh")
def hermitian_eigen(call: Call, x: Any, uplo: str = "L", compute_v: bool = True) -> Any:
    """(eigenvalues, eigenvectors) of the matrix that a triangle of ``x`` is half of."""

    def decomposed(a: Array) -> tuple[Array, Array]:
        found = linalg.eigh(_of_lower(adjoint(a) if uplo.upper() == "U" else a))
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


@matrix("linalg_matrix_exp")
def exponential(call: Call, x: Any) -> Any:
    return by_arrays(call.build, expm, x)


@matrix("linalg_pinv.atol_rtol_tensor", "linalg_pinv.atol_rtol_float")
def pseudoinverse(call: Call, x: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """Singular values up to ``atol`` or ``rtol`` times the greatest count as 0; by default as many times the rounding
    unit as there are rows or columns."""

    def inverted(a: Array, *least: Any) -> Array:
        if 0 in a.shape:
            return _transposed(a)
        given = _of_lower(a) if hermitian else a
        absolute, relative = least
        if relative is None:
            relative = epsilon(a) * max(extent(a, -2), extent(a, -1)) if absolute is None else 0.0
        values = linalg.svdvals(given)[..., :1]
        bounds = [_column(each) for each in ((0.0 if absolute is None else absolute), relative)]
        least_value = FUNCTIONS["maximum"](bounds[0], bounds[1] * values)
        ratio = where(values == 0, 0.0, least_value / where(values == 0, 1.0, values))
        return linalg.pinv(given, rtol=ratio[..., 0])

    return by_arrays(call.build, inverted, x, atol, rtol)


def _column(x: Any) -> Any:
    return x[..., None] if isinstance(x, Array) and x.ndim else x
