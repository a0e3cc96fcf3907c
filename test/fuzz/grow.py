"""Random valid ONNX graphs: an operator at a time, on values that are there.

Values have up to four dimensions of 1 to 12 elements. ``steps`` has the operators on float32, each chosen so that
numbers stay small, ``typed_steps`` those on other types, ``index_steps`` those that read and write at computed indices,
and so on. A graph takes from a few of these families, or from the first or those of any type alone; sixteen graphs in
a row have one opset.
"""

from __future__ import annotations

from random import Random

import old_steps
from any_steps import ANY
from growing import OPSETS, Graph
from index_steps import INDEXED
from layer_steps import LAYERS
from map_steps import MAPS
from microsoft_steps import MICROSOFT
from ml_steps import ML
from onnx import ModelProto
from open_steps import OPEN
from quantized_steps import QUANTIZED
from random_steps import RANDOM
from run_time_steps import RUN_TIME
from shape_steps import SHAPES
from steps import STEPS
from string_steps import STRINGS
from typed_steps import TYPED
from unsized_steps import ROWS, first_rows
from window_steps import WINDOWS

FAMILIES = (STEPS, TYPED, INDEXED, MAPS, SHAPES, WINDOWS, QUANTIZED, MICROSOFT, ML, STRINGS, RANDOM, RUN_TIME)


def grown(seed: int, size: int = 8) -> ModelProto:
    """A model of about ``size`` nodes; the same for the same seed."""
    old = seed // 16 % 16 == 15
    graph = Graph(Random(seed), opset=old_steps.OPSET if old else OPSETS[seed // 16 % len(OPSETS)])
    if seed % 6 == 2 and not old:
        return _open(graph, size)
    graph.new(graph.shape(graph.random.randint(1, 4)))
    families = {0: [STEPS], 1: [ANY], 3: [ANY, LAYERS]}.get(seed % 6) or graph.random.sample(FAMILIES, 3)
    families = [old_steps.OLD] if old else families
    while len(graph.nodes) < size:
        graph.random.choice(graph.random.choice(families))(graph)
    return graph.model()


def _open(graph: Graph, size: int) -> ModelProto:
    """A model whose inputs have an open dimension, or of which it reads as many rows as a run says."""
    names = [graph.new((ROWS, *graph.shape(rank - 1))) for rank in (2, 4)]
    graph.inputs |= {name: graph.shapes[name] for name in names}
    graph.constants.clear()
    graph.open |= {*(names if graph.random.random() < 0.5 else first_rows(graph, names))}
    while len(graph.nodes) < size:
        graph.random.choice(OPEN)(graph)
    return graph.model()
