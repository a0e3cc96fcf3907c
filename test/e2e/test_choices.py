"""Conditions on sizes and on data of which one branch cannot be computed, or gives other ranks; against onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime
import pytest
from control import FLOAT, INT64, Array, agree, body, kinds, model, node
from onnx import ModelProto, NodeProto

import mlc
from mlc.errors import RunError
from mlc.frontends.onnx.errors import UnsupportedError

RNG = np.random.default_rng()
CONSTANTS = {
    "last": np.int64(-1), "one": np.int64(1), "two": np.int64(2), "five": np.int64(5), "zero": np.float32(0),
    "lasts": np.array([-1]), "far": np.array([2**31 - 1]), "front": np.array([1]), "axis": np.array([2]),
}  # fmt: skip
SIZE = [node("Shape", "x", "shape"), node("Gather", "shape last", "size")]
Feed = Mapping[str, Array]


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def built(
    nodes: Sequence[NodeProto], x: Sequence[int | str], y: str = "y", inputs: Any = None, **weights: Array
) -> ModelProto:
    return model(nodes, {"x": (FLOAT, x), **(inputs or {})}, {y: (FLOAT, None)}, CONSTANTS | weights, opset=18)


def squeezed(x: str = "x", y: str = "y") -> list[NodeProto]:
    """What TorchScript makes of ``x.squeeze(-1)``."""
    then = body([node("Squeeze", f"{x} lasts", f"{y}t")], {}, {f"{y}t": (FLOAT, None)})
    other = body([node("Identity", x, f"{y}e")], {}, {f"{y}e": (FLOAT, None)})
    sizes = [node("Shape", x, f"{y}s"), node("Gather", f"{y}s last", f"{y}k"), node("Equal", f"{y}k one", f"{y}c")]
    return [*sizes, node("If", f"{y}c", y, then_branch=then, else_branch=other)]


def side(*nodes: NodeProto) -> Any:
    name = nodes[-1].output[0]
    return body(nodes, {}, {name: (FLOAT, None)})


def refused(net: mlc.Model, proto: ModelProto, feed: Feed, match: str) -> None:
    """Neither mlc nor onnxruntime runs it."""
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        onnxruntime.InferenceSession(proto.SerializeToString()).run(None, dict(feed))
    with pytest.raises(RunError, match=match):
        net.run(feed)


def test_an_output_of_either_rank_has_that_of_the_sizes() -> None:
    agree(built(squeezed(), ["b", 4, "k"]), *({"x": normal(*shape)} for shape in ((2, 4, 5), (1, 4, 2), (2, 4, 1))))


def test_outputs_that_differ_otherwise_are_those_of_most_sizes() -> None:
    proto = built([*squeezed("x", "s"), node("Gather", "s one", "y", axis=-1)], ["b", 4, "k"])
    agree(proto, {"x": normal(2, 4, 5)}, {"x": normal(1, 4, 2)})
    with pytest.raises(RunError, match=r"accepts only k != 1, but k is 1; If at node 'If.s' .*--dim k=1"):
        mlc.compile(proto)(normal(2, 4, 1))


def test_what_both_branches_need_does_not_decide_on_the_likely_one() -> None:
    """Three sizes in four do not fit a Reshape that follows both branches of a squeeze."""
    positive = [node("ReduceSum", "x", "sum", keepdims=0), node("Greater", "sum zero", "p")]
    rows = side(node("Reshape", "z four", "zt"))
    other = side(node("Neg", "z", "zn"), node("Reshape", "zn four", "ze"))
    nodes = [*squeezed(), *positive, node("If", "p", "w", then_branch=rows, else_branch=other)]
    proto = model(nodes, {"x": (FLOAT, ["b", "k"]), "z": (FLOAT, ["m"])}, {"y": (FLOAT, None), "w": (FLOAT, None)},
                  CONSTANTS | {"four": np.array([-1, 4])}, opset=18)  # fmt: skip
    agree(proto, *({"x": normal(2, k), "z": normal(m)} for k, m in ((5, 4), (2, 12))))


@pytest.mark.parametrize("size", [1, 5])
def test_a_condition_vanishes_where_sizes_are_given(size: int) -> None:
    proto = built(squeezed(), ["b", 4, "k"])
    net = mlc.compile(proto, dims={"k": size})
    assert not net.signature["guards"]
    x = normal(2, 4, size)
    np.testing.assert_array_equal(net(x), x.squeeze(-1) if size == 1 else x)


def test_the_branch_that_makes_the_rest_valid_is_taken() -> None:
    """A product with rows of 6 channels: of signals of which convolutions leave one element."""
    rest = [node("Conv", "x w", "f", strides=[2]), *squeezed("f", "g"), node("MatMul", "g v", "y")]
    proto = built(rest, ["b", 4, "k"], w=normal(6, 4, 3), v=normal(6, 3))
    agree(proto, {"x": normal(2, 4, 3)}, {"x": normal(1, 4, 4)}, rtol=1e-4)
    refused(mlc.compile(proto), proto, {"x": normal(2, 4, 5)}, "Squeeze at node 'If.g/Squeeze.gt' needs that")


def test_ranks_that_meet_again_are_two_variants() -> None:
    rest = [*squeezed("x", "s"), node("Tanh", "s", "t"), node("Neg", "x", "n"), node("Flatten", "t", "f"),
            node("ReduceSum", "n lasts", "r", keepdims=0), node("ReduceSum", "r lasts", "q"),
            node("Add", "f q", "y")]  # fmt: skip
    proto = built(rest, ["b", 4, "k"])
    assert kinds(proto) == ["graph.if"]
    agree(proto, {"x": normal(2, 4, 5)}, {"x": normal(2, 4, 1)}, {"x": normal(1, 4, 2)})


def test_conditions_one_after_the_other() -> None:
    rest = [*squeezed("x", "s"), node("Exp", "s", "e"), *squeezed("e", "t"), node("Tanh", "t", "u"),
            node("Size", "u", "n"), node("Cast", "n", "z", to=FLOAT), node("ReduceMax", "u", "m", keepdims=0),
            node("Mul", "z m", "y")]  # fmt: skip
    proto = built(rest, ["b", "j", "k"])
    agree(proto, *({"x": normal(*shape)} for shape in ((2, 3, 4), (2, 3, 1), (2, 1, 1), (3, 1, 2))))


CONDITIONS: dict[str, list[NodeProto]] = {
    "greater": [node("Greater", "size five", "c")],
    "not equal": [node("Equal", "size five", "e"), node("Not", "e", "c")],
    "and": [node("Greater", "size one", "a"), node("Less", "size five", "b"), node("And", "a b", "c")],
    "or": [node("Greater", "size five", "a"), node("Equal", "size one", "b"), node("Or", "a b", "c")],
    "odd": [node("Mod", "size two", "m"), node("Cast", "m", "c", to=9)],
    "elements": [node("Size", "x", "n"), node("Sub", "n five", "d"), node("Greater", "d five", "c")],
    "slice": [node("Slice", "shape lasts far", "k"), node("Equal", "k one", "e"), node("Squeeze", "e", "c")],
    "number": [node("Greater", "size two", "a"), node("Cast", "a", "n", to=INT64), node("Equal", "n one", "c")],
    "all": [node("Greater", "shape one", "a"), node("Cast", "a", "n", to=6), node("ReduceMin", "n", "m", keepdims=0),
            node("Cast", "m", "c", to=9)],
    "sequence": [node("SplitToSequence", "shape", "parts", keepdims=0), node("SequenceAt", "parts last", "k"),
                 node("Equal", "k two", "c")],
}  # fmt: skip


@pytest.mark.parametrize("name", CONDITIONS)
def test_branches_of_other_extents_on_sizes(name: str) -> None:
    """Twice as many where the condition holds, one less where it does not."""
    then, other = node("Concat", "x x", "p", axis=2), node("Slice", "x front far axis", "q")
    choice = node("If", "c", "z", then_branch=side(then), else_branch=side(other))
    proto = built([*SIZE, *CONDITIONS[name], choice, node("Tanh", "z", "y")], ["b", 2, "k"])
    agree(proto, *({"x": normal(b, 2, k)} for b, k in ((2, 4), (1, 5), (2, 7), (3, 2))))


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_branch_that_cannot_be_computed_is_a_guard(name: str) -> None:
    """The product has other inner extents, so that the condition may not hold."""
    choice = node("If", "c", "y", then_branch=side(node("MatMul", "w w", "p")), else_branch=side(node("Neg", "x", "q")))
    proto = built([*SIZE, *CONDITIONS[name], choice], ["b", 2, "k"], w=normal(3, 4))
    net = mlc.compile(proto)
    for b, k in ((2, 4), (1, 5), (2, 7), (3, 2), (1, 1), (1, 3)):
        x = normal(b, 2, k)
        holds = _reference(proto, x)
        if holds:
            with pytest.raises(RunError, match=r"(If at node 'If.y'.* needs that|must be float32\[)"):
                net(x)
        else:
            np.testing.assert_array_equal(net(x), -x)


def _reference(proto: ModelProto, x: Array) -> bool:
    """Whether the condition ``c`` holds."""
    nodes = [n for n in proto.graph.node if n.op_type != "If"]
    asked = model(nodes, {"x": (FLOAT, ["b", 2, "k"])}, {"c": (9, None)}, CONSTANTS, opset=18)
    return bool(onnxruntime.InferenceSession(asked.SerializeToString()).run(None, {"x": x})[0].item())


def rates(x: Sequence[int | str]) -> ModelProto:
    """Two halves of one file: for signals of 8 elements at 16 kHz, of 4 at 8 kHz."""
    sides = [side(node("Conv", f"x {w}", f"{w}c"), node("Squeeze", f"{w}c lasts", f"{w}s")) for w in ("w8", "w4")]
    nodes = [node("Equal", "sr rate", "c"), node("If", "c", "y", then_branch=sides[0], else_branch=sides[1])]
    return built(nodes, x, inputs={"sr": (INT64, [])}, rate=np.int64(16000), w8=normal(3, 2, 8), w4=normal(3, 2, 4))


def test_each_branch_has_checks_of_its_own() -> None:
    proto = rates(["b", 2, "n"])
    wide, narrow = {"sr": np.array(16000)}, {"sr": np.array(8000)}
    agree(proto, *(wide | {"x": normal(b, 2, 8)} for b in (1, 3)), *(narrow | {"x": normal(b, 2, 4)} for b in (1, 2)))
    net = mlc.compile(proto)
    refused(net, proto, narrow | {"x": normal(1, 2, 8)}, "Squeeze at node 'If.y/Squeeze.w4s': n == 4 does not hold")
    refused(net, proto, wide | {"x": normal(1, 2, 4)}, "Conv at node 'If.y/Conv.w8c': n >= 8 does not hold")
    np.testing.assert_array_equal(*(net.run(wide | {"x": np.ones((1, 2, 8), np.float32)})["y"] for _ in range(2)))


@pytest.mark.parametrize("size", [4, 8])
def test_a_branch_that_is_invalid_for_given_sizes_fails_at_run_time(size: int) -> None:
    proto = rates(["b", 2, "n"])
    net = mlc.compile(proto, dims={"n": size})
    feeds = [{"x": normal(2, 2, size), "sr": np.array(rate)} for rate in (8000, 16000)]
    fits, other = feeds if size == 4 else feeds[::-1]
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    np.testing.assert_allclose(net.run(fits)["y"], session.run(None, dict(fits))[0], rtol=1e-5, atol=1e-5)
    refused(net, proto, other, r"If at node 'If.y': its other branch cannot be computed \(.*node 'If.y/")


def test_ranks_on_data_that_meet_again() -> None:
    then, other = side(node("ReduceMax", "x", "p", keepdims=0)), side(node("Neg", "x", "q"))
    chosen = [node("ReduceSum", "x", "t", keepdims=0), node("Greater", "t zero", "c"),
              node("If", "c", "z", then_branch=then, else_branch=other)]  # fmt: skip
    x = np.abs(normal(3, 4))
    agree(built([*chosen, node("Exp", "z", "e"), node("Add", "e x", "y")], ["b", 4]), {"x": x}, {"x": -x})
    with pytest.raises(UnsupportedError, match=r"branches with results f32\[\] and f32\[b_, 4\] on a condition"):
        mlc.compile(built(chosen, ["b", 4], "z"))


def test_element_types_on_data_that_meet_again() -> None:
    then, other = side(node("Cast", "x", "p", to=INT64)), side(node("Cast", "x", "q", to=11))
    nodes = [node("ReduceSum", "x", "t", keepdims=0), node("Greater", "t zero", "c"),
             node("If", "c", "z", then_branch=then, else_branch=other), node("Cast", "z", "y", to=FLOAT)]  # fmt: skip
    for nested in (then, other):
        nested.output[0].type.tensor_type.elem_type = INT64 if nested is then else 11
    x = np.abs(normal(3, 4)) * 3
    net = mlc.compile(built(nodes, ["b", 4]))  # onnxruntime refuses such a node
    np.testing.assert_array_equal(net(x), np.trunc(x))
    np.testing.assert_array_equal(net(-x), -x)


def test_operators_that_mlc_does_not_have_are_refused_in_any_branch() -> None:
    then, other = side(node("Unheard", "x", "p")), side(node("Neg", "x", "q"))
    proto = built([*SIZE, *CONDITIONS["odd"], node("If", "c", "y", then_branch=then, else_branch=other)], ["b", "k"])
    with pytest.raises(UnsupportedError, match="Unheard"):
        mlc.compile(proto)
