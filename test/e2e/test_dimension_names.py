"""Dimensions named as variables and functions of the generated C."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

import mlc

NAMES = ["offset", "host", "place", "shape", "bytes", "part", "mark", "arena", "body", "work", "end", "sizeof"]


def test_names_that_generated_code_uses() -> None:
    """Each tensor has two of the names, and an intermediate value in the arena."""
    pairs = list(zip(NAMES[::2], NAMES[1::2], strict=True))
    nodes, inputs, outputs = [], [], []
    for n, pair in enumerate(pairs):
        nodes += [
            helper.make_node("Softmax", [f"x{n}"], [f"s{n}"]),
            helper.make_node("CumSum", [f"s{n}", "axis"], [f"y{n}"]),
        ]
        inputs.append(helper.make_tensor_value_info(f"x{n}", TensorProto.FLOAT, pair))
        outputs.append(helper.make_tensor_value_info(f"y{n}", TensorProto.FLOAT, pair))
    axis = helper.make_tensor("axis", TensorProto.INT64, [], [0])
    graph = helper.make_graph(nodes, "g", inputs, outputs, [axis])
    model = mlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))
    random = np.random.default_rng()
    values = [random.standard_normal((2 + n, 3 + n), dtype=np.float32) for n in range(len(pairs))]
    for x, y in zip(values, model(*values), strict=True):
        powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        np.testing.assert_allclose(y, np.cumsum(powers / powers.sum(1, keepdims=True), 0), rtol=1e-5)
