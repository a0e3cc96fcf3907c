"""Derivatives of factorizations in closed form: no state of an elimination is saved, and none runs backward.

Source: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008).
"""

from __future__ import annotations

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import eye, tril
from mlc.frontends.array.functions.elementwise import convert, real, where
from mlc.frontends.array.linalg.elimination import cholesky_factor, lu_factors, solve_factored, triangular_inverse
from mlc.frontends.array.linalg.matrices import adjoint, extent
from mlc.frontends.array.transforms.custom import custom_jvp


def will_be_differentiated(*xs: Array) -> bool:
    """Whether a derivative may be taken: of others the rule would be traced in vain."""
    return any(x.traced or x.is_varied() for x in xs)


@custom_jvp
def differentiable_factor(x: Array) -> Array:
    """``cholesky_factor`` with its derivative ``L Φ(L^-1 dx L^-H)``; Φ halves the diagonal, and is 0 above it."""
    return cholesky_factor(x)


@differentiable_factor.defjvp
def _factor_tangent(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (x,), (along,) = primals, tangents
    factor = differentiable_factor(x)
    inverse = triangular_inverse(factor)
    below = tril(along, k=-1)  # the function reads the lower triangle alone
    change = inverse @ (below + adjoint(below) + _real_diagonal(along)) @ adjoint(inverse)
    return factor, factor @ (tril(change, k=-1) + _real_diagonal(change) * 0.5)


def _real_diagonal(x: Array) -> Array:
    """The matrix of the real parts of the diagonal."""
    return convert(where(eye(extent(x, -1), dtype=bool), real(x), 0), x.element)


@custom_jvp
def differentiable_solution(a: Array, b: Array) -> Array:
    """``x`` of ``a x = b`` with its derivative, the solution of ``a dx = db - da x``."""
    return solve_factored(lu_factors(a), b)


@differentiable_solution.defjvp
def _solution_tangent(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (a, b), (along_a, along_b) = primals, tangents
    factors = lu_factors(a)
    found = solve_factored(factors, b)
    return found, solve_factored(factors, along_b - along_a @ found)
