"""Factorizations of ``linalg``, and what they solve. Source: Array API 2025.12. Batched over the leading dimensions."""

from __future__ import annotations

from typing import Any, NamedTuple

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.creation import eye, tril, triu, zeros
from mlc.frontends.array.functions.elementwise import conj, convert, is_complex, operands, real, where
from mlc.frontends.array.functions.products import diagonal, matmul
from mlc.frontends.array.functions.reductions import count_nonzero, max, sum
from mlc.frontends.array.functions.shaping import broadcast_to, concat, matrix_transpose
from mlc.frontends.array.linalg.closed_forms import factor, solution, will_be_differentiated
from mlc.frontends.array.linalg.determinants import determinant, sign_and_logarithm
from mlc.frontends.array.linalg.elimination import householder
from mlc.frontends.array.linalg.jacobi import hermitian_eigen, singular
from mlc.frontends.array.linalg.matrices import adjoint, epsilon, extent, matrices, together
from mlc.frontends.array.linalg.schur import schur, triangular_eigenvectors
from mlc.frontends.array.linalg.spectral_forms import eigen, eigenvalues, orthogonal_factors, singular_factors
from mlc.frontends.array.transforms.custom import custom_jvp


class Eigen(NamedTuple):
    eigenvalues: Array
    eigenvectors: Array


class QR(NamedTuple):
    Q: Array
    R: Array


class SignLogDet(NamedTuple):
    sign: Array
    logabsdet: Array


class SVD(NamedTuple):
    U: Array
    S: Array
    Vh: Array


