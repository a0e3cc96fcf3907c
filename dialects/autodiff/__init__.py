"""Reverse-mode autodiff: derivatives of scalar expressions, of statements and of operators, and the reverse walk.

The derivative of a graph operator consists of graph operators, so it has derivatives itself.
"""

from mlc.dialects.autodiff import moves, products, reductions  # their rules
from mlc.dialects.autodiff.reverse import gradients
from mlc.dialects.autodiff.scalar import DIFFERENTIABLE, NoDerivative

__all__ = ["DIFFERENTIABLE", "NoDerivative", "gradients", "moves", "products", "reductions"]
