"""Derivatives of factorizations in closed form: no state of an elimination is saved, and none runs backward.

Source: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008).
"""

from __future__ import annotations

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import eye, tril
from mlc.frontends.array.functions.elementwise import convert, is_complex, real, where
from mlc.frontends.array.linalg.factors import cholesky_factor, lu_factors, solve_factored, triangular_solution
from mlc.frontends.array.linalg.matrices import adjoint
from mlc.frontends.array.transforms.custom import custom_jvp


def will_be_differentiated(*xs: Array) -> bool:
    """Whether a derivative may be taken. If not, tracing the rule would be wasted."""
    return any(x.traced or x.is_varied() for x in xs)


def factor(x: Array) -> Array:
    """``cholesky_factor`` with a derivative in closed form, which the operator of real matrices has itself."""
    return _complex_factor(x) if is_complex(x) and will_be_differentiated(x) else cholesky_factor(x)


@custom_jvp
def _complex_factor(x: Array) -> Array:
    """The derivative is ``L Φ(L^-1 dx L^-H)``; Φ halves the diagonal, and is 0 above it."""
    return cholesky_factor(x)


@_complex_factor.defjvp
def _factor_tangent(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (x,), (along,) = primals, tangents
    factor = _complex_factor(x)
    left = triangular_solution(factor, along, lower=True)
    change = adjoint(triangular_solution(factor, adjoint(left), lower=True))
    return factor, factor @ (tril(change, k=-1) + _real_diagonal(change) * 0.5)


def _real_diagonal(x: Array) -> Array:
    """The matrix of the real parts of the diagonal."""
    return convert(where(eye(x.shape[-1], dtype=bool), real(x), 0), x.element)


def solution(a: Array, b: Array) -> Array:
    """``x`` [..., n, m] of ``a x = b``, with a derivative in closed form."""
    return _solution(a, b) if will_be_differentiated(a, b) else solve_factored(lu_factors(a), b)


@custom_jvp
def _solution(a: Array, b: Array) -> Array:
    """The derivative is the solution of ``a dx = db - da x``."""
    return solve_factored(lu_factors(a), b)


@_solution.defjvp
def _solution_tangent(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (a, b), (along_a, along_b) = primals, tangents
    found = _solution(a, b)
    return found, _solution(a, along_b - along_a @ found)
