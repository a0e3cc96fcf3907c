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


@pytest.mark.parametrize("value", [0.0, -2.0, None])
def test_a_padded_maximum_of_dequantized_bytes(value: float | None) -> None:
    """Numbers are padded, not bytes: with zeros, which are more than what is there, or as MaxPool itself pads."""
    seed = np.random.SeedSequence().generate_state(1)[0]
    print(f"seed {seed}")
    x = np.random.default_rng(seed).integers(0, 90, (1, 3, 9, 11)).astype(np.uint8)
    ends = [0, 0, 1, 1, 0, 0, 1, 1]
    data = {"scale": np.float32(0.25), "zero": np.uint8(99), "pads": np.array(ends)}
    data |= {"value": np.float32(value or 0)}
    how: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2]}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "scale", "zero"], ["d"]),
        helper.make_node("Pad", ["d", "pads", "value"], ["p"]),
        helper.make_node("MaxPool", ["p"], ["m"], **how)
        if value is not None
        else helper.make_node("MaxPool", ["d"], ["m"], pads=[1, 1, 1, 1], **how),
        helper.make_node("QuantizeLinear", ["m", "scale", "zero"], ["y"]),
    ]
    stored = [numpy_helper.from_array(np.asarray(a), n) for n, a in data.items()]
    given = [helper.make_tensor_value_info("x", 2, x.shape)]
    graph = helper.make_graph(nodes, "bytes", given, [helper.make_tensor_value_info("y", 2, None)], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    numbers = (x.astype(np.float64) - 99) / 4
    padded = np.pad(numbers, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-np.inf if value is None else value)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]
    np.testing.assert_array_equal(mlc.compile(model)(x), windows.max((4, 5)) * 4 + 99)


@pytest.mark.parametrize("name", ["maximum", "average", "depthwise"])
@pytest.mark.parametrize("auto", ["SAME_UPPER", "SAME_LOWER"])
def test_as_many_windows_as_strides_of_open_extents(name: str, auto: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much is padded, and where, depends on the remainder of each extent."""
    kind, how = CASES[name]
    how = {**{k: v for k, v in how.items() if k != "pads"}, "auto_pad": auto, "strides": [3, 2]}
    monkeypatch.setitem(CASES, name, (kind, how))
    random = np.random.default_rng()
    model = build(name, [1, CHANNELS, "h", "w"], random)
    net, session = mlc.compile(model, threads=2), onnxruntime.InferenceSession(model.SerializeToString())
    for h, w in ((1, 1), (7, 8), (8, 9), (9, 30), (31, 2)):
        x = random.standard_normal((1, CHANNELS, h, w)).astype(np.float32)
        reference = session.run(None, {"x": x})[0]
        np.testing.assert_allclose(net(x), reference, rtol=0, atol=5e-6 * np.abs(reference).max())
