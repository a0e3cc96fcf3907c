"""Eigenvectors of Hermitian matrices, singular vectors and QR, with derivatives in closed form.

Source: Giles (2008), as ``jax.lax.linalg`` has them; Townsend, "Differentiating the singular value
decomposition" (2016). Vectors of equal values have no derivative: what depends on them is infinite or NaN. Values have.
"""

from __future__ import annotations

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import eye, tril, triu
from mlc.frontends.array.functions.elementwise import conj, real, where
from mlc.frontends.array.functions.products import diagonal
from mlc.frontends.array.functions.reductions import sum
from mlc.frontends.array.functions.shaping import concat, matrix_transpose
from mlc.frontends.array.linalg.elimination import householder
from mlc.frontends.array.linalg.factors import triangular_solution
from mlc.frontends.array.linalg.jacobi import hermitian_eigen, singular
from mlc.frontends.array.linalg.matrices import adjoint
from mlc.frontends.array.transforms.custom import custom_jvp

Pair = tuple[Array, Array]
Triple = tuple[Array, Array, Array]


@custom_jvp
def eigen(x: Array) -> Pair:
    """The eigenvalues of Hermitian matrices in ascending order, and the eigenvectors as columns."""
    return hermitian_eigen(x)


@eigen.defjvp
def _eigen_along(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Pair, Pair]:
    values, vectors = eigen(primals[0])
    change = adjoint(vectors) @ tangents[0] @ vectors
    return (values, vectors), (real(diagonal(change)), vectors @ (change * _reciprocals(values)))


@custom_jvp
def eigenvalues(x: Array) -> Array:
    """The eigenvalues alone, which have derivatives where they are equal, too."""
    return hermitian_eigen(x)[0]


@eigenvalues.defjvp
def _eigenvalues_along(primals: tuple[Array], tangents: tuple[Array]) -> Pair:
    values, vectors = eigen(primals[0])
    return values, real(sum(conj(vectors) * (tangents[0] @ vectors), axis=-2))


def _reciprocals(values: Array) -> Array:
    """[..., n, n]: ``1 / (values[j] - values[i])``, and 0 on the diagonal."""
    apart = values[..., None, :] - values[..., :, None]
    diagonal = eye(values.shape[-1], dtype=bool)
    return where(diagonal, 0, 1 / where(diagonal, 1, apart))


@custom_jvp
def singular_factors(x: Array) -> Triple:
    """U [..., m, m], S [..., n] and V [..., n, n] of ``x = U[..., :n] S V^H``, m >= n."""
    return singular(x)


@singular_factors.defjvp
def _singular_along(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Triple, Triple]:
    """The tangents of U, S and V. The columns of U beyond n are an arbitrary basis and turn as little as possible."""
    (x,), (along,) = primals, tangents
    u, s, v = singular_factors(x)
    n = s.shape[-1]
    left, across = u[..., :n], along @ v
    change = adjoint(left) @ across
    row, column = s[..., None, :], s[..., :, None]
    unit = eye(n, dtype=bool)
    apart = where(unit, 0, 1 / where(unit, 1, (row - column) * (row + column)))
    phases = where(unit & (column != 0), (change - adjoint(change)) / (2 * where(column == 0, 1, column)), 0)
    both, other = change * row, change * column
    along_left = left @ (apart * (both + adjoint(both)) + phases)
    along_v = v @ (apart * (other + adjoint(other)))
    if x.shape[-2] != n:
        rest = u[..., n:]
        along_left = along_left + (across - left @ change) / row
        along_left = concat([along_left, -left @ (adjoint(along_left) @ rest)], axis=-1)
    return (u, s, v), (along_left, real(diagonal(change)), along_v)


@custom_jvp
def orthogonal_factors(x: Array) -> Pair:
    """Q [..., m, n] and R [..., n, n] of real matrices, m >= n."""
    n = x.shape[-1]
    q, r = householder(x)
    return q[..., :n], triu(r[..., :n, :])


@orthogonal_factors.defjvp
def _orthogonal_along(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Pair, Pair]:
    q, r = orthogonal_factors(primals[0])
    scaled = matrix_transpose(triangular_solution(r, matrix_transpose(tangents[0]), lower=False, transposed=True))
    change = matrix_transpose(q) @ scaled
    below = tril(change, k=-1)
    turn = below - matrix_transpose(below)
    return (q, r), (q @ (turn - change) + scaled, (change - turn) @ r)
