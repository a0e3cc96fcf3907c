"""Products and least squares as NumPy names them. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.compositions.arranging import ravel
from mlc.frontends.array.compositions.construction import diag, vander
from mlc.frontends.array.dtypes import limits
from mlc.frontends.array.functions.creation import ones, zeros
from mlc.frontends.array.functions.elementwise import FUNCTIONS, operands, where
from mlc.frontends.array.functions.products import matmul, tensordot, vecdot
from mlc.frontends.array.functions.reductions import Axis, axes_of, sum
from mlc.frontends.array.functions.shapes import of_matrices
from mlc.frontends.array.functions.shaping import concat, expand_dims, moveaxis, reshape
from mlc.frontends.array.linalg import norms
from mlc.frontends.array.linalg.closed_forms import will_be_differentiated
from mlc.frontends.array.linalg.decompositions import eigvals, inv, pinv, svd, svdvals
from mlc.frontends.array.linalg.matrices import adjoint, matrices
from mlc.frontends.array.linalg.norms import matrix_norm, vector_norm


def diagonal(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonals of the planes of two axes, ``offset`` columns right of the main ones, along the last axis."""
    return norms.diagonal(moveaxis(of_matrices("diagonal", x), (axis1, axis2), (-2, -1)), offset=offset)


def trace(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Array:
    """The sums of ``diagonal``."""
    return sum(diagonal(x, offset, axis1, axis2), axis=-1, dtype=dtype)


def cross(x1: Any, x2: Any, /, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Array:
    """The cross products of vectors of three elements along ``axis``; of two, the third elements of these."""
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    a, b = (moveaxis(x, n, -1) for x, n in zip(operands(x1, x2), (axisa, axisb), strict=True))
    if a.shape[-1] == b.shape[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return moveaxis(norms.cross(a, b), -1, axisc)


def dot(x1: Any, x2: Any, /) -> Array:
    """The sum of products over the last dimension of ``x1`` and the last but one of ``x2``; a product by a number."""
    a, b = operands(x1, x2)
    if not a.ndim or not b.ndim:
        return a * b
    over = b.ndim - 2 if b.ndim > 1 else 0
    if a.shape[-1] != b.shape[over]:
        raise InputError(
            f"The shapes {a.shape} and {b.shape} have no dot product", hint="The inner extents must be equal"
        )
    return matmul(a, b) if max(a.ndim, b.ndim) <= 2 else tensordot(a, b, axes=((a.ndim - 1,), (over,)))


def vdot(x1: Any, x2: Any, /) -> Array:
    """The sum of products of all elements, of the conjugates of ``x1``."""
    return vecdot(ravel(x1), ravel(x2))


def inner(x1: Any, x2: Any, /) -> Array:
    """The sums of products over the last dimensions."""
    a, b = operands(x1, x2)
    return a * b if not a.ndim or not b.ndim else tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 1,)))


