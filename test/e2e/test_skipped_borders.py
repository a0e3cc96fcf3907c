"""Dilated convolutions, which skip taps in a border of zeros: against onnxruntime, on 1 and 2 threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, helper, numpy_helper

import mlc

FLOAT = 1
CASES: dict[str, dict[str, Any]] = {
    "far": {"dilations": [6, 6], "pads": [6, 6, 6, 6]},
    "one side": {"dilations": [5, 4], "pads": [10, 0, 0, 8]},
    "no tap": {"dilations": [9, 1], "pads": [20, 1, 20, 1]},  # some rows read the border alone
    "stride": {"dilations": [8, 8], "pads": [8, 8, 8, 8], "strides": [2, 2]},
    "groups": {"dilations": [7, 7], "pads": [7, 7, 7, 7], "group": 2},
}


def build(random: np.random.Generator, group: int = 1, **attributes: Any) -> ModelProto:
    weights = {
        "w": random.standard_normal((32, 32 // group, 3, 3)).astype(np.float32) / 9,
        "b": random.standard_normal(32).astype(np.float32),
    }
    node = helper.make_node("Conv", ["x", *weights], ["y"], group=group, **attributes)
    values = (
        [helper.make_tensor_value_info("x", FLOAT, (1, 32, 9, 10))],
        [helper.make_tensor_value_info("y", FLOAT, None)],
    )
    stored = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph([node], "borders", *values, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("case", CASES)
def test_borders_are_skipped(case: str) -> None:
    rng = np.random.default_rng(0)
    model = build(rng, **CASES[case])
    x = rng.standard_normal((1, 32, 9, 10)).astype(np.float32)
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    results = [mlc.compile(model, target="x86-64-v3", threads=n).run({"x": x})["y"] for n in (1, 2)]
    assert np.abs(results[0] - expected).max() <= 1e-5 * np.abs(expected).max()
    assert np.array_equal(*results)
