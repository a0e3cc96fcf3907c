"""The error of sigmoid(x) and of x * sigmoid(x), which is one division, over floats of all exponents."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

import mlc

GATES = """<ir_version: 8, opset_import: ["" : 17]>
gates (float[n] x, float[n] a) => (float[n] plain, float[n] swish, float[n] gated) {
  plain = Sigmoid (x)
  swish = Mul (x, plain)
  gated = Mul (plain, a)
}"""
ULP = 4.0  # docs/numerics.md


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3", "x86-64"])
def test_error(target: str) -> None:
    bits = np.arange(np.random.default_rng().integers(997), 2**32, 99991, dtype=np.uint32)
    x = bits.view(np.float32)
    x = x[np.abs(x) < 87]
    a = np.random.default_rng().standard_normal(len(x)).astype("f4")
    sigmoid = 1 / (1 + np.exp(-x.astype("f8")))
    actual = mlc.compile(onnx.parser.parse_model(GATES), target=target)(x, a)
    for y, expected in zip(actual, (sigmoid, x * sigmoid, a * sigmoid), strict=True):
        normal = np.abs(expected) >= 2.0**-126
        unit = np.spacing(np.abs(expected[normal]).astype("f4"))
        assert np.max(np.abs(y[normal] - expected[normal]) / unit) <= ULP


def test_ends() -> None:
    x = np.array([np.inf, -np.inf, np.nan, 200, -200, 0.0, -0.0], np.float32)
    plain, swish, gated = mlc.compile(onnx.parser.parse_model(GATES))(x, np.ones_like(x))
    np.testing.assert_array_equal(plain, np.array([1, 0, np.nan, 1, 0, 0.5, 0.5], np.float32))
    np.testing.assert_array_equal(swish, np.array([np.inf, np.nan, np.nan, 200, -0.0, 0.0, -0.0], np.float32))
    np.testing.assert_array_equal(gated, plain)
