"""ONNX's Gradient, as the operator's text describes it, and what is refused."""

from __future__ import annotations

from functools import partial

import numpy as np
import onnx
import pytest
from central import central_differences
from gradients import STEP, TRAINING, Array, Nodes, gradient, model, node, normal, numbers, ways
from onnx import NodeProto, TensorProto, helper

import mlc
from mlc.dialects.semantics.interpreter import interpret
from mlc.frontends.onnx import import_model


def second(inputs: str, xs: str, **zs: str) -> Nodes:
    return [
        node("MatMul", "x w", "p"),
        node("Tanh", "p", "t"),
        node("Mul", "t l", "s"),
        node("ReduceSum", "s", "o"),
        gradient("x w l", "dx dw", "x w", "o", "l"),
        gradient(inputs, "a b", xs, "dw", **zs),
    ]


@pytest.mark.parametrize("opset", [13, 22])
def test_second_derivatives(opset: int) -> None:
    """d(dO/dW)/dX and d²O/dW² of the example; dO/dW is differenced as mlc computes it."""
    feeds = {"x": normal(3, 2), "w": normal(2, 4), "l": normal(3, 4)}
    nodes = second("x w l", "x w", zs="l")
    exact = {n: a.astype("f8") for n, a in feeds.items()}
    first = import_model(model(nodes[:-1], exact, ["dw"], {}, opset))

    def total(x: str, moved: Array) -> float:
        return float(interpret(first.module, first.weights, {**exact, x: moved})["dw"].sum())

    right = {name: central_differences(partial(total, x), exact[x], STEP) for x, name in (("x", "a"), ("w", "b"))}
    for found in ways(model(nodes, feeds, ["a", "b"], {}, opset), feeds):
        for name, wanted in right.items():
            np.testing.assert_allclose(found[name], wanted, rtol=1e-4, atol=1e-5)


def test_second_derivative_sees_names_that_the_first_does_not() -> None:
    """The inner Gradient names x alone; what it gives depends on w all the same: d(sum of w·2x)/dw = 2x."""
    nodes = [
        node("Mul", "x x", "xx"),
        node("Mul", "xx w", "y"),
        gradient("x", "dx", "x", "y"),
        gradient("w", "dw", "w", "dx"),
    ]
    feeds = {"x": normal(3), "w": normal(3, seed=2)}
    for found in ways(model(nodes, feeds, ["dw", "dx"], {}, 20), feeds):
        np.testing.assert_allclose(found["dw"], 2 * feeds["x"], rtol=1e-6)
        np.testing.assert_allclose(found["dx"], 2 * feeds["x"] * feeds["w"], rtol=1e-6)


def test_intermediate_tensors_and_other_inputs() -> None:
    """With respect to h at another h, of another shape; of two inputs that are one tensor; of a known one."""
    nodes = [
        node("Exp", "x", "h"),
        node("Mul", "h z", "y"),
        gradient("k z", "dh dz", "h z", "y"),
        gradient("x x", "_ dx", "h z", "y"),
        gradient("k", "dk", "h", "y", ""),
    ]
    feeds = {"x": normal(3), "k": normal(2, 3)}
    z = normal(3, seed=8)
    for found in ways(model(nodes, feeds, ["dh", "dz", "dx", "dk", "y"], {"z": z}, 20), feeds):
        np.testing.assert_allclose(found["dh"], np.broadcast_to(z, (2, 3)), rtol=1e-6)
        np.testing.assert_allclose(found["dz"], feeds["k"].sum(0), rtol=1e-5)
        np.testing.assert_allclose(found["dx"], feeds["x"], rtol=1e-6)
        np.testing.assert_allclose(found["dk"], np.broadcast_to(z, (2, 3)), rtol=1e-6)


