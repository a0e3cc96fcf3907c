"""Operators with symbolic dimensions everywhere: compiled once, right at every size, 1 and 0 included."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, helper, numpy_helper

import mlc

FLOAT, OPSET = 1, 17
SIZES = ({"b": 1, "s": 5}, {"b": 3, "s": 17}, {"b": 2, "s": 300}, {"b": 2, "s": 64}, {"b": 1, "s": 1})
BATCHES = ({"b": 1}, {"b": 2}, {"b": 3}, {"b": 7})  # their rows end in tiles of 1, of 4, of neither
IMAGES = ({"b": 1, "s": 9}, {"b": 2, "s": 33})
node = helper.make_node
ATTENTION = [
    node("Transpose", ["x"], ["q"], perm=[0, 2, 1, 3]),
    node("Transpose", ["z"], ["k"], perm=[0, 2, 3, 1]),
    node("MatMul", ["q", "k"], ["scores"]),
    node("Softmax", ["scores"], ["p"], axis=-1),
    node("MatMul", ["p", "q"], ["y"]),
]
WINDOW = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]}
WEIGHTS = {"scale": (50,), "shift": (50,), "w": (32, 16, 3, 3), "v": (20, 16, 3, 3), "long": (1024, 64)}

ROWS = [node("Conv", ["x", "v"], ["c"], **WINDOW), node("ReduceMean", ["c"], ["y"], axes=[2])]

CASES: dict[str, tuple[list[Any], dict[str, list[Any]], tuple[dict[str, int], ...]]] = {
    "softmax": ([node("Softmax", ["x"], ["y"], axis=-1)], {"x": ["b", 4, "s"]}, SIZES),
    "layer_norm": ([node("LayerNormalization", ["x", "scale", "shift"], ["y"])], {"x": ["b", "s", 50]}, SIZES),
    "columns": ([node("MatMul", ["x", "z"], ["y"])], {"x": ["b", 4, "s", 16], "z": ["b", 4, 16, "s"]}, SIZES),
    "reduced": ([node("MatMul", ["x", "z"], ["y"])], {"x": ["b", 4, "s", "s"], "z": ["b", 4, "s", 24]}, SIZES),
    "attention": (ATTENTION, {"x": ["b", "s", 4, 16], "z": ["b", "s", 4, 16]}, SIZES),
    "conv": ([node("Conv", ["x", "w"], ["y"], **WINDOW)], {"x": ["b", 16, "s", "s"]}, IMAGES),
    "max_pool": ([node("MaxPool", ["x"], ["y"], **WINDOW)], {"x": ["b", 16, "s", "s"]}, IMAGES),
    "rows": ([node("MatMul", ["x", "long"], ["y"])], {"x": ["b", 128, 1024]}, BATCHES),
    "mean": ([node("ReduceMean", ["x"], ["y"], axes=[1])], {"x": ["b", "s", 7]}, SIZES),
    "mean of rows": (ROWS, {"x": ["b", 16, "s", "s"]}, IMAGES),
    "sum": ([node("ReduceSum", ["x"], ["y"], keepdims=0)], {"x": ["b", "s", 7]}, SIZES),
    "concat": ([node("Concat", ["x", "z"], ["y"], axis=1)], {"x": ["b", "s", 7], "z": ["b", 3, 7]}, SIZES),
    "transpose": ([node("Transpose", ["x"], ["y"], perm=[0, 2, 1])], {"x": ["b", "s", 7]}, SIZES),
    "add": ([node("Add", ["x", "z"], ["y"])], {"x": ["b", "s"], "z": ["s"]}, (*SIZES, {"b": 0, "s": 5})),
}


def build(nodes: list[Any], inputs: dict[str, list[Any]]) -> ModelProto:
    rng = np.random.default_rng()
    used = {name for n in nodes for name in n.input}
    weights = [numpy_helper.from_array(rng.standard_normal(s).astype("f"), k) for k, s in WEIGHTS.items() if k in used]
    given = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()]
    graph = helper.make_graph(nodes, "symbolic", given, [helper.make_tensor_value_info("y", FLOAT, None)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


def _biased(rng: np.random.Generator, shape: list[int]) -> np.ndarray:
    """Values round 1: a sum of them does not cancel, so that its rounding error is small beside it."""
    return (1 + rng.standard_normal(shape)).astype("f")


@pytest.mark.parametrize("name", list(CASES))
def test_sizes(name: str) -> None:
    nodes, inputs, sizes = CASES[name]
    model, rng = build(nodes, inputs), np.random.default_rng()
    net, session = mlc.compile(model), onnxruntime.InferenceSession(model.SerializeToString())
    for size in sizes:
        feeds = {k: _biased(rng, [size.get(d, d) for d in shape]) for k, shape in inputs.items()}
        wanted, actual = session.run(None, feeds)[0], net(**feeds)
        assert actual.shape == wanted.shape
        np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-5 * max(abs(wanted).max(initial=0), 1e-9))
