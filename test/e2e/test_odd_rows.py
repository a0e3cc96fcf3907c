"""Rows whose number is known, and no multiple of a register tile: tiles with a remainder, and rolled steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import mlc

node = helper.make_node
ROWS = (0, 1, 2, 5, 6, 7, 13, 14, 15, 31, 97, 196)
"""None, tiles of 6 and 14 rows with one more or fewer, primes, and many."""
IMAGES = ((1, 1), (5, 7), (14, 14), (13, 13), (28, 28), (3, 29))


def build() -> ModelProto:
    """Products and convolutions of each number of rows, and an addition to what such a convolution reads."""
    random = np.random.default_rng()
    shapes = {"w": (40, 37), "b": (37,), "f": (24, 24, 1, 1), "g": (24, 24, 3, 3), "c": (24,)}
    weights = {k: random.standard_normal(s) / np.sqrt(np.prod(s[1:])) for k, s in shapes.items()}
    constants = [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()]
    nodes: list[Any] = []
    inputs = {f"m{n}": [n, 40] for n in ROWS}
    for n in ROWS:
        nodes += [node("MatMul", [f"m{n}", "w"], [f"p{n}"]), node("Add", [f"p{n}", "b"], [f"y{n}"])]
    for high, wide in IMAGES:
        name = f"{high}_{wide}"
        inputs[f"x{name}"] = [1, 24, high, wide]
        nodes += [
            node("Conv", [f"x{name}", "f", "c"], [f"f{name}"]),
            node("Conv", [f"f{name}", "g", "c"], [f"g{name}"], pads=[1, 1, 1, 1], strides=[1, 2]),
            node("Conv", [f"f{name}", "f"], [f"h{name}"]),
            node("Add", [f"h{name}", f"f{name}"], [f"s{name}"]),
            node("Sigmoid", [f"g{name}"], [f"y{name}"]),
            node("Tanh", [f"s{name}"], [f"z{name}"]),
        ]
    names = [f"y{n}" for n in ROWS] + [f"{y}{h}_{w}" for h, w in IMAGES for y in "yz"]
    graph = helper.make_graph(
        nodes,
        "rows",
        [helper.make_tensor_value_info(k, TensorProto.FLOAT, s) for k, s in inputs.items()],
        [helper.make_tensor_value_info(k, TensorProto.FLOAT, None) for k in names],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 9
    return model


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64"])
def test_odd_numbers_of_rows(target: str) -> None:
    random, model = np.random.default_rng(), build()
    shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input}
    given = {k: random.standard_normal(s).astype(np.float32) for k, s in shapes.items()}
    found = mlc.compile(model, target, threads=2)(**given)
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, given)
    for output, ours, theirs in zip(model.graph.output, found, expected, strict=True):
        scale = np.abs(theirs).max(initial=1.0)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * scale, err_msg=output.name)