def test_of_itself_and_of_what_it_does_not_depend_on() -> None:
    nodes = [node("Neg", "x", "y"), gradient("x w", "dx dw", "y w", "y")]
    feeds = {"x": normal(2), "w": normal(3)}
    for found in ways(model(nodes, feeds, ["dx", "dw"], {}, 20), feeds):
        np.testing.assert_array_equal(found["dx"], [1, 1])
        np.testing.assert_array_equal(found["dw"], [0, 0, 0])


def test_dropout_is_the_same_again() -> None:
    """What is drawn for the gradient is what was drawn for the value: dy/dx is y / x."""
    nodes = [
        node("RandomUniformLike", "x", "noise"),
        node("Dropout", "x ratio train", "d"),
        node("Dropout", "d ratio train", "y"),
        gradient("x", "dx", "x", "y"),
    ]
    weights = {"ratio": np.float32(0.4), "train": np.array(True)}
    feeds = {"x": normal(50)}
    for found in ways(model(nodes, feeds, ["y", "dx"], weights, 22), feeds):
        assert 0 < (found["y"] == 0).sum() < 50
        np.testing.assert_allclose(found["dx"], found["y"] / feeds["x"], rtol=1e-6)


def test_in_a_function() -> None:
    body = [node("Mul", "a a", "s"), gradient("a", "g", "a", "s")]
    function = helper.make_function("own", "Slope", ["a"], ["g"], body,
                                    [helper.make_opsetid("", 20), helper.make_opsetid(TRAINING, 1)])  # fmt: skip
    made = model([node("Slope", "x", "y", domain="own")], {"x": normal(4)}, ["y"], {}, 20)
    made.functions.append(function)
    made.opset_import.append(helper.make_opsetid("own", 1))
    for found in ways(made, {"x": normal(4)}):
        np.testing.assert_allclose(found["y"], 2 * normal(4), rtol=1e-6)


# -- what is refused


def branch(name: str, *nodes: NodeProto) -> onnx.GraphProto:
    return helper.make_graph(list(nodes), name, [], [onnx.ValueInfoProto(name=nodes[-1].output[0])])


REFUSED: dict[str, tuple[Nodes, str]] = {
    "whole numbers": ([node("Cast", "x", "i", to=TensorProto.INT64), node("Mul", "i i", "y"),
                       gradient("i", "d", "i", "y")], r"'i' is i64\[3\]; gradients are of tensors of f16"),
    "of whole numbers": ([node("Cast", "x", "y", to=TensorProto.INT64), gradient("x", "d", "x", "y")],
                         r"'y' is i64\[3\]; gradients"),
    "no rule": (
        [
            node("Cast", "x", "e", to=TensorProto.FLOAT8E4M3FN),
            node("Cast", "e", "y", name="wide", to=TensorProto.FLOAT),
            gradient("x", "d", "x", "y"),
        ],
        "the conversion f32 of f8e4m3fn has no derivative, at node 'wide'; sums, products",
    ),
    "no such y": ([node("Neg", "x", "y"), gradient("x", "d", "x", "z")], "no node before it computes 'z'"),
    "no such x": ([node("Neg", "x", "y"), gradient("x", "d", "v", "y")], "no tensor before it is named 'v'"),
    "too few inputs": ([node("Neg", "x", "y"), gradient("x", "d", "x k", "y")], "1 inputs for xs"),
    "later": ([gradient("x", "d", "x", "y"), node("Neg", "x", "y")], "no node before it computes 'y'"),
    "in a branch": ([node("Neg", "x", "y"), node("Cast", "k", "c", to=TensorProto.BOOL),
                     node("If", "c", "d", then_branch=branch("t", gradient("x", "e", "x", "y")),
                          else_branch=branch("f", node("Neg", "x", "e")))], "in the body of a control-flow node"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    nodes, message = REFUSED[case]
    made = model(nodes, {"x": normal(3), "k": np.array(0, "i8")}, ["d"], {"n": numbers(3)}, 20)
    with pytest.raises(mlc.MlcError, match=message):
        import_model(made)
