"""Windows whose padding is made in their own kernel, plane by plane: against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, helper, numpy_helper

import mlc

FLOAT = 1
CHANNELS = 19
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "maximum": ("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "asymmetric": ("MaxPool", {"kernel_shape": [3, 2], "strides": [1, 3], "pads": [2, 0, 1, 1]}),
    "dilated": ("MaxPool", {"kernel_shape": [3, 3], "dilations": [2, 1], "pads": [2, 1, 2, 1]}),
    "average": ("AveragePool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "average of all": ("AveragePool", {"kernel_shape": [3, 5], "pads": [1, 2, 1, 0], "count_include_pad": 1}),
    "rounded up": ("AveragePool", {"kernel_shape": [3, 3], "strides": [3, 2], "pads": [1, 0, 0, 1], "ceil_mode": 1}),
    "five by two": ("MaxPool", {"kernel_shape": [2, 5], "strides": [1, 2], "pads": [1, 2, 0, 1]}),
    "four by three": ("AveragePool", {"kernel_shape": [1, 4], "strides": [2, 3], "pads": [0, 1, 0, 2]}),
    "depthwise": ("Conv", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "group": CHANNELS}),
    "wide stride": ("Conv", {"kernel_shape": [3, 5], "strides": [1, 5], "pads": [0, 2, 2, 1], "group": CHANNELS}),
}


def build(name: str, shape: list[Any], random: np.random.Generator) -> ModelProto:
    kind, attributes = CASES[name]
    weight = random.standard_normal((CHANNELS, 1, *attributes["kernel_shape"])).astype(np.float32)
    nodes = [helper.make_node(kind, ["x", "w"] if kind == "Conv" else ["x"], ["c"], **attributes),
             helper.make_node("Relu", ["c"], ["y"])]  # fmt: skip
    inputs = [helper.make_tensor_value_info("x", FLOAT, shape)]
    output = helper.make_tensor_value_info("y", FLOAT, None)
    graph = helper.make_graph(nodes, "padded", inputs, [output], [numpy_helper.from_array(weight, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    model.ir_version = 9
    return model


def check(name: str, declared: list[Any], shape: list[int], **options: Any) -> list[str]:
    """Names of the kernels, if the model computes what onnxruntime does."""
    random = np.random.default_rng(5)
    model = build(name, declared, random)
    net = mlc.compile(model, threads=2, **options)
    x = random.standard_normal(shape).astype(np.float32)
    reference = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    np.testing.assert_allclose(net(x), reference, rtol=0, atol=5e-6 * np.abs(reference).max())
    return [k["name"].rpartition("_")[0] for k in net.signature["kernels"]]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
@pytest.mark.parametrize("shape", [[1, CHANNELS, 23, 75], [1, CHANNELS, 7, 9]])
def test_one_kernel(name: str, target: str, shape: list[int]) -> None:
    assert check(name, shape, shape, target=target) in (["pool"], ["conv"])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("declared", [["n", CHANNELS, 11, 13], [1, CHANNELS, "h", 13], [2, CHANNELS, 11, 13]])
def test_others_pad_first(name: str, declared: list[Any]) -> None:
    """Planes that two axes number, or of unknown size."""
    assert "pad" in check(name, declared, [2 if declared[0] != 1 else 1, CHANNELS, 11, 13])
