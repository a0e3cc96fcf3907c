"""Branches of which one runs, alone and in loops; against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from control import BOOL, FLOAT, INT64, Array, agree, body, kinds, model, node
from onnx import GraphProto, ModelProto, helper

import mlc
from benchmarks.models.growing import KINDS
from mlc.frontends.onnx.errors import UnsupportedError

RNG = np.random.default_rng(21)


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def side(ops: str) -> GraphProto:
    """Elementwise operators one after the other, or a product with ``w``, on the captured ``x``."""
    names = ["x", *(f"v{n}" for n in range(len(ops.split()) - 1)), "y"]
    nodes = [
        node(op, f"{a} w" if op == "MatMul" else a, b) for op, a, b in zip(ops.split(), names, names[1:], strict=False)
    ]
    return body(nodes, {}, {"y": (FLOAT, None)})


def branching(then: str, other: str) -> ModelProto:
    weights = {"w": normal(33, 33), "zero": np.float32(0)}
    nodes = [
        node("ReduceSum", "x", "sum", keepdims=0),
        node("Greater", "sum zero", "positive"),
        node("If", "positive", "z", then_branch=side(then), else_branch=side(other)),
        node("Neg", "z", "r"),
    ]
    return model(nodes, {"x": (FLOAT, [33, 33])}, {"z": (FLOAT, [33, 33]), "r": (FLOAT, [33, 33])}, weights)


def test_one_branch_runs() -> None:
    proto = branching("MatMul Tanh", "Exp MatMul")
    x = np.abs(normal(33, 33)) * 0.1
    agree(proto, {"x": x}, {"x": -x})
    assert kinds(proto) == ["graph.if"]
    compiled = mlc.compile(proto, threads=1)
    idle = [{n for n, (_, ns) in enumerate(compiled.profile(sign * x)) if ns == 0} for sign in (1, -1)]
    assert all(idle) and idle[0].isdisjoint(idle[1]), "a kernel of the branch that is not taken ran"


def test_cheap_maps_are_both_computed() -> None:
    proto = branching("Neg Abs", "Relu")
    assert kinds(proto) == []
    agree(proto, {"x": normal(33, 33)}, {"x": -np.abs(normal(33, 33))})


def test_a_branch_that_gives_a_captured_value() -> None:
    proto = branching("Identity", "Erf Exp")
    agree(proto, {"x": np.abs(normal(33, 33))}, {"x": -np.abs(normal(33, 33))})


def choosing(then: GraphProto, other: GraphProto, rows: int | str = 3) -> ModelProto:
    """z of one of two branches, and its elements' products with themselves."""
    nodes = [node("If", "c", "z", then_branch=then, else_branch=other), node("Mul", "z z", "w")]
    return model(nodes, {"c": (BOOL, []), "x": (FLOAT, [rows, 4])}, {"z": (FLOAT, None), "w": (FLOAT, None)})


def only(op: str, **attributes: object) -> GraphProto:
    return body([node(op, "x", "y", **attributes)], {}, {"y": (FLOAT, None)})


OTHERS = {
    "sum": only("ReduceSum"),
    "transposed": only("Transpose", perm=[1, 0]),
    "nothing": body([node("Slice", "x at at", "y")], {}, {"y": (FLOAT, None)}, {"at": np.array([1])}),
    "captured": only("Identity"),
}


@pytest.mark.parametrize("rows", [3, "n"])
@pytest.mark.parametrize("other", OTHERS)
def test_branches_of_different_extents(other: str, rows: int | str) -> None:
    then = body([node("Tanh", "x", "t"), node("Concat", "t x t", "y", axis=0)], {}, {"y": (FLOAT, None)})
    for proto in (choosing(then, OTHERS[other], rows), choosing(OTHERS[other], then, rows)):
        x = normal(3, 4)
        agree(proto, {"c": np.array(True), "x": x}, {"c": np.array(False), "x": x})


def test_branches_of_different_extents_in_each_other() -> None:
    """The extents of the inner one are data in a branch of the outer; a third gives as many rows as are positive."""
    choice = node("If", "d", "a", then_branch=OTHERS["sum"], else_branch=OTHERS["transposed"])
    inner = body([choice, node("Tanh", "a", "y")], {}, {"y": (FLOAT, None)})
    proto = choosing(inner, OTHERS["captured"])
    proto.graph.input.append(helper.make_tensor_value_info("d", BOOL, []))
    x = normal(3, 4)
    agree(proto, *({"c": np.array(c), "d": np.array(d), "x": x} for c in (True, False) for d in (True, False)))


