"""Determinants and their logarithms, with derivatives in closed form.

Source: Jacobi's formula, ``d det = tr(adj(x) dx)``; the adjugate from LU factors as ``jax.numpy.linalg.det`` has it,
also of matrices that lack one rank.
"""

from __future__ import annotations

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import eye
from mlc.frontends.array.functions.elementwise import FUNCTIONS, astype, convert, is_complex, real, where
from mlc.frontends.array.functions.products import diagonal
from mlc.frontends.array.functions.reductions import max, min, prod, sum
from mlc.frontends.array.functions.shaping import matrix_transpose
from mlc.frontends.array.linalg.closed_forms import solution, will_be_differentiated
from mlc.frontends.array.linalg.factors import Factors, lu_factors, triangular_solution
from mlc.frontends.array.linalg.matrices import counts, epsilon
from mlc.frontends.array.transforms.custom import custom_jvp


def determinant(x: Array) -> Array:
    """[...] of matrices [..., n, n]: the product of the pivots."""
    differentiable = will_be_differentiated(x) and x.shape[-1] != 0
    return _differentiable(x) if differentiable else _determinant(lu_factors(x))


def sign_and_logarithm(x: Array) -> tuple[Array, Array]:
    """The sign of the determinant, and the logarithm of its absolute value."""
    if not will_be_differentiated(x):
        return _sign_and_logarithm(x)
    sign, logarithm = _logarithmic(x)
    return sign, logarithm


def _determinant(factors: Factors) -> Array:
    return convert(factors.sign(), factors.lu.element) * prod(diagonal(factors.lu), axis=-1)


@custom_jvp
def _differentiable(x: Array) -> Array:
    return _determinant(lu_factors(x))


@_differentiable.defjvp
def _along(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (x,), (along,) = primals, tangents
    return _differentiable(x), sum(_adjugate(x) * matrix_transpose(along), axis=(-2, -1))


def _adjugate(x: Array) -> Array:
    """``det(x) x^-1``, by factors whose last pivot is left out; where another one is 0, of rank 1 or 0."""
    factors, n = lu_factors(x), x.shape[-1]
    pivots, last = diagonal(factors.lu), counts(n) == n - 1
    sign = convert(factors.sign(), x.element)
    others = sign * prod(where(last, 1, pivots), axis=-1)
    lost, whole = (others == 0)[..., None, None], others * prod(where(last, pivots, 1), axis=-1)
    corner = where(last & last[:, None], 1 / where(lost, 1, others[..., None, None]), factors.lu)
    lu = where(lost, eye(n, dtype=x.dtype), corner)
    below = triangular_solution(lu, astype(factors.rows[..., :, None] == counts(n), x.dtype), lower=True, unit=True)
    scaled = where(last[:, None], below, below * whole[..., None, None])
    return where(lost, _adjugate_of_singular(x), triangular_solution(lu, scaled, lower=False))


def _adjugate_of_singular(x: Array) -> Array:
    """``det(m) ((1 - v m^-1 u) m^-1 + m^-1 u v m^-1)`` of ``m = x + u v`` (Sherman and Morrison), for vectors u and
    v that make it regular; otherwise 0, as ``x`` lacks two ranks."""
    angles = convert(counts(x.shape[-1]), real(x).element) * 2.4
    scale = max(FUNCTIONS["abs"](x), axis=(-2, -1), keepdims=True)
    u, v = convert(FUNCTIONS["cos"](angles) + 1.5, x.element), convert(FUNCTIONS["sin"](angles) + 1.5, x.element)
    column = u[:, None] * convert(scale, x.element)
    m = x + column * v
    factors = lu_factors(m)
    sizes = FUNCTIONS["abs"](diagonal(factors.lu))
    regular = (min(sizes, axis=-1) > epsilon(x) * 8 * max(sizes, axis=-1))[..., None, None]
    unit = eye(x.shape[-1], dtype=x.dtype)
    inverse = solution(where(regular, m, unit), unit)
    right, left = inverse @ column, v[None, :] @ inverse
    outer = (1 - v[None, :] @ right) * inverse + right * left
    return where(regular, determinant(m)[..., None, None] * outer, 0)


def _sign_and_logarithm(x: Array) -> tuple[Array, Array]:
    factors = lu_factors(x)
    pivots = diagonal(factors.lu)
    sign = convert(factors.sign(), pivots.element) * prod(FUNCTIONS["sign"](pivots), axis=-1)
    return sign, sum(FUNCTIONS["log"](FUNCTIONS["abs"](pivots)), axis=-1)


_logarithmic = custom_jvp(_sign_and_logarithm)


@_logarithmic.defjvp
def _logarithm_along(
    primals: tuple[Array], tangents: tuple[Array]
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """``tr(x^-1 dx)``: the real part is the logarithm's, the imaginary part changes the sign of complex ones."""
    (x,), (along,) = primals, tangents
    sign, logarithm = _logarithmic(x)
    change = sum(diagonal(solution(x, along)), axis=-1)
    turned = sign * (change - convert(real(change), change.element)) if is_complex(x) else sign * 0
    return (sign, logarithm), (turned, real(change))
