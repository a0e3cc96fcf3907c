"""Derivatives of graphs: of scalar expressions, of statements, of operators, and the walk that joins them.

The derivative of a graph operator is made of graph operators, so it has derivatives itself.
"""

from mlc.dialects.derivative.reverse import gradients
from mlc.dialects.derivative.scalar import DIFFERENTIABLE, NoDerivative

__all__ = ["DIFFERENTIABLE", "NoDerivative", "gradients"]
