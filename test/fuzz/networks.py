"""Random networks as PyTorch exports them, of blocks: layers, residuals, diamonds, chains, nested loops and branches.

A block computes a value of the shape of its operand, so that any block may follow, wrap or be the body of another. All
extents of a network are from a tiny set, such as {1, 8}: where extents coincide, shapes do not say which axis is which.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from block_steps import CELLS, IMAGES, MATRICES, SQUARES, VALUES
from growing import OPSETS, Graph
from nested_steps import NESTED
from onnx import ModelProto

EXTENTS = [(8,), (1, 8), (1, 8), (4,), (1, 4), (4, 8), (7,), (1, 3, 8)]
DEPTH = 3  # of blocks in blocks
Block = Callable[[Graph, str], str]


def network(seed: int, size: int = 8) -> ModelProto:
    """A model of about ``size`` blocks; the same for the same seed."""
    g = Graph(Random(seed), opset=OPSETS[seed // 16 % len(OPSETS)], extents=EXTENTS[seed % len(EXTENTS)])
    rank = g.random.choice([1, 2, 2, 2, 3, 3, 4, 4])
    x = g.new(tuple(g.random.choice(g.extents) for _ in range(rank)))
    made = [x]
    for _ in range(g.random.randint(1, max(1, size - 2))):
        x = g.random.choice([made[-1], made[-1], made[-1], g.random.choice(made)])
        made.append(block(g, x, DEPTH))
    g.add("Identity", [made[-1]], g.shapes[made[-1]])
    return g.model()


def block(g: Graph, x: str, depth: int) -> str:
    """Some block that fits the rank of ``x``; one of other blocks while ``depth`` is left."""
    rank, square = len(g.shapes[x]), len(g.shapes[x]) > 1 and len(set(g.shapes[x][-2:])) == 1
    fit = [VALUES] + [MATRICES, CELLS] * (rank in (2, 3)) + [IMAGES, IMAGES] * (rank == 4) + [SQUARES] * square
    if depth and g.random.random() < 0.45:
        return g.random.choice(NESTED)(g, x, lambda inner, value: block(inner, value, depth - 1))
    return g.random.choice(g.random.choice(fit))(g, x)
