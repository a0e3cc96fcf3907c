"""Matrices of a known structure, and functions of matrices, under the names of ``scipy.linalg``.

Source: SciPy; N. Higham, "Functions of matrices", 2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array, from_numpy


def block_diag(*arrs: Any) -> Array:
    """A matrix with the given ones, or vectors as rows, along its diagonal, and zeros elsewhere."""
    given = [mnp.atleast_2d(as_array(each)) for each in arrs] or [mnp.zeros((1, 0))]
    element = mnp.result_type(*given)
    zeros = lambda a, b: mnp.zeros((a.shape[0], b.shape[1]), dtype=element)  # noqa: E731
    return mnp.block([[a.astype(element) if n == m else zeros(a, b) for m, b in enumerate(given)]
                      for n, a in enumerate(given)])  # fmt: skip


def toeplitz(c: Any, r: Any = None) -> Array:
    """[n, m]: the first column ``c`` [n] and row ``r`` [m] along the diagonals; by default the conjugate of ``c``."""
    column = mnp.ravel(as_array(c))
    row = mnp.conj(column) if r is None else mnp.ravel(as_array(r))
    n, m = _size(column), _size(row)
    line = mnp.concatenate([mnp.flip(row[1:]), column])
    return line[from_numpy(m - 1 + np.arange(n)[:, None] - np.arange(m))]


def hankel(c: Any, r: Any = None) -> Array:
    """[n, m]: the first column ``c`` and the last row ``r`` along the other diagonals; by default zeros."""
    column = mnp.ravel(as_array(c))
    row = mnp.zeros_like(column) if r is None else mnp.ravel(as_array(r))
    line = mnp.concatenate([column, row[1:]])
    return line[from_numpy(np.arange(_size(column))[:, None] + np.arange(_size(row)))]


def circulant(c: Any) -> Array:
    """[n, n]: the column ``c`` moved down by one from each column to the next."""
    column = mnp.ravel(as_array(c))
    at = np.arange(_size(column))
    return column[from_numpy((at[:, None] - at) % len(at))]


def companion(a: Any) -> Array:
    """[n - 1, n - 1]: the matrix whose eigenvalues are the roots of the polynomial ``a``, its highest power first.

    Raises:
        InputError: fewer than two coefficients.
    """
    given = as_array(a)
    if given.ndim != 1 or _size(given) < 2:
        raise InputError(f"companion takes no shape {list(given.shape)}", hint="Give two coefficients or more")
    below = mnp.eye(_size(given) - 2, _size(given) - 1, dtype=given.dtype)
    return mnp.concatenate([(-given[1:] / given[0])[None].astype(given.dtype), below], axis=0)


def hilbert(n: int) -> Array:
    """[n, n]: ``1 / (i + j + 1)``, float32."""
    at = np.arange(n)
    return from_numpy((1 / (at[:, None] + at + 1)).astype(np.float32))


def hadamard(n: int, dtype: Any = int) -> Array:
    """[n, n]: rows of 1 and -1 that are orthogonal, of a power of two.

    Raises:
        InputError: another ``n``.
    """
    if n < 1 or n & (n - 1):
        raise InputError(f"hadamard takes no extent of {n}", hint="Give a power of two")
    found = np.ones((1, 1), np.int64)
    while len(found) < n:
        found = np.kron(np.array([[1, 1], [1, -1]]), found)
    return from_numpy(found).astype(dtype)


def dft(n: int, scale: str | None = None) -> Array:
    """[n, n]: the matrix of the Fourier transform, complex64; ``scale`` is None, "sqrtn" or "n"."""
    at = np.arange(n)
    power = {None: 0.0, "sqrtn": 0.5, "n": 1.0}[scale]
    return from_numpy((np.exp(-2j * np.pi / n * (np.outer(at, at) % n)) / n**power).astype(np.complex64))


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Array:
    """The matrix whose product with a vector of ``n`` elements is its convolution with ``a``; modes as ``convolve``.

    Raises:
        InputError: another mode.
    """
    given = as_array(a)
    size = _size(given)
    starts = {"full": (0, n + size - 1), "same": ((min(n, size) - 1) // 2, max(n, size)),
              "valid": (min(n, size) - 1, max(n, size) - min(n, size) + 1)}  # fmt: skip
    if mode not in starts:
        raise InputError(f"convolution_matrix has no mode {mode!r}", hint="Give full, same or valid")
    first, rows = starts[mode]
    padded = mnp.concatenate([given, mnp.zeros((n,), dtype=given.dtype)])
    whole = toeplitz(padded[: n + size - 1], mnp.concatenate([given[:1], mnp.zeros((n - 1,), dtype=given.dtype)]))
    return whole[first : first + rows]


def polar(a: Any, side: str = "right") -> tuple[Array, Array]:
    """``u, p`` with ``a = u p`` (``p u`` for the left side): u has orthonormal columns or rows, p is positive."""
    u, s, vh = mnp.linalg.svd(as_array(a), full_matrices=False)
    right = side == "right"
    factor = mnp.matrix_transpose(mnp.conj(vh)) if right else u
    return u @ vh, (factor * s[..., None, :]) @ mnp.matrix_transpose(mnp.conj(factor))


def sqrtm(A: Any) -> Array:
    """The square root of a matrix [n, n], complex, by its eigenvectors: it must have n of them."""
    return _of_eigenvalues(A, mnp.sqrt)


def logm(A: Any) -> Array:
    """The logarithm of a matrix [n, n], complex, by its eigenvectors: it must have n of them."""
    return _of_eigenvalues(A, mnp.log)


def funm(A: Any, func: Any) -> Array:
    """A function of a matrix [n, n], such as ``mlc.numpy.sin``, complex, by its eigenvectors: it must have n."""
    return _of_eigenvalues(A, func)


def _of_eigenvalues(A: Any, f: Any) -> Array:
    values, vectors = mnp.linalg.eig(as_array(A))
    scaled = vectors * f(values)[..., None, :]
    transposed = mnp.linalg.solve(mnp.matrix_transpose(vectors), mnp.matrix_transpose(scaled))
    return mnp.matrix_transpose(transposed)


def solve_sylvester(A: Any, B: Any, Q: Any) -> Array:
    """``X`` [n, m] of ``A X + X B = Q``, as one system of n·m unknowns."""
    a, b, q = (as_array(each) for each in (A, B, Q))
    n, m = _size(a), _size(b)
    system = mnp.kron(a, mnp.eye(m, dtype=a.dtype)) + mnp.kron(mnp.eye(n, dtype=b.dtype), b.T)
    return mnp.reshape(mnp.linalg.solve(system, mnp.reshape(q, (n * m,))), (n, m))


def eigh_tridiagonal(d: Any, e: Any, *, eigvals_only: bool = False) -> Any:
    """Eigenvalues, and eigenvectors without ``eigvals_only``, of the symmetric matrix with the diagonal ``d`` [n] and
    ``e`` [n - 1] beside it, as a dense one."""
    whole = mnp.diag(as_array(d)) + mnp.diag(as_array(e), 1) + mnp.diag(as_array(e), -1)
    return mnp.linalg.eigvalsh(whole) if eigvals_only else tuple(mnp.linalg.eigh(whole))


def cholesky(a: Any, lower: bool = False) -> Array:
    """The triangular factor of a positive definite matrix: ``a = U^H U``, or ``L L^H`` with ``lower``."""
    found = mnp.linalg.cholesky(as_array(a))
    return found if lower else mnp.matrix_transpose(mnp.conj(found))


def solve(a: Any, b: Any, lower: bool = False, assume_a: str = "gen") -> Array:
    """``x`` of ``a x = b``. ``assume_a``: "gen", "sym" and "her" take the whole matrix, "pos" one triangle of it.

    Raises:
        InputError: another kind of matrix.
    """
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise InputError(f"solve has no assume_a {assume_a!r}", hint="Give gen, sym, her or pos")
    given = as_array(a)
    if assume_a != "pos":
        return mnp.linalg.solve(given, b)
    half = mnp.tril(given, -1) if lower else mnp.matrix_transpose(mnp.conj(mnp.triu(given, 1)))
    whole = half + mnp.matrix_transpose(mnp.conj(half)) + given * mnp.eye(_size(given), dtype=given.dtype)
    return mnp.linalg.solve(whole, b)


def eigh(a: Any, b: Any = None, lower: bool = True, eigvals_only: bool = False) -> Any:
    """Eigenvalues, and eigenvectors without ``eigvals_only``, of a Hermitian matrix, or of ``a v = λ b v`` with a
    positive definite ``b``."""
    given = as_array(a)
    if b is None:
        found = mnp.linalg.eigh(given, UPLO="L" if lower else "U")
        return found[0] if eigvals_only else tuple(found)
    inverse = mnp.linalg.inv(mnp.linalg.cholesky(as_array(b)))
    across = mnp.matrix_transpose(mnp.conj(inverse))
    values, vectors = mnp.linalg.eigh(inverse @ given @ across)
    return values if eigvals_only else (values, across @ vectors)


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """``u, s, vh`` with ``a = u diag(s) vh``; the singular values alone without ``compute_uv``."""
    return tuple(mnp.linalg.svd(as_array(a), full_matrices=full_matrices)) if compute_uv else mnp.linalg.svdvals(a)


def qr(a: Any, mode: str = "full") -> Any:
    """``q, r`` with ``a = q r``; modes are "full", "economic" and "r", which gives r alone, as a tuple."""
    named = {"full": "complete", "economic": "reduced", "r": "complete"}
    if mode not in named:
        raise InputError(f"qr has no mode {mode!r}", hint="Give full, economic or r")
    found = tuple(mnp.linalg.qr(as_array(a), mode=named[mode]))
    return found[1:] if mode == "r" else found


def _size(x: Array) -> int:
    """The last extent, which must be a number.

    Raises:
        InputError: it is an open dimension.
    """
    extent = x.shape[-1]
    if not isinstance(extent, int):
        raise InputError(f"A matrix of the open dimension '{extent}' has no known structure", hint="Fix the dimension")
    return extent


__all__ = [
    "block_diag", "cholesky", "circulant", "companion", "convolution_matrix", "dft", "eigh", "eigh_tridiagonal",
    "funm", "hadamard", "hankel", "hilbert", "logm", "polar", "qr", "solve", "solve_sylvester", "sqrtm", "svd",
    "toeplitz",
]  # fmt: skip
