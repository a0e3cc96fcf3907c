"""Nodes that ask for more elements, steps or nodes than any machine has, from little text."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from onnx import NodeProto, helper, numpy_helper

HUGE = [2**20, 2**31, 2**40, 2**62, 2**63 - 1, -1, -(2**63)]


def _constant(name: str, value: Any, dtype: Any = np.int64) -> NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value, dtype)))


def _filled(random: Random) -> list[NodeProto]:
    sizes = random.choice([[random.choice(HUGE)], [2**31, 2**31], [2**32, 2**32], [2**20] * 3, [1] * 70])
    used = random.choice(["Neg", "Shape", "ReduceSum", "NonZero", "Size"])
    return [
        _constant("s", sizes),
        helper.make_node("ConstantOfShape", ["s"], ["f"]),
        helper.make_node(used, ["f"], ["z"]),
    ]


def _repeated(random: Random) -> list[NodeProto]:
    op = random.choice(["Tile", "Expand"])
    return [_constant("s", [random.choice(HUGE), random.choice(HUGE)]), helper.make_node(op, ["t", "s"], ["z"])]


def _counted(random: Random) -> list[NodeProto]:
    ends = random.choice([(0, 2**62, 1), (0, 10, 0), (-(2**63), 2**63 - 1, 1), (0, 2**40, 1), (2**63 - 1, 0, -1)])
    kind = random.choice([np.int64, np.float32, np.float64])
    parts = [_constant(name, kind(end), kind) for name, end in zip("abd", ends, strict=True)]
    return [*parts, helper.make_node("Range", ["a", "b", "d"], ["z"])]


def _doubled(random: Random) -> list[NodeProto]:
    """A value beside itself, again and again: of constants, or of the input."""
    op = random.choice(["Concat", "Add", "Mul"])
    start = random.choice(["w", "t"])
    names = [start, *(f"q{n}" for n in range(random.choice([40, 62, 70])))]
    axis = {"axis": 0} if op == "Concat" else {}
    return [helper.make_node(op, [a, a], [b], **axis) for a, b in zip(names, names[1:], strict=False)]


def _padded(random: Random) -> list[NodeProto]:
    mode = random.choice(["constant", "reflect", "edge", "wrap"])
    pads = [random.choice([*HUGE, 3, -3]) for _ in range(4)]
    return [_constant("p", pads), helper.make_node("Pad", ["t", "p"], ["z"], mode=mode)]


def _resized(random: Random) -> list[NodeProto]:
    scales = [random.choice([1e30, 0.0, -1.0, float("nan"), float("inf"), 1e-30, 1.0]) for _ in range(2)]
    mode = random.choice(["nearest", "linear", "cubic"])
    return [_constant("s", scales, np.float32), helper.make_node("Resize", ["t", "", "s"], ["z"], mode=mode)]


def _looped(random: Random) -> list[NodeProto]:
    """A loop of 2⁶³ - 1 steps, whose scan output has as many rows."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Identity", ["n"], ["r"])],
        "body",
        [helper.make_tensor_value_info("n", 7, []), helper.make_tensor_value_info("go", 9, [])],
        [helper.make_tensor_value_info("on", 9, []), helper.make_tensor_value_info("r", 7, [])],
    )
    return [_constant("m", random.choice(HUGE)), helper.make_node("Loop", ["m", ""], ["z"], body=body)]


def _encoded(random: Random) -> list[NodeProto]:
    depth, axis = random.choice(HUGE), random.choice([-1, 0, 9, 2**40])
    parts = [_constant("d", depth), _constant("v", [0, 1]), _constant("i", [0, 2])]
    return [*parts, helper.make_node("OneHot", ["i", "d", "v"], ["z"], axis=axis)]


