"""Kernels that write into the middle of a padding: against onnxruntime, on sizes that fit no tile."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, helper, numpy_helper

import mlc

FLOAT = 1
node = helper.make_node
SIZES = ({"b": 1, "s": 9}, {"b": 3, "s": 14}, {"b": 2, "s": 35})
FIRST = node("Conv", ["x", "w1"], ["c"], kernel_shape=[1, 1])
RELU = node("Relu", ["c"], ["r"])


def conv(source: str, target: str, pads: list[int], **more: Any) -> Any:
    return node("Conv", [source, "w3"], [target], kernel_shape=[3, 3], pads=pads, **more)


def pool(source: str, target: str, pads: list[int]) -> Any:
    return node("MaxPool", [source], [target], kernel_shape=[3, 3], pads=pads, strides=[2, 1])


CASES: dict[str, tuple[list[Any], bool]] = {  # nodes, and whether no kernel is left that only pads
    "asymmetric": ([FIRST, RELU, conv("r", "y", [2, 0, 1, 3])], True),
    "no epilogue": ([FIRST, conv("c", "y", [0, 1, 2, 0])], True),
    "two convolutions": ([FIRST, conv("c", "d", [1, 1, 1, 1]), conv("d", "y", [1, 0, 0, 2])], True),
    "maximum": ([FIRST, pool("c", "y", [1, 2, 0, 1])], True),
    "pool and convolution": ([FIRST, pool("c", "p", [0, 0, 0, 0]), conv("p", "y", [1, 1, 0, 2])], True),
    "residual": ([FIRST, RELU, conv("r", "d", [1, 1, 1, 1]), node("Add", ["r", "d"], ["y"])], True),
    "two paddings": (
        [FIRST, RELU, conv("r", "d", [1, 1, 1, 1]), pool("r", "p", [1, 1, 1, 1]),
         node("ReduceMax", ["p"], ["m"], axes=[2, 3]), node("Add", ["d", "m"], ["y"])],
        False,
    ),
    "depthwise": (
        [FIRST, node("Conv", ["c", "wd"], ["d"], group=19, kernel_shape=[3, 3], pads=[0, 2, 2, 0]), RELU,
         conv("d", "e", [1, 1, 1, 1]), node("Sum", ["e", "r"], ["y"])],
        True,
    ),
    "padded to its own size": ([FIRST, node("Pad", ["c", "p9"], ["d"]), node("Relu", ["d"], ["y"])], True),
    "negative": ([FIRST, node("Pad", ["c", "crop"], ["d"], mode="constant"), conv("d", "y", [1, 1, 1, 1])], True),
    "transposed": (
        [FIRST, node("ConvTranspose", ["c", "w3"], ["d"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
         conv("d", "y", [1, 1, 1, 1])],
        False,
    ),
    "rows": ([FIRST, node("Softmax", ["c"], ["d"], axis=3), node("Pad", ["d", "p9", "half"], ["y"])], True),
}  # fmt: skip
FIXED = {"p9": [0, 0, 9, 1, 0, 0, 0, 2], "crop": [0, 0, -1, 2, 0, 0, 1, -1]}


def build(nodes: list[Any], shape: list[Any], random: np.random.Generator) -> ModelProto:
    shapes = {"w1": (19, 5, 1, 1), "w3": (19, 19, 3, 3), "wd": (19, 1, 3, 3)}
    data = {k: random.standard_normal(s).astype(np.float32) / 9 for k, s in shapes.items()}
    data |= {k: np.array(v, np.int64) for k, v in FIXED.items()} | {"half": np.float32(0.5)}
    weights = [numpy_helper.from_array(np.asarray(v), k) for k, v in data.items()]
    inputs = [helper.make_tensor_value_info("x", FLOAT, shape)]
    graph = helper.make_graph(nodes, "padded", inputs, [helper.make_tensor_value_info("y", FLOAT, None)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model


def compare(net: mlc.Model, model: ModelProto, x: np.ndarray) -> None:
    reference = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    np.testing.assert_allclose(net(x), reference, rtol=0, atol=2e-5 * np.abs(reference).max())


def paddings(net: mlc.Model) -> list[str]:
    return [k["name"] for k in net.signature["kernels"] if k["name"].startswith("pad")]


@pytest.mark.parametrize("name", CASES)
def test_symbolic_sizes(name: str) -> None:
    random = np.random.default_rng(3)
    nodes, joined = CASES[name]
    model = build(nodes, ["b", 5, "s", 11], random)
    net = mlc.compile(model, threads=2)
    assert not (joined and paddings(net)), net.signature["kernels"]
    for size in SIZES:
        compare(net, model, random.standard_normal((size["b"], 5, size["s"], 11)).astype(np.float32))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
def test_static_sizes(name: str, target: str) -> None:
    random = np.random.default_rng(4)
    shape = [2, 5, 9, 13]
    model = build(CASES[name][0], shape, random)
    compare(mlc.compile(model, threads=2, target=target), model, random.standard_normal(shape).astype(np.float32))
