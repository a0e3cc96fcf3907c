"""Random valid ONNX graphs: an operator at a time, on values that are there.

All values are float32, of up to four dimensions of 1 to 12 elements; ``steps`` has the operators, each chosen so that
numbers stay small.
"""

from __future__ import annotations

from random import Random

from growing import Graph
from onnx import ModelProto
from steps import STEPS


def grown(seed: int, size: int = 8) -> ModelProto:
    """A model of about ``size`` nodes; the same for the same seed."""
    graph = Graph(Random(seed))
    graph.new(graph.shape(graph.random.randint(1, 4)))
    while len(graph.nodes) < size:
        graph.random.choice(STEPS)(graph)
    return graph.model()
