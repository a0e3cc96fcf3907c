"""Write a training step as a C library: `python examples/train_step.py build/step.so`; `train.c` trains with it.

A network of one hidden layer learns a function of a number, by Adam. Its parameters and Adam's moments are state of the
model: a run takes a batch, updates them in place and gives the loss.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp

HIDDEN, BATCH = 64, 32
Parameters = dict[str, Any]


def loss(params: Parameters, x: Any, y: Any) -> Any:
    hidden = mnp.tanh(mnp.expand_dims(x, axis=1) * params["w"] + params["b"])
    return mnp.mean((hidden @ params["out"] - y) ** 2)


@mlc.jit(state=("params", "adam"), shapes={"x": ("batch",), "y": ("batch",)})
def step(params: Parameters, adam: dict[str, Any], x: Any, y: Any) -> Any:
    value, gradient = mlc.value_and_grad(loss)(params, x, y)
    t = adam["t"] + 1
    rate = 0.01 * mnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    m = {name: 0.9 * adam["m"][name] + 0.1 * g for name, g in gradient.items()}
    v = {name: 0.999 * adam["v"][name] + 0.001 * g * g for name, g in gradient.items()}
    params = {name: p - rate * m[name] / (mnp.sqrt(v[name]) + 1e-8) for name, p in params.items()}
    return params, {"m": m, "v": v, "t": t}, value


def first_values() -> tuple[Parameters, dict[str, Any]]:
    random = np.random.default_rng(7)
    params = {name: random.normal(0, s, HIDDEN).astype("f4") for name, s in (("w", 1.0), ("b", 1.0), ("out", 0.1))}
    zeros = {name: np.zeros_like(p) for name, p in params.items()}
    return params, {"m": zeros, "v": zeros, "t": np.float32(0)}


if __name__ == "__main__":
    batch = np.zeros(BATCH, np.float32)
    step.save(sys.argv[1], *first_values(), batch, batch)
