"""Blocks of other blocks: residuals, diamonds, parts, other orders of axes; loops and branches with blocks inside."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from block_steps import Block, same
from growing import Graph, Shape, tensor_info
from onnx import GraphProto, helper


def residual(g: Graph, x: str, block: Block) -> str:
    return same(g, "Add", *g.random.sample([x, block(g, x)], 2))


def sequence(g: Graph, x: str, block: Block) -> str:
    for _ in range(g.random.randint(2, 3)):
        x = block(g, x)
    return x


def diamond(g: Graph, x: str, block: Block) -> str:
    """Two paths or more from one value to another."""
    paths = [block(g, x) for _ in range(g.random.randint(2, 4))] + [x] * (g.random.random() < 0.3)
    op = g.random.choice(["Add", "Mul", "Sub", "Max"])
    y = paths[0]
    for path in paths[1:]:
        y = same(g, op, *g.random.sample([y, path], 2))
    return same(g, "Tanh", y)


def crossed(g: Graph, x: str, block: Block) -> str:
    """Two paths that read each other."""
    a, b = block(g, x), same(g, "Sigmoid", x)
    c = same(g, "Mul", a, b)
    d = block(g, same(g, "Add", b, c))
    return same(g, "Sub", same(g, "Tanh", d), same(g, "Mul", a, c))


def flat(g: Graph, x: str, block: Block) -> str:
    """In another shape, and back."""
    shape = g.shapes[x]
    at = g.random.randrange(len(shape))
    other = (math.prod(shape[:at]), math.prod(shape[at:]))
    y = g.add("Reshape", [x, g.constant(list(other))], other)
    return g.add("Reshape", [block(g, y), g.constant(list(shape))], shape)


def turned(g: Graph, x: str, block: Block) -> str:
    """In another order of axes, and back."""
    shape = g.shapes[x]
    order = g.random.sample(range(len(shape)), len(shape))
    y = g.add("Transpose", [x], tuple(shape[n] for n in order), perm=order)
    return g.add("Transpose", [block(g, y)], shape, perm=[order.index(n) for n in range(len(shape))])


def halves(g: Graph, x: str, block: Block) -> str:
    """Two parts of an axis, each through a block of its own."""
    shape = g.shapes[x]
    even = [n for n, d in enumerate(shape) if d % 2 == 0]
    if not even:
        return residual(g, x, block)
    axis = g.random.choice(even)
    half = tuple(d // 2 if n == axis else d for n, d in enumerate(shape))
    first = g.add("Split", [x], half, axis=axis, num_outputs=2)
    parts = [first, g.more(half, "float32")]
    parts = [block(g, part) if g.random.random() < 0.7 else part for part in parts]
    g.random.shuffle(parts)
    return g.add("Concat", parts, shape, axis=axis)


class Body:
    """A graph in the making that a node has as an attribute: it reads values of the graph around it."""

    def __init__(self, outer: Graph) -> None:
        self.outer = outer
        self.inputs: list[tuple[str, Shape, str]] = []
        shared = {"constants": outer.constants, "inputs": outer.inputs, "choices": outer.choices}
        self.graph = Graph(
            outer.random, dict(outer.shapes), dict(outer.types), set(outer.last), opset=outer.opset,
            extents=outer.extents, **shared,
        )  # fmt: skip

    def input(self, shape: Shape, kind: str = "float32") -> str:
        name = f"v{len(self.graph.shapes)}"
        self.graph.shapes[name], self.graph.types[name] = shape, kind
        self.graph.last |= {name} if kind != "float32" else set()
        self.inputs.append((name, shape, kind))
        return name

    def done(self, outputs: Sequence[str]) -> GraphProto:
        """The graph; the names of its values are not free any more outside, nor may they be read there."""
        g = self.graph
        results = [g.add("Identity", [name], g.shapes[name], g.types[name], last=True) for name in outputs]
        given = [tensor_info(*each) for each in self.inputs]
        body = helper.make_graph(g.nodes, "body", given, [tensor_info(n, g.shapes[n], g.types[n]) for n in results])
        stored = {tensor.name for tensor in g.constants}
        hidden = {n for n in g.shapes if n not in self.outer.shapes and n not in g.inputs and n not in stored}
        self.outer.shapes |= g.shapes
        self.outer.types |= g.types
        self.outer.last |= g.last | hidden
        return body


def branch(g: Graph, x: str, block: Block) -> str:
    """One of two blocks, by an input or a constant."""
    bodies = {}
    for name in ("then_branch", "else_branch"):
        body = Body(g)
        bodies[name] = body.done([block(body.graph, x) if g.random.random() < 0.8 else x])
    flag = np.array([False, True])
    condition = g.given(flag) if g.random.random() < 0.7 else g.constant(g.random.choice(flag))
    return g.add("If", [condition], g.shapes[x], "float32", **bodies)


def loop(g: Graph, x: str, block: Block) -> str:
    """Up to three times through a block; all states may be collected."""
    body = Body(g)
    body.input((), "int64")
    going, state = body.input((), "bool"), body.input(g.shapes[x])
    y = block(body.graph, state)
    collect = g.random.random() < 0.3
    inner = body.done([going, y, *([y] if collect else [])])
    trips = g.random.randint(1, 3)
    count = g.given(np.array([0, 1, 3])) if g.random.random() < 0.4 and not collect else g.constant(np.int64(trips))
    result = g.add("Loop", [count, g.constant(np.bool_(True)), x], g.shapes[x], "float32", body=inner)
    if collect:
        states = g.more((trips, *g.shapes[x]), "float32")
        largest = g.add("ReduceMax", [states, g.constant([0])], g.shapes[x], keepdims=0)
        result = same(g, "Sub", result, same(g, "Tanh", largest))
    return result


def scan(g: Graph, x: str, block: Block) -> str:
    """Row by row, with what came before."""
    if len(g.shapes[x]) < 2:
        return residual(g, x, block)
    body, row = Body(g), g.shapes[x][1:]
    state, each = body.input(row), body.input(row)
    y = same(body.graph, "Tanh", same(body.graph, "Add", block(body.graph, each), state))
    inner = body.done([y, y])
    first = g.new(row)
    g.add("Scan", [first, x], row, "float32", body=inner, num_scan_inputs=1)
    return g.more(g.shapes[x], "float32")


Nested = Callable[[Graph, str, Block], str]
NESTED: tuple[Nested, ...] = (
    residual, sequence, sequence, diamond, diamond, crossed, flat, turned, halves, branch, loop, scan,
)  # fmt: skip