def test_branches_whose_sizes_data_says() -> None:
    """Rows of which the first element is positive, or all."""
    nodes = [
        node("Gather", "x zero", "first", axis=1),
        node("Greater", "first zerof", "mask"),
        node("Compress", "x mask", "rows", axis=0),
        node("Exp", "rows", "y"),
    ]
    chosen = body(nodes, {}, {"y": (FLOAT, None)}, {"zero": np.int64(0), "zerof": np.float32(0)})
    x = normal(9, 4)
    for proto in (choosing(chosen, OTHERS["captured"], "n"), choosing(OTHERS["transposed"], chosen, 9)):
        agree(proto, *({"c": np.array(c), "x": y} for c in (True, False) for y in (x, -x, np.abs(x), -np.abs(x))))


@pytest.mark.parametrize("other", [only("Flatten", axis=0), only("Shape")])
def test_branches_of_different_ranks_or_types_are_refused(other: GraphProto) -> None:
    squeezed = body([node("ReduceSum", "x", "y", keepdims=0)], {}, {"y": (FLOAT, None)})
    with pytest.raises(UnsupportedError, match=r"branches with results f32\[\] and "):
        mlc.compile(choosing(squeezed, other))


def test_a_branch_in_a_loop_in_a_loop() -> None:
    """Collatz' sequence of each of several numbers, and a product of matrices for each odd one."""
    odd = body(
        [
            node("Mul", "n three", "n3"),
            node("Add", "n3 one", "m"),
            node("MatMul", "s w", "sw"),
            node("Tanh", "sw", "t"),
        ],
        {},
        {"m": (INT64, []), "t": (FLOAT, [4, 4])},
    )
    even = body([node("Div", "n two", "m"), node("Identity", "s", "t")], {}, {"m": (INT64, []), "t": (FLOAT, [4, 4])})
    inner = body(
        [
            node("Mod", "n two", "rest"),
            node("Equal", "rest one", "is_odd"),
            node("If", "is_odd", "m t", then_branch=odd, else_branch=even),
            node("Greater", "m one", "more"),
        ],
        {"j": (INT64, []), "jc": (BOOL, []), "n": (INT64, []), "s": (FLOAT, [4, 4])},
        {"more": (BOOL, []), "m": (INT64, []), "t": (FLOAT, [4, 4])},
    )
    outer = body(
        [
            node("Gather", "starts i", "start"),
            node("Loop", "_ c start s", "end t", body=inner),
            node("Identity", "c", "d"),
            node("ReduceL2", "t", "y", keepdims=0),
        ],
        {"i": (INT64, []), "c": (BOOL, []), "s": (FLOAT, [4, 4])},
        {"d": (BOOL, []), "t": (FLOAT, [4, 4]), "y": (FLOAT, [])},
    )
    turned = np.linalg.qr(normal(4, 4))[0]  # neither lets the state vanish nor its rounding grow
    weights = {"one": np.int64(1), "two": np.int64(2), "three": np.int64(3), "w": turned, "count": np.int64(20)}
    nodes = [node("Loop", "count go x", "last ys", body=outer)]
    inputs = {"x": (FLOAT, [4, 4]), "starts": (INT64, [20])}
    outputs = {"last": (FLOAT, [4, 4]), "ys": (FLOAT, None)}
    proto = model(nodes, inputs, outputs, weights | {"go": np.bool_(True)})
    feeds = [{"x": normal(4, 4), "starts": RNG.integers(2, 30, 20)} for _ in range(3)]
    agree(proto, *feeds, rtol=1e-4)


@pytest.mark.parametrize("kind", ["if", "work-if"])
def test_deep_nests_are_imported_once(kind: str) -> None:
    """28 levels, as deep as protobuf takes them; each was imported twice, so 16 took 36 seconds."""
    proto, x = KINDS[kind].make(28), normal(4, 8)
    agree(proto, {"v0": x, "c": np.array(True)}, {"v0": x, "c": np.array(False)})
