"""Transposed convolutions with strides and constant weights, compiled: against onnxruntime, on random attributes."""

from __future__ import annotations

import secrets

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import mlc


def build(random: np.random.Generator, whole: bool) -> ModelProto:
    """ConvTranspose, bias, Relu, then a padded convolution; ``whole``: an output that the strides divide."""
    rank = int(random.integers(1, 4))
    strides = [int(s) for s in random.integers(1, 4, rank)]
    strides[0] = max(strides[0], 2)
    kernel = [int(k) for k in random.integers(1, 6, rank)]
    sizes = [int(d) for d in random.integers(2, 7, rank)]
    low = [int(random.integers(0, k)) for k in kernel]
    full = [s * (d - 1) + k - a for s, d, k, a in zip(strides, sizes, kernel, low, strict=True)]
    high = [f % s if whole else int(random.integers(0, k)) for f, s, k in zip(full, strides, kernel, strict=True)]
    if any(f - h < 1 for f, h in zip(full, high, strict=True)):
        return build(random, whole)
    channels, filters = int(random.integers(1, 40)), int(random.integers(16, 50))
    weights = {"w": (channels, filters, *kernel), "b": (filters,), "v": (8, filters, *[3] * rank)}
    nodes = [
        helper.make_node("ConvTranspose", ["x", "w", "b"], ["t"], strides=strides, pads=[*low, *high]),
        helper.make_node("Relu", ["t"], ["r"]),
        helper.make_node("Conv", ["r", "v"], ["c"], pads=[1] * 2 * rank),
        helper.make_node("Identity", ["r"], ["y"]),
    ]
    arrays = {name: random.standard_normal(shape).astype(np.float32) for name, shape in weights.items()}
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [int(random.integers(1, 4)), channels, *sizes])
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "c")]
    constants = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "transposed", [x], outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
@pytest.mark.parametrize("whole", [True, False])
def test_random_attributes(whole: bool, target: str) -> None:
    seed = secrets.randbits(32)
    random = np.random.default_rng(seed)
    for _ in range(4):
        model = build(random, whole)
        net = mlc.compile(model, threads=2, numerics="strict", target=target)
        at_once = any("conv_transpose" in kernel["name"] for kernel in net.signature["kernels"])
        assert at_once or not whole, f"seed {seed}"
        x = random.standard_normal(net.inputs["x"].shape).astype(np.float32)
        reference = onnxruntime.InferenceSession(model.SerializeToString()).run(["y", "c"], {"x": x})
        for actual, expected in zip(net(x), reference, strict=True):
            limit = 1e-5 * np.abs(expected).max() + 1e-6
            np.testing.assert_allclose(actual, expected, rtol=0, atol=limit, err_msg=f"seed {seed}")