def _windows(random: Random) -> list[NodeProto]:
    """Convolutions and pools of huge windows, strides, dilations and pads."""
    op = random.choice(["MaxPool", "AveragePool", "Conv", "ConvTranspose", "LpPool"])
    shape = [_constant("s", [1, 1, -1, 4]), helper.make_node("Reshape", ["t", "s"], ["i"])]
    name = random.choice(["kernel_shape", "strides", "dilations", "pads", "output_padding", "output_shape", "group"])
    value: Any = [random.choice([*HUGE, 0]) for _ in range(4 if name == "pads" else 2)]
    made = {"kernel_shape": [2, 2]} | {name: value[0] if name == "group" else value}
    kernel = [_constant("k", np.ones((1, 1, 2, 2)), np.float32)]
    return [*shape, *kernel, helper.make_node(op, ["i", "k"] if "Conv" in op else ["i"], ["z"], **made)]


def _forest(random: Random) -> list[NodeProto]:
    """A tree whose branches lead back, or to nodes that are not there."""
    links = random.choice([[0, 0, 0], [1, 0, 0], [2**62, 1, 1], [-1, 2, 2], [1, 2, 0]])
    modes = random.choice([["BRANCH_LEQ", "LEAF", "LEAF"], ["BRANCH_LEQ"] * 3, ["LEAF"] * 3, ["ODD"] * 3])
    ids = random.choice([[0, 1, 2], [0, 0, 0], [2**62, 1, 2], [0, 1]])
    attributes = {
        "nodes_treeids": [0] * len(ids), "nodes_nodeids": ids, "nodes_modes": modes,
        "nodes_featureids": [random.choice([0, -1, 2**62, 9])] * 3, "nodes_values": [0.5] * 3,
        "nodes_truenodeids": links, "nodes_falsenodeids": [2, 0, 0],
        "target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, random.choice([0, -1, 2**40])],
        "target_weights": [1.0, float("nan")], "n_targets": random.choice([1, 0, -1, 2**40]),
    }  # fmt: skip
    return [helper.make_node("TreeEnsembleRegressor", ["t"], ["z"], domain="ai.onnx.ml", **attributes)]


def _pattern(random: Random) -> list[NodeProto]:
    patterns = [
        "(a+)+$",
        "((a{1000}){1000}){1000}",
        "(" * 5000,
        "[",
        "a**",
        "(?=a)",
        "\\1",
        "(a|a)*b",
        "a{99999999999}",
        "\0",
    ]
    strings = helper.make_node("Constant", [], ["str"], value=helper.make_tensor("v", 8, [1], [b"a" * 40]))
    return [strings, helper.make_node("RegexFullMatch", ["str"], ["z"], pattern=random.choice(patterns))]


def _sum(random: Random) -> list[NodeProto]:
    equations = [
        "i" * 5000,
        "ij->" + "i" * 60,
        "...ij,...jk",
        "ij,jk->il",
        "->",
        ",,,,",
        "ij->k",
        "i j",
        "\0",
        "i->i->i",
    ]
    return [helper.make_node("Einsum", ["t", "t"][: random.choice([1, 2])], ["z"], equation=random.choice(equations))]


def _many(random: Random) -> list[NodeProto]:
    """One node with thousands of inputs or outputs, or a chain of thousands."""
    count = random.choice([3000, 20000])
    if random.random() < 0.5:
        return [helper.make_node("Concat", ["w"] * count, ["z"], axis=0)]
    return [helper.make_node("Split", ["t"], [f"z{n}" for n in range(count)], axis=0, num_outputs=count)]


def _sliced(random: Random) -> list[NodeProto]:
    numbers = [random.choice([*HUGE, 0, 1]) for _ in range(4)]
    parts = [_constant(name, [number]) for name, number in zip("abcd", numbers, strict=True)]
    return [*parts, helper.make_node("Slice", ["t", "a", "b", "c", "d"], ["z"])]


BOMBS = (
    _filled, _repeated, _counted, _doubled, _padded, _resized, _looped, _encoded, _windows, _forest, _pattern, _sum,
    _many, _sliced,
)  # fmt: skip
