"""Operators on symbolic dimensions, old opsets and uncommon attributes, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import assert_like_onnxruntime, graph, node, op_names, result_shapes
from onnx import NodeProto

from mlc.frontends.onnx import import_model

RANDOM = np.random.default_rng(11)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


IMAGE = {"x": ["n", 6, "height", "width"]}
WEIGHTS = {
    "w": normal(8, 6, 3, 2),
    "grouped": normal(9, 2, 3, 3),
    "up": normal(6, 4, 3, 2),
    "b": normal(8),
    "s": normal(6),
}


@pytest.mark.parametrize(
    "operator",
    [
        node("Conv", "x w b", "y", pads=[1, 0, 2, 1], strides=[2, 1], dilations=[1, 2]),
        node("Conv", "x grouped", "y", group=3, auto_pad="SAME_UPPER", strides=[2, 2]),
        node("Conv", "x grouped", "y", group=3, auto_pad="SAME_LOWER", strides=[3, 2]),
        node("ConvTranspose", "x up", "y", strides=[2, 3], pads=[1, 0, 0, 1], output_padding=[1, 0]),
        node("ConvTranspose", "x up", "y", dilations=[2, 1]),
        node("MaxPool", "x", "y", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 1, 0, 1], ceil_mode=1),
        node("AveragePool", "x", "y", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("AveragePool", "x", "y", kernel_shape=[3, 3], pads=[1, 0, 1, 2], count_include_pad=1),
        node("GlobalAveragePool", "x", "y"),
        node("InstanceNormalization", "x s s", "y", epsilon=1e-3),
        node("LRN", "x", "y", size=3),
        node("ReduceMean", "x", "y", axes=[0, 3], keepdims=0),
        node("ReduceLogSumExp", "x", "y", axes=[-1]),
        node("ArgMax", "x", "y", axis=2, keepdims=0),
        node("Softmax", "x", "y", axis=1),
        node("Flatten", "x", "y", axis=2),
        node("LayerNormalization", "x one", "y", axis=1),
        node("Split", "x", "y z", axis=1),
        node("DepthToSpace", "x12", "y", blocksize=2, mode="CRD"),
    ],
    ids=lambda n: f"{n.op_type}",
)
def test_symbolic_images(operator: NodeProto) -> None:
    one = np.ones((6, 1, 1), np.float32)
    nodes = [node("Concat", "x x", "x12", axis=1), operator] if "x12" in operator.input else [operator]
    model = graph(nodes, IMAGE, list(operator.output), {**WEIGHTS, "one": one})
    if operator.op_type == "LayerNormalization":
        assert result_shapes(import_model(model)) == ["n_,6,height,width"]
        return
    assert_like_onnxruntime(model, {"x": normal(3, 6, 11, 9)}, rtol=3e-5)


@pytest.mark.parametrize(
    ("opset", "nodes"),
    [
        (7, [node("Upsample", "x", "y", scales=[1.0, 1.0, 2.0, 3.0])]),
        (9, [node("Upsample", "x scales", "y", mode="linear")]),
        (9, [node("Slice", "x", "y", starts=[1, -4], ends=[5, 100], axes=[1, 3])]),
        (9, [node("Softmax", "x", "y", axis=2)]),
        (12, [node("LogSoftmax", "x", "y")]),
        (7, [node("BatchNormalization", "x s s s v", "y")]),
        (9, [node("Clip", "x", "y", min=-0.5, max=0.25)]),
        (11, [node("Squeeze", "x", "y", axes=[0])]),
        (11, [node("ReduceSum", "x", "y", axes=[-1, 1])]),
        (11, [node("Pad", "x pads value", "y")]),
        (13, [node("Pad", "x pads", "y", mode="reflect")]),
        (9, [node("TopK", "x", "y i", k=2)]),
        (10, [node("TopK", "x two", "y i", axis=2)]),
    ],
)  # fmt: skip
def test_old_opsets(opset: int, nodes: list[NodeProto]) -> None:
    if opset == 9 and nodes[0].op_type == "TopK":
        nodes = [node("TopK", "x", "y i", k=2, axis=3)]
    weights = {"s": normal(6), "v": abs(normal(6)), "scales": np.float32([1, 1, 2, 2]), "two": np.array([2])}
    weights |= {"pads": np.array([0, 1, 2, 0, 0, 0, 1, 3]), "value": np.float32(0.5)}
    model = graph(nodes, {"x": [1, 6, 5, 7]}, list(nodes[0].output), weights, opset=opset)
    assert_like_onnxruntime(model, {"x": normal(1, 6, 5, 7)})


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((3, 4), (2, 4, 5)),
        ((4,), (4, 5)),
        ((2, 3, 4), (4,)),
        ((4,), (4,)),
    ],
)
def test_matmul(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    model = graph([node("MatMul", "a b", "y")], {"a": a, "b": b}, ["y"])
    assert_like_onnxruntime(model, {"a": normal(*a), "b": normal(*b)})


def test_a_batch_times_a_matrix_is_one_product() -> None:
    model = graph([node("MatMul", "x w", "y")], {"x": ["batch", "seq", 4]}, ["y"], {"w": normal(4, 5)})
    assert op_names(import_model(model)) == ["reshape", "contract", "reshape"]


@pytest.mark.parametrize(
    "attributes",
    [
        {"direction": "bidirectional"},
        {"direction": "reverse", "clip": 0.5},
        {"activations": ["Sigmoid", "Affine", "LeakyRelu"], "activation_alpha": [0.5, 0.1], "activation_beta": [0.2]},
        {"input_forget": 1},
    ],
)
def test_lstm(attributes: dict[str, Any]) -> None:
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    weights = {"w": normal(directions, 20, 3), "r": normal(directions, 20, 5), "b": normal(directions, 40)}
    weights |= {"h": normal(directions, 4, 5), "c": normal(directions, 4, 5), "p": normal(directions, 15)}
    weights["lengths"] = np.array([6, 2, 5, 1], np.int32)
    nodes = [node("LSTM", "x w r b lengths h c p", "y yh yc", hidden_size=5, **attributes)]
    model = graph(nodes, {"x": [6, 4, 3]}, ["y", "yh", "yc"], weights)
    assert_like_onnxruntime(model, {"x": normal(6, 4, 3)}, rtol=1e-4)


@pytest.mark.parametrize("op", ["GRU", "RNN"])
@pytest.mark.parametrize("reset", [0, 1])
def test_gru_and_rnn(op: str, reset: int) -> None:
    gates = 3 if op == "GRU" else 1
    weights = {"w": normal(2, gates * 5, 3), "r": normal(2, gates * 5, 5), "b": normal(2, gates * 10)}
    extra = {"linear_before_reset": reset} if op == "GRU" else {}
    nodes = [node(op, "x w r b", "y yh", hidden_size=5, direction="bidirectional", **extra)]
    assert_like_onnxruntime(graph(nodes, {"x": [4, 2, 3]}, ["y", "yh"], weights), {"x": normal(4, 2, 3)}, rtol=1e-4)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatter(reduction: str) -> None:
    weights = {"i": np.array([[3, -1, 0], [3, 2, 2]]), "u": normal(2, 3)}
    nodes = [node("ScatterElements", "x i u", "y", axis=0, reduction=reduction)]
    if reduction == "none":
        weights["i"] = np.array([[3, -1, 0], [1, 2, 2]])  # equal indices have no defined winner
    assert_like_onnxruntime(graph(nodes, {"x": [4, 3]}, ["y"], weights, opset=18), {"x": normal(4, 3)})


@pytest.mark.parametrize(
    "equation", ["bij,bjk->bik", "...ij,kj->...ik", "ii->i", "ij->j", "i,j,k->kji", "bhqd,bhkd->bhqk", "ij,jk"]
)
def test_einsum(equation: str) -> None:
    terms = equation.partition("->")[0].split(",")
    sizes = dict(zip("bijkhqd", (2, 3, 4, 5, 2, 3, 4), strict=True))
    shapes = [[2] * t.count("...") + [sizes[c] for c in t.replace("...", "")] for t in terms]
    names = "abc"[: len(terms)]
    nodes = [node("Einsum", " ".join(names), "y", equation=equation)]
    model = graph(nodes, dict(zip(names, shapes, strict=True)), ["y"])
    assert_like_onnxruntime(model, {n: normal(*s) for n, s in zip(names, shapes, strict=True)})


def test_a_recurrence_of_symbolic_length_is_a_loop() -> None:
    weights = {"w": normal(1, 5, 3), "r": normal(1, 5, 5)}
    model = graph([node("RNN", "x w r", "y", hidden_size=5)], {"x": ["steps", 2, 3]}, ["y"], weights)
    assert result_shapes(import_model(model)) == ["steps,1,2,5"]
    assert result_shapes(import_model(model, dims={"steps": 4})) == ["4,1,2,5"]
    assert_like_onnxruntime(model, {"x": normal(9, 2, 3)})
