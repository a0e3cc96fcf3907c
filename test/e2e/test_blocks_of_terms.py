"""Convolutions of many channels in blocks of terms, for CPUs with AVX2: against onnxruntime, on 1, 2 and 4 threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, helper, numpy_helper

import mlc

FLOAT = 1
IMAGE = (3, 416, 9, 10)  # 416 channels: three blocks of 128 terms, and one of 32
CASES: dict[str, dict[str, Any]] = {
    "1x1": {"kernel": 1},
    "stride": {"kernel": 1, "strides": [2, 2]},
    "window": {"kernel": 3, "strides": [2, 2], "pads": [1, 1, 1, 1]},
    "groups": {"kernel": 1, "group": 2, "image": (2, 832, 7, 14)},
    "one image": {"kernel": 1, "image": (1, 512, 14, 14)},
    "plain sums": {"kernel": 1, "bias": False, "image": (1, 512, 14, 14)},
}


def build(
    random: np.random.Generator, kernel: int, image: tuple[int, ...] = IMAGE, bias: bool = True, **attributes: Any
) -> ModelProto:
    shape = (64, image[1] // attributes.get("group", 1), kernel, kernel)
    weights = {"w": random.standard_normal(shape).astype(np.float32) / 9}
    if bias:
        weights["b"] = random.standard_normal(64).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", *weights], ["c" if bias else "y"], **attributes)]
    nodes += [helper.make_node("Relu", ["c"], ["y"])] if bias else []
    values = [helper.make_tensor_value_info("x", FLOAT, image)], [helper.make_tensor_value_info("y", FLOAT, None)]
    stored = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    return helper.make_model(
        helper.make_graph(nodes, "blocks", *values, stored),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )


@pytest.mark.parametrize("case", CASES)
def test_sums_in_blocks(case: str) -> None:
    rng = np.random.default_rng(0)
    model = build(rng, **CASES[case])
    x = rng.standard_normal([d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]).astype(np.float32)
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    results = [mlc.compile(model, target="x86-64-v3", threads=n).run({"x": x})["y"] for n in (1, 2, 4)]
    assert np.abs(results[0] - expected).max() <= 1e-5 * np.abs(expected).max()
    assert all(np.array_equal(results[0], other) for other in results[1:])
