"""Activations of ``jax.nn`` by their formulas in NumPy, and their derivatives by central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn

FORMULAS: dict[str, Callable[[Any], Any]] = {
    "relu6": lambda x: np.clip(x, 0, 6),
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "log_sigmoid": lambda x: -np.logaddexp(0, -x),
    "squareplus": lambda x: (x + np.sqrt(x * x + 4)) / 2,
    "sparse_plus": lambda x: np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4)),
    "logmeanexp": lambda x: np.log(np.mean(np.exp(x))),
    "standardize": lambda x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5),
    "swish": lambda x: x / (1 + np.exp(-x)),
    "hard_silu": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "soft_sign": lambda x: x / (1 + np.abs(x)),
    "identity": lambda x: x,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_value_and_derivative(name: str) -> None:
    x, v = (np.random.default_rng().normal(size=(3, 4)) * 2 for _ in range(2))
    f = getattr(nn, name)
    np.testing.assert_allclose(f(mnp.asarray(x)), FORMULAS[name](x), rtol=1e-7, atol=1e-9)
    slope = (np.sum(FORMULAS[name](x + 1e-6 * v)) - np.sum(FORMULAS[name](x - 1e-6 * v))) / 2e-6
    gradient = mlc.grad(lambda x: mnp.sum(f(x)))(x)
    np.testing.assert_allclose(np.sum(np.asarray(gradient) * v), slope, rtol=1e-5, atol=1e-6)
