"""Autodiff: derivatives of scalar expressions, of statements and of operators; the walks of reverse and forward mode.

The derivative of a graph operator consists of graph operators, so it has derivatives itself.
"""

from mlc.dialects.autodiff import (  # their rules
    branches,
    collectives,
    custom,
    factors,
    loops,
    moves,
    products,
    reductions,
    scatters,
)
from mlc.dialects.autodiff.forward import pushforward
from mlc.dialects.autodiff.reverse import gradients, pullback
from mlc.dialects.autodiff.scalar import DIFFERENTIABLE, NoDerivative

__all__ = [
    "DIFFERENTIABLE", "NoDerivative", "branches", "collectives", "custom", "factors", "gradients", "loops", "moves",
    "products", "pullback", "pushforward", "reductions", "scatters",
]  # fmt: skip
