"""Derivatives of solutions by the implicit function theorem. Source: Krantz and Parks, "The implicit function theorem",
2002; Blondel et al., "Efficient and modular implicit differentiation", 2022.

Where ``f(x, θ) = 0``, a change of θ moves x by ``-(∂f/∂x)⁻¹ (∂f/∂θ) dθ``, whatever found x: no iteration is
differentiated, and none is saved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.frontends.array.array import Array
from mlc.frontends.array.transforms.closures import closed
from mlc.frontends.array.transforms.custom import custom_jvp, stop_gradient
from mlc.frontends.array.transforms.derivatives.jacobians import jacfwd
from mlc.frontends.array.transforms.derivatives.linear_maps import jvp
from mlc.frontends.array.trees import tree_map


class OptimizeResult(NamedTuple):
    """What a solver found: ``x`` as it was given, the function's value ``fun`` there, whether the tolerance was reached
    (``success``) in ``nit`` iterations."""

    x: Any
    fun: Any
    success: Array
    nit: Array


Function = Callable[[Array], Array]


def with_implicit_derivative(
    f: Function, solve: Callable[[Function, Array], Any], x0: Array, zeros: Callable[[Function], Function] = lambda f: f
) -> Any:
    """``solve(f, x0)``: a pair of a vector x where ``zeros(f)`` is 0, and of a tree that has no derivatives.

    The derivative of x is by what ``f`` reads from around it.
    """
    function, arrays = closed(f, x0)

    @custom_jvp
    def found(arrays: list[Array], x0: Array) -> Any:
        return solve(lambda x: function(arrays, x), x0)

    @found.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (arrays, x0), (along, _) = primals, tangents
        x, rest = found(arrays, x0)
        residual = lambda given, x: zeros(lambda y: function(given, y))(x)  # noqa: E731
        change = jvp(lambda given: residual(given, x), (arrays,), (along,))[1] if arrays else mnp.zeros_like(x)
        moved = -mnp.linalg.solve(jacfwd(lambda y: residual(arrays, y))(x), change)
        return (x, rest), (moved, tree_map(_no_tangent, rest))

    return found(arrays, stop_gradient(x0))


def _no_tangent(x: Array) -> Array | None:
    return mnp.zeros_like(x) if x.dtype.kind == "f" else None
