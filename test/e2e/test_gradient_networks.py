"""ONNX's Gradient of networks."""

from __future__ import annotations

import numpy as np
import pytest
from gradients import check, gradient, model, node, normal, numbers, ways


@pytest.mark.parametrize("opset", [12, 13, 22])
def test_perceptron_with_cross_entropy(opset: int) -> None:
    nodes = [
        node("Gemm", "x w1 b1", "h", transB=1),
        node("Relu", "h", "a"),
        node("MatMul", "a w2", "z"),
        node("Add", "z b2", "l"),
        node("SoftmaxCrossEntropyLoss", "l t", "y"),
    ]
    weights = {"w1": normal(6, 4), "b1": normal(6), "w2": normal(6, 3, seed=9), "b2": normal(3)}
    feeds = {"x": normal(5, 4), "t": numbers(2, 0, 1, 1, 2)}
    check(nodes, feeds, "x w1 b1 w2 b2", opset, weights=weights)
    check(nodes, {**feeds, **weights}, "b2 w1", opset, shapes={"x": ["n", 4], "t": ["n"]})


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_normalisation_by_hand(opset: int) -> None:
    axes = {"axes": [-1]} if opset < 18 else {}
    over = "" if opset < 18 else " axes"
    nodes = [
        node("ReduceMean", "x" + over, "m", **axes),
        node("Sub", "x m", "c"),
        node("Mul", "c c", "s"),
        node("ReduceMean", "s" + over, "v", **axes),
        node("Add", "v eps", "ve"),
        node("Sqrt", "ve", "d"),
        node("Div", "c d", "n"),
        node("Mul", "n scale", "ns"),
        node("Mul", "ns ns", "y"),
    ]
    weights = {"eps": np.float32(1e-3), "scale": normal(5)}
    given = {"axes": numbers(-1)} if opset >= 18 else {}
    shapes = {"x": ["rows", 2, 5]}
    check(nodes, {"x": normal(3, 2, 5)}, "x scale", opset, weights={**weights, **given}, shapes=shapes)


def test_layer_normalization_and_softmax() -> None:
    nodes = [
        node("LayerNormalization", "x g b", "n", axis=-1),
        node("Transpose", "n", "t", perm=[0, 2, 1]),
        node("MatMul", "n t", "s"),
        node("Softmax", "s", "p"),
        node("MatMul", "p x", "o"),
        node("Mul", "o o", "y"),
    ]
    check(nodes, {"x": normal(2, 3, 4), "g": normal(4), "b": normal(4, seed=6)}, "x g b")


@pytest.mark.parametrize("opset", [11, 22])
def test_convolutions_and_pooling(opset: int) -> None:
    nodes = [
        node("Conv", "x w wb", "c", pads=[1, 0, 1, 1], strides=[2, 1]),
        node("BatchNormalization", "c s b m v", "n"),
        node("LeakyRelu", "n", "a", alpha=0.1),
        node("MaxPool", "a", "p", kernel_shape=[2, 2]),
        node("Conv", "p u", "q", group=2),
        node("AveragePool", "q", "r", kernel_shape=[2, 2], pads=[0, 1, 1, 0]),
        node("GlobalAveragePool", "r", "g"),
        node("Flatten", "g", "f"),
        node("Mul", "f f", "y"),
    ]
    weights = {"w": normal(4, 2, 3, 2), "wb": normal(4), "u": normal(4, 2, 1, 2), "s": normal(4, seed=2)}
    weights |= {"b": normal(4, seed=1), "m": normal(4, seed=3), "v": np.abs(normal(4, seed=4)) + 0.5}
    check(nodes, {"x": normal(2, 2, 7, 6)}, "x w wb u s", opset, weights=weights)


def test_recurrent_steps() -> None:
    nodes = [node("LSTM", "x w r b", "all last", hidden_size=3), node("Mul", "all all", "y")]
    check(nodes, {"x": normal(4, 2, 2), "w": normal(1, 12, 2), "r": normal(1, 12, 3), "b": normal(1, 24)}, "x w r b")


def test_steps_of_different_lengths() -> None:
    nodes = [node("GRU", "x w r _ lengths", "all last", hidden_size=2), node("Mul", "all all", "y")]
    feeds = {"x": normal(3, 2, 2), "w": normal(1, 6, 2), "r": normal(1, 6, 2), "lengths": np.array([3, 1], "i4")}
    check(nodes, feeds, "x w r")


def test_axes_that_the_run_knows() -> None:
    feeds = {"x": normal(2, 3, 2), "a": numbers(1)}
    check([node("ReduceProd", "x a", "p"), node("Mul", "p p", "y")], feeds, "x")


def test_rows_that_data_selects() -> None:
    nodes = [node("Compress", "x c", "z", axis=0), node("Mul", "z z", "y")]
    check(nodes, {"x": normal(4, 3), "c": np.array([True, False, True, True])}, "x")


def test_sixteen_bits() -> None:
    """The gradient of a bias is a sum of 4096 elements, which 16 bits cannot count by ones."""
    feeds = {"x": np.ones((4096, 2), "f2"), "b": np.zeros(2, "f2")}
    nodes = [node("Add", "x b", "y"), gradient("b", "d", "b", "y")]
    for found in ways(model(nodes, feeds, ["d"], {}, 22), feeds):
        np.testing.assert_array_equal(found["d"], np.array([4096, 4096], "f2"))


def test_embedding() -> None:
    nodes = [node("Gather", "e t", "g"), node("Tanh", "g", "h"), node("ReduceSum", "h", "y")]
    check(nodes, {"e": normal(7, 3), "t": numbers(2, 0, 6, 2, 2).reshape(1, 5)}, "e", shapes={"t": [1, "words"]})
