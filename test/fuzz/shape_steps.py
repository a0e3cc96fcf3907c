"""Steps that compute with shapes, make sequences, and steps of control flow whose course is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from growing import Graph, tensor_info
from onnx import helper, numpy_helper

ANY = ("float32", "int32", "int64", "float64", "bool", "uint8")


def shape_of(g: Graph) -> None:
    if name := g.value(0, ANY):
        shape = g.shapes[name]
        if g.random.random() < 0.3:
            g.add("Size", [name], (), "int64")
        else:
            start, end = g.random.randint(-3, 2), g.random.randint(0, 4)
            g.add("Shape", [name], (len(shape[start:end]),), "int64", start=start, end=end)


def filled(g: Graph) -> None:
    """A constant of a shape; another of an attribute; the identity."""
    shape, kind = g.shape(), g.random.choice(["float32", "int64", "bool", "float64"])
    op = g.random.choice(["ConstantOfShape", "Constant", "EyeLike"])
    if op == "Constant":
        g.add(op, [], shape, kind, value=numpy_helper.from_array(np.ones(shape, kind)))
    elif op == "ConstantOfShape":
        g.add(op, [g.constant(np.array(shape, np.int64))], shape, kind, value=numpy_helper.from_array(np.ones(1, kind)))
    else:
        x = g.new(g.shape(2), "float32")
        g.add(op, [x], g.shapes[x], k=g.random.randint(-2, 2))


def flatten(g: Graph) -> None:
    if name := g.value(1, ANY):
        shape = g.shapes[name]
        axis = g.random.randint(-len(shape), len(shape))
        g.add("Flatten", [name], (math.prod(shape[:axis]), math.prod(shape[axis:])), axis=axis)


def squeeze(g: Graph) -> None:
    """Dimensions of 1 come and go."""
    if (name := g.value(0, ANY)) is None:
        return
    shape, at = g.shapes[name], g.random.randint(0, len(g.shapes[name]))
    y = g.add("Unsqueeze", [name, g.constant([at])], (*shape[:at], 1, *shape[at:]))
    ones = [n for n, d in enumerate(g.shapes[y]) if d == 1]
    gone = ones if g.random.random() < 0.3 else [g.random.choice(ones)]
    inputs = [y] if gone == ones and g.random.random() < 0.5 else [y, g.constant(gone)]
    g.add("Squeeze", inputs, tuple(d for n, d in enumerate(g.shapes[y]) if n not in gone))


def counted(g: Graph) -> None:
    start, step, count = g.random.randint(-5, 5), g.random.choice([1, 2, -1, -3]), g.random.randint(1, 9)
    kind = g.random.choice(["int64", "int32", "float32"])
    limits = [g.constant(np.array(v, kind)) for v in (start, start + step * count, step)]
    g.add("Range", limits, (count,), kind)


def sequence(g: Graph) -> None:
    """Pieces of a value, reordered and put together again."""
    if (name := g.value(1)) is None or (extent := g.shapes[name][0]) < 2:
        return
    shape, made = g.shapes[name], f"q{len(g.shapes)}"
    first = g.random.randint(1, extent - 1)
    g.step("SplitToSequence", [name, g.constant([first, extent - first])], [made], axis=0)
    how = g.random.choice(["at", "join", "insert", "erase", "length"])
    rest = shape[1:]
    if how == "at":
        g.add("SequenceAt", [made, g.constant(-1)], (extent - first, *rest), "float32")
    elif how == "length":
        g.add("SequenceLength", [made], (), "int64")
    elif how == "join":
        g.add("ConcatFromSequence", [made], shape, "float32", axis=0)
    elif how == "erase":
        g.step("SequenceErase", [made, g.constant(0)], [f"{made}e"])
        g.add("ConcatFromSequence", [f"{made}e"], (extent - first, *rest), "float32", axis=0)
    else:
        g.step("SequenceInsert", [made, g.new((2, *rest)), g.constant(g.random.randint(0, 2))], [f"{made}i"])
        g.add("ConcatFromSequence", [f"{made}i"], (extent + 2, *rest), "float32", axis=0)


def construct(g: Graph) -> None:
    if name := g.value(0):
        shape, made = g.shapes[name], f"q{len(g.shapes)}"
        g.step("SequenceConstruct", [name, g.new(shape)], [made])
        g.add("ConcatFromSequence", [made], (2, *shape), "float32", axis=0, new_axis=1)


def grown(g: Graph) -> None:
    """A sequence that begins empty, of which each piece is changed."""
    if (name := g.value(1)) is None:
        return
    shape, tag = g.shapes[name], len(g.shapes)
    kind = helper.make_tensor_type_proto(1, shape)
    body = helper.make_graph(
        [helper.make_node("Tanh", [f"in{tag}"], [f"out{tag}"])], "each",
        [helper.make_value_info(f"in{tag}", kind)], [helper.make_value_info(f"out{tag}", kind)],
    )  # fmt: skip
    g.step("SequenceEmpty", [], [f"q{tag}"], dtype=1)
    g.step("SequenceInsert", [f"q{tag}", name], [f"q{tag}i"])
    g.step("SequenceInsert", [f"q{tag}i", g.new(shape), g.constant(g.random.randint(0, 1))], [f"q{tag}j"])
    g.step("SequenceMap", [f"q{tag}j"], [f"q{tag}m"], body=body)
    g.add("ConcatFromSequence", [f"q{tag}m"], (2 * shape[0], *shape[1:]), "float32", axis=0)


def optional(g: Graph) -> None:
    """A value that may be missing: whether it is there, and the value."""
    if name := g.value(0, ANY):
        made = f"o{len(g.shapes)}"
        g.step("Optional", [name], [made])
        g.add("OptionalHasElement", [made], (), "bool")
        g.add("OptionalGetElement", [made], g.shapes[name], g.types[name])


def branch(g: Graph) -> None:
    """One of two branches, which the model says."""
    if name := g.value():
        shape = g.shapes[name]
        bodies = {
            f"{side}_branch": helper.make_graph(
                [helper.make_node(op, [name], [f"{side}{len(g.shapes)}"])], side, [],
                [tensor_info(f"{side}{len(g.shapes)}", shape, "float32")],
            )
            for side, op in (("then", "Tanh"), ("else", "Neg"))
        }  # fmt: skip
        g.add("If", [g.constant(np.array(g.random.random() < 0.5))], shape, "float32", **bodies)


def loop(g: Graph) -> None:
    """A few iterations: a sum, and what it is after each of them."""
    if (name := g.value()) is None:
        return
    shape, tag, iterations = g.shapes[name], len(g.shapes), g.random.randint(1, 4)
    inner = [f"{part}{tag}" for part in ("iteration", "on", "sum", "same", "next", "each")]
    nodes = [
        helper.make_node("Identity", [inner[1]], [inner[3]]),
        helper.make_node("Add", [inner[2], name], [f"added{tag}"]),
        helper.make_node("Tanh", [f"added{tag}"], [inner[4]]),
        helper.make_node("Neg", [inner[4]], [inner[5]]),
    ]
    given = [tensor_info(n, s, k) for n, s, k in zip(inner, ((), (), shape), ("int64", "bool", "float32"))]  # noqa: B905
    made = [tensor_info(inner[3], (), "bool"), *(tensor_info(n, shape, "float32") for n in inner[4:])]
    body = helper.make_graph(nodes, "body", given, made)
    inputs = [g.constant(iterations), g.constant(np.array(True)), g.new(shape)]
    g.add("Loop", inputs, shape, "float32", body=body)
    g.more((iterations, *shape), "float32")


def scan(g: Graph) -> None:
    """A running sum over the first dimension."""
    if (name := g.value(1)) is None:
        return
    shape, tag = g.shapes[name], len(g.shapes)
    given = [tensor_info(f"{n}{tag}", shape[1:], "float32") for n in ("state", "row")]
    made = [tensor_info(f"{n}{tag}", shape[1:], "float32") for n in ("more", "each")]
    nodes = [
        helper.make_node("Add", [f"state{tag}", f"row{tag}"], [f"more{tag}"]),
        helper.make_node("Sin", [f"more{tag}"], [f"each{tag}"]),
    ]
    body, way = helper.make_graph(nodes, "body", given, made), [g.random.randint(0, 1)]
    inputs = [g.new(shape[1:]), name]
    g.add("Scan", inputs, shape[1:], body=body, num_scan_inputs=1, scan_input_directions=way, last=True)
    g.more(shape, "float32")


SHAPES: tuple[Callable[[Graph], None], ...] = (
    shape_of, filled, filled, flatten, squeeze, squeeze, counted, sequence, sequence, construct, grown, optional,
    branch, loop, scan,
)  # fmt: skip
