"""Branches of which one runs, alone and in loops; against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from control import BOOL, FLOAT, INT64, Array, agree, body, kinds, model, node
from onnx import GraphProto, ModelProto

import mlc
from mlc.frontends.onnx.errors import UnsupportedError

RNG = np.random.default_rng(21)


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def side(ops: str) -> GraphProto:
    """Elementwise operators one behind the other, or a product with ``w``, on the captured ``x``."""
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


def test_branches_of_different_shapes_are_refused() -> None:
    nodes = [
        node(
            "If",
            "c",
            "z",
            then_branch=side("Identity"),
            else_branch=body([node("ReduceSum", "x", "y")], {}, {"y": (FLOAT, None)}),
        )
    ]
    with pytest.raises(UnsupportedError, match=r"branches that give f32\[3, 4\] and f32\[1, 1\]"):
        mlc.compile(model(nodes, {"c": (BOOL, []), "x": (FLOAT, [3, 4])}, {"z": (FLOAT, None)}))


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
