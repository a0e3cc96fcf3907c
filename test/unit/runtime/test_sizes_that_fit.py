"""Sizes that guards allow: the given ones where they do, larger ones else."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

import mlc
from mlc.runtime.signature import sizes_that_fit
from mlc.tools.random_inputs import random_inputs

LEAST = {"expr": "h - 33"}
EVEN = {"expr": "2*(h//2) - h"}
WIDER = {"expr": "w - 2*h"}


@pytest.mark.parametrize(
    ("guards", "given", "wanted"),
    [
        ([], [], {"h": 1, "w": 1}),
        ([LEAST], [], {"h": 33, "w": 1}),
        ([LEAST, EVEN], [], {"h": 34, "w": 1}),
        ([EVEN, WIDER, LEAST], [], {"h": 34, "w": 68}),
        ([WIDER], ["h"], {"h": 1, "w": 2}),
        ([LEAST], ["h"], {"h": 1, "w": 1}),  # none: the run says why
        ([{"expr": "-h"}], [], {"h": 1, "w": 1}),
    ],
)
def test_sizes(guards: list[dict[str, str]], given: list[str], wanted: dict[str, int]) -> None:
    assert sizes_that_fit(guards, {"h": 1, "w": 1}, given) == wanted


def test_random_inputs_of_a_model_that_needs_a_size() -> None:
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", "t"]) for name in "xy"]
    nodes = [helper.make_node("Unsqueeze", ["x", "one"], ["u"]),
             helper.make_node("AveragePool", ["u"], ["p"], kernel_shape=[7], strides=[2]),
             helper.make_node("Squeeze", ["p", "one"], ["y"])]  # fmt: skip
    constants = [helper.make_tensor("one", TensorProto.INT64, [1], [1])]
    graph = helper.make_graph(nodes, "pool", info[:1], [helper.make_tensor_value_info("y", 1, None)], constants)
    net = mlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    x = random_inputs(net, 0, {})["x"]
    assert x.shape == (1, 7)
    np.testing.assert_allclose(net(x), x.mean(axis=1, keepdims=True), rtol=1e-6)
    assert random_inputs(net, 0, {"t": 12})["x"].shape == (1, 12)