def matvec(x1: Any, x2: Any, /) -> Array:
    """Products of matrices and vectors, in the last dimensions."""
    return matmul(x1, expand_dims(x2, -1))[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Array:
    """Products of vectors, conjugated, and matrices, in the last dimensions."""
    return matmul(expand_dims(FUNCTIONS["conj"](as_array(x1)), -2), x2)[..., 0, :]


def kron(x1: Any, x2: Any, /) -> Array:
    """Kronecker's product: each element of ``x1`` times ``x2``."""
    a, b = operands(x1, x2)
    rank = max(a.ndim, b.ndim)
    a, b = (reshape(x, (*[1] * (rank - x.ndim), *x.shape)) for x in (a, b))
    left, right = (expand_dims(x, tuple(2 * n + k for n in range(rank))) for x, k in ((a, 1), (b, 0)))
    return reshape(left * right, [n * m for n, m in zip(a.shape, b.shape, strict=True)])


def norm(x: Any, /, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Array:
    """The norm of vectors along one axis or of matrices along two; of all elements as a vector by default.

    Raises:
        InputError: an order that vectors or matrices do not have, or more axes.
    """
    given = as_array(x)
    if axis is None and ord is None:
        return vector_norm(given, keepdims=keepdims)
    axes = axes_of(given, axis) if axis is None or isinstance(axis, int) else tuple(a % given.ndim for a in axis)
    if len(axes) == 1:
        return vector_norm(given, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        what = f"A norm over {len(axes)} axes is not defined"
        raise InputError(what, hint="Give one axis for vectors, or two for matrices")
    found = matrix_norm(moveaxis(given, axes, (-2, -1)), ord="fro" if ord is None else ord)
    return expand_dims(found, axes) if keepdims else found


def lstsq(a: Any, b: Any, /, rcond: float | None = None) -> tuple[Array, Array, Array, Array]:
    """The ``x`` of least norm that minimizes ``|a x - b|``, with the residuals (sums of squares), the rank, and the
    singular values. Singular values below ``rcond`` times the first count as 0.
    """
    left, right = operands(matrices("lstsq", a), b)
    (rows, columns), line = left.shape, right.ndim == 1
    u, s, vh = svd(left, full_matrices=False)
    rtol = limits(left.element).eps * max(rows, columns) if rcond is None else rcond  # type: ignore[type-var]
    used = s > rtol * s[0]
    inverse = where(used, 1 / where(used, s, 1.0), 0.0)
    wide = right[:, None] if line else right
    if will_be_differentiated(left, wide):  # without vectors of singular values, which have no derivative where equal
        x = matmul(pinv(left, rtol=float(rtol)), wide)
    else:
        x = matmul(adjoint(vh), inverse[:, None] * matmul(adjoint(u), wide))
    left_over = sum(FUNCTIONS["abs"](wide - matmul(left, x)) ** 2, axis=0)
    rank = sum(used)
    return (x[:, 0] if line else x), left_over, rank, s


def cond(x: Any, /, p: Any = None) -> Array:
    """The condition number: the ratio of the extreme singular values, or of a norm and that of the inverse."""
    given = matrices("cond", x)
    if p in (None, 2, -2):
        values = svdvals(given)
        return values[..., 0] / values[..., -1] if p != -2 else values[..., -1] / values[..., 0]
    return matrix_norm(given, ord=p) * matrix_norm(inv(given), ord=p)


def multi_dot(arrays: Sequence[Any], /) -> Array:
    """The product of matrices in the order that takes the fewest multiplications; the ends may be vectors."""
    given = [as_array(x) for x in arrays]
    shaped = [*given]
    shaped[0] = given[0][None, :] if given[0].ndim == 1 else given[0]
    shaped[-1] = given[-1][:, None] if given[-1].ndim == 1 else given[-1]
    found = _chain(shaped)
    found = found[0] if given[0].ndim == 1 else found
    return found[..., 0] if given[-1].ndim == 1 else found


def _chain(xs: list[Array]) -> Array:
    """Matrix-chain multiplication by dynamic programming over the cuts."""
    sizes: list[Any] = [xs[0].shape[0], *(x.shape[1] for x in xs)]
    best: dict[tuple[int, int], tuple[Any, int]] = {(n, n + 1): (0, 0) for n in range(len(xs))}
    for length in range(2, len(xs) + 1):
        for a in range(len(xs) - length + 1):
            b = a + length
            costs = ((best[a, c][0] + best[c, b][0] + sizes[a] * sizes[c] * sizes[b], c) for c in range(a + 1, b))
            best[a, b] = min(costs)

    def product(a: int, b: int) -> Array:
        cut = best[a, b][1]
        return xs[a] if b == a + 1 else matmul(product(a, cut), product(cut, b))

    return product(0, len(xs))


def polyfit(x: Any, y: Any, deg: int, /, rcond: float | None = None, w: Any = None) -> Array:
    """The coefficients, the highest power first, of the polynomial that is nearest to points, weighted by ``w``."""
    at, values = operands(x, y, lowest=2)
    left = vander(at, deg + 1)
    if w is not None:
        weights = as_array(w, at.element)
        left, values = left * weights[:, None], values * (weights if values.ndim == 1 else weights[:, None])
    scale = FUNCTIONS["sqrt"](sum(left * left, axis=0))
    least = limits(at.element).eps * len(at) if rcond is None else rcond
    found = lstsq(left / scale, values, rcond=float(least))[0]
    return found / (scale if found.ndim == 1 else scale[:, None])


def roots(p: Any, /) -> Array:
    """The roots of a polynomial, complex: the eigenvalues of its companion matrix. Leading coefficients are not 0."""
    (given,) = operands(p, lowest=2)
    n = len(given) - 1
    if n < 1:
        return zeros((0,), dtype="complex64" if given.element == "f32" else "complex128")
    first = reshape(-given[1:] / given[0], (1, n))
    below = diag(ones((n - 1,), dtype=given.dtype), -1)[1:] if n > 1 else zeros((0, n), dtype=given.dtype)
    return eigvals(concat([first, below], axis=0))


PUBLIC = ("diagonal", "trace", "cross", "dot", "vdot", "inner", "matvec", "vecmat", "kron", "polyfit", "roots")
LINALG = ("norm", "lstsq", "cond", "multi_dot")
