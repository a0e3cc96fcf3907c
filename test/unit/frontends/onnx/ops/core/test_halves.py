"""Operators of several steps on floats of 16 bits: computed in more, rounded once. Against NumPy in float64."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import onnx.parser
import pytest

import mlc

A, G = 1.67326319217681884765625, 1.05070102214813232421875  # of Selu
SINGLE = 2.0**-22  # what the steps in f32 lose: of Gelu's 1 + erf(x) little is left at -4
ERF = np.vectorize(math.erf)
FORMULAS = {
    "Celu<alpha = 1.3>(x)": lambda x: np.maximum(x, 0) + np.minimum(0, 1.3 * np.expm1(x / 1.3)),
    "Elu<alpha = 1.3>(x)": lambda x: np.where(x >= 0, x, 1.3 * np.expm1(x)),
    "Gelu(x)": lambda x: 0.5 * x * (1 + ERF(x / math.sqrt(2))),
    "HardSigmoid<alpha = 0.3, beta = 0.6>(x)": lambda x: np.clip(0.3 * x + 0.6, 0, 1),
    "HardSwish(x)": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "LeakyRelu<alpha = 0.3>(x)": lambda x: np.where(x >= 0, x, 0.3 * x),
    "Mish(x)": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "Selu(x)": lambda x: G * np.where(x > 0, x, A * np.expm1(x)),
    "Shrink<bias = 0.3, lambd = 0.3>(x)": lambda x: np.where(x < -0.3, x + 0.3, np.where(x > 0.3, x - 0.3, 0)),
    "Softsign(x)": lambda x: x / (1 + np.abs(x)),
    "Swish<alpha = 1.3>(x)": lambda x: x / (1 + np.exp(-1.3 * x)),
}


@pytest.mark.parametrize(("name", "kind", "bits"), [("float16", np.float16, 11), ("bfloat16", ml_dtypes.bfloat16, 8)])
@pytest.mark.parametrize("formula", FORMULAS)
def test_rounded_once(formula: str, name: str, kind: type, bits: int) -> None:
    x = np.random.default_rng().normal(0, 2, 1000).astype(kind)
    text = f'<ir_version: 10, opset_import: ["" : 24]> g ({name}[1000] x) => ({name}[1000] y) {{ y = {formula} }}'
    exact = FORMULAS[formula](x.astype("f8"))
    found = mlc.compile(onnx.parser.parse_model(text))(x).astype("f8")
    half_a_step = np.exp2(np.floor(np.log2(np.maximum(np.abs(exact), 1e-3))) - bits)
    assert (np.abs(found - exact) <= half_a_step + SINGLE).all()