def cholesky(x: Any, /, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The lower triangular L of ``x = L L^H``, or L^H; NaN where ``x`` is not positive definite.

    The matrix is ``(x + x^H) / 2``, so that derivatives are Hermitian; without ``symmetrize_input`` the lower triangle
    of ``x`` alone is read, as NumPy does.
    """
    given = matrices("cholesky", x, square=True)
    found = factor((given + adjoint(given)) / 2 if symmetrize_input else given)
    return adjoint(found) if upper else found


def det(x: Any, /) -> Array:
    """Determinants, by elimination."""
    return determinant(matrices("det", x, square=True))


def slogdet(x: Any, /) -> SignLogDet:
    """The sign (complex: of length 1) of determinants, and the logarithm of their absolute values."""
    return SignLogDet(*together(*sign_and_logarithm(matrices("slogdet", x, square=True))))


def solve(x1: Any, x2: Any, /) -> Array:
    """``x`` of ``x1 x = x2``, a vector where ``x2`` has one dimension; infinite or NaN where ``x1`` is singular.

    Raises:
        InputError: ``x1`` is not square, or ``x2`` has another number of rows.
    """
    a, b = operands(x1, x2)
    a, b = operands(matrices("solve", a, square=True), b)
    vector = b.ndim == 1
    columns = b[:, None] if vector else b
    if columns.shape[-2] != a.shape[-1]:
        raise InputError(
            f"solve cannot take the shapes {a.shape} and {b.shape}", hint="They need equal numbers of rows"
        )
    found = solution(a, columns)
    return found[..., 0] if vector else found


def inv(x: Any, /) -> Array:
    """Inverses, by elimination."""
    given = matrices("inv", x, square=True)
    return solve(given, eye(extent(given, -1), dtype=given.dtype))


def qr(x: Any, /, *, mode: str = "reduced") -> QR:
    """Q of orthonormal columns and upper triangular R; with ``complete``, Q is square.

    Raises:
        InputError: another ``mode``.
    """
    given = matrices("qr", x)
    if mode not in ("reduced", "complete"):
        raise InputError(f"qr has no mode '{mode}'", hint="The modes are reduced and complete")
    if mode == "reduced" and will_be_differentiated(given) and not is_complex(given):
        return QR(*_differentiable_qr(given))
    q, r = householder(given)
    least = min(extent(given, -2), extent(given, -1))
    if mode == "reduced":
        q, r = q[..., :least], r[..., :least, :]
    return QR(*together(q, triu(r)))


def _differentiable_qr(x: Array) -> tuple[Array, Array]:
    """Of wide matrices the first columns are factored, and others multiplied by Q^T."""
    m, n = extent(x, -2), extent(x, -1)
    if m >= n:
        q, r = orthogonal_factors(x)
        return q, r
    q, r = orthogonal_factors(x[..., :m])
    return q, concat([r, matrix_transpose(q) @ x[..., m:]], axis=-1)


def eigh(x: Any, /, UPLO: str | None = None, symmetrize_input: bool = True) -> Eigen:
    """The eigenvalues of Hermitian matrices in ascending order, and the eigenvectors as columns.

    The matrix is ``(x + x^H) / 2``, so that derivatives are Hermitian; with ``UPLO`` what its lower (L) or upper (U)
    triangle says.
    """
    given = _hermitian("eigh", x, UPLO, symmetrize_input)
    return Eigen(*together(*(eigen if will_be_differentiated(given) else hermitian_eigen)(given)))


def eigvalsh(x: Any, /, UPLO: str | None = None, *, symmetrize_input: bool = True) -> Array:
    """The eigenvalues of Hermitian matrices in ascending order; ``UPLO`` as ``eigh``."""
    given = _hermitian("eigvalsh", x, UPLO, symmetrize_input)
    return eigenvalues(given) if will_be_differentiated(given) else hermitian_eigen(given)[0]


def _hermitian(name: str, x: Any, triangle: str | None, symmetrize: bool) -> Array:
    given = matrices(name, x, square=True)
    if triangle is None:
        return (given + adjoint(given)) / 2 if symmetrize else given
    if triangle not in ("L", "U"):
        raise InputError(f"{name} has no UPLO={triangle!r}", hint="Give L (the lower triangle is read) or U")
    strict = tril(given, k=-1) if triangle == "L" else triu(given, k=1)
    along = convert(where(eye(extent(given, -1), dtype=bool), real(given), 0), given.element)
    return strict + adjoint(strict) + along


def eig(x: Any, /) -> Eigen:
    """The eigenvalues of square matrices, and the eigenvectors as columns of length 1; both complex."""
    triangle, vectors = together(*schur(matrices("eig", x, square=True)))
    return Eigen(diagonal(triangle), vectors @ triangular_eigenvectors(triangle))


def eigvals(x: Any, /) -> Array:
    """The eigenvalues of square matrices, complex."""
    return diagonal(schur(matrices("eigvals", x, square=True))[0])


def svd(x: Any, /, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """``x = U diag(S) Vh``: unitary U and Vh, cut to the number of singular values unless ``full_matrices``; S alone
    without ``compute_uv``."""
    if not compute_uv:
        return svdvals(x)
    given = matrices("svd", x)
    m, n = extent(given, -2), extent(given, -1)
    if m < n:
        u, s, vh = svd(adjoint(given), full_matrices=full_matrices)
        return SVD(adjoint(vh), s, adjoint(u))
    factors = singular_factors if will_be_differentiated(given) else singular
    u, s, v = together(*factors(given))
    return SVD(u if full_matrices else u[..., :n], s, adjoint(v))


def svdvals(x: Any, /) -> Array:
    """Singular values in descending order."""
    given = matrices("svdvals", x)
    return singular_values(given if extent(given, -2) >= extent(given, -1) else adjoint(given))


@custom_jvp
def singular_values(x: Array) -> Array:
    """Of x [..., m, n], m >= n. The tangents are u^H dx v of their vectors, those of the ones that are 0 are 0: so the
    gradient of a sum is the least of the subgradients where ``x`` has not full rank."""
    return singular(x)[1]


@singular_values.defjvp
def _tangents(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    u, s, v = singular_factors(primals[0])
    along = real(sum(conj(u[..., : extent(v, -1)]) * (tangents[0] @ v), axis=-2))
    return s, where(_cut(primals[0], s, None), along, 0)


def _cut(x: Array, values: Array, rtol: Any) -> Array:
    """Which singular values are larger than ``rtol`` times the largest; that of the machine by default."""
    if rtol is None:
        rtol = epsilon(x) * _longest(x)
    least = as_array(rtol, values.element)
    return values > (least[..., None] if least.ndim else least) * max(values, axis=-1, keepdims=True)


def _longest(x: Array) -> int:
    return extent(x, -2) if extent(x, -2) > extent(x, -1) else extent(x, -1)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Array:
    """How many singular values are larger than ``rtol`` times the largest."""
    given = matrices("matrix_rank", x)
    if 0 in given.shape[-2:]:
        return zeros(given.shape[:-2], dtype=int)
    values = svdvals(given)
    return count_nonzero(_cut(given, values, rtol), axis=-1)


def pinv(x: Any, /, *, rtol: Any = None) -> Array:
    """The Moore and Penrose inverse; singular values up to ``rtol`` times the largest count as 0."""
    given = matrices("pinv", x)
    if 0 in given.shape[-2:]:
        return matrix_transpose(given)
    least = epsilon(given) * _longest(given) if rtol is None else rtol
    return _pseudoinverse(given, as_array(least, real(given).element))


@custom_jvp
def _pseudoinverse(x: Array, rtol: Array) -> Array:
    """The pseudoinverse with a derivative of its own, which exists where singular values are equal (singular vectors
    have none there).
    """
    u, s, vh = svd(x, full_matrices=False)
    inverse = where(_cut(x, s, rtol), 1 / s, 0)
    return adjoint(vh) @ (adjoint(u) * inverse[..., None])


@_pseudoinverse.defjvp
def _tangent(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    """Golub and Pereyra (1973), at a constant rank."""
    x, along = primals[0], tangents[0]
    p = _pseudoinverse(*primals)
    rows = (adjoint(along) - p @ (x @ adjoint(along))) @ adjoint(p) @ p
    columns = p @ adjoint(p) @ (adjoint(along) - (adjoint(along) @ x) @ p)
    return p, rows + columns - p @ along @ p


def matrix_power(x: Any, n: int, /) -> Array:
    """``x`` multiplied by itself: by repeated squares; the inverse for negative ``n``."""
    base = inv(x) if n < 0 else matrices("matrix_power", x, square=True)
    found = broadcast_to(eye(extent(base, -1), dtype=base.dtype), base.shape)
    for bit in reversed(range(abs(n).bit_length())):
        found = matmul(found, found) if bit + 1 < abs(n).bit_length() else found
        found = matmul(found, base) if abs(n) >> bit & 1 else found
    return found
