"""Long epilogues, of which each half of a register tile is an iteration of a loop: against NumPy in float64."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import mlc


def model(w: np.ndarray) -> onnx.ModelProto:
    """x · w, its quantization and dequantization, and the product with its own sigmoid."""
    constants = {"w": w, "scale": np.float32(0.125), "zero": np.int8(3)}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("QuantizeLinear", ["p", "scale", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"]),
        helper.make_node("Sigmoid", ["d"], ["s"]),
        helper.make_node("Mul", ["d", "s"], ["y"]),
    ]
    x, y = (helper.make_tensor_value_info(name, 1, ["n", "rows", k]) for name, k in zip("xy", w.shape, strict=True))
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("channels", [16, 32, 64])
def test_halves_of_a_tile(channels: int) -> None:
    random = np.random.default_rng()
    w = random.integers(-9, 10, (8, channels)).astype(np.float32) / 4  # products and sums are exact
    with mlc.compile(model(w)) as net:
        for rows in (7, 12, 13, 26, 27):
            x = random.integers(-3, 4, (2, rows, 8)).astype(np.float32) / 4
            d = np.clip(np.rint(x.astype(np.float64) @ w / 0.125) + 3, -128, 127) - 3
            want = d * 0.125 / (1 + np.exp(-d * 0.125))
            np.testing.assert_allclose(net.run({"x": x})["y"], want, rtol=1e-5, atol=1e-6)
