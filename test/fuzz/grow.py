"""Random valid ONNX graphs: an operator at a time, on values that are there.

Values have up to four dimensions of 1 to 12 elements. ``steps`` has the operators on float32, each chosen so that
numbers stay small, ``typed_steps`` those on other types, ``index_steps`` those that read and write at computed places.
A graph takes from all of them, or from the first alone.
"""

from __future__ import annotations

from random import Random

from growing import Graph
from index_steps import INDEXED
from onnx import ModelProto
from steps import STEPS
from typed_steps import TYPED


def grown(seed: int, size: int = 8) -> ModelProto:
    """A model of about ``size`` nodes; the same for the same seed."""
    graph = Graph(Random(seed))
    graph.new(graph.shape(graph.random.randint(1, 4)))
    families = [STEPS] if seed % 3 == 0 else [STEPS, TYPED, INDEXED]
    while len(graph.nodes) < size:
        graph.random.choice(graph.random.choice(families))(graph)
    return graph.model()
