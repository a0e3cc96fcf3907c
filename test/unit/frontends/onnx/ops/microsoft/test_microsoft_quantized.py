"""Quantised operators of com.microsoft against onnxruntime, whose tables and vectors may round the other way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from single import Array, ms


def numbers(rng: np.random.Generator, dtype: str, *shape: int) -> Array:
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def scale(value: float) -> Array:
    return np.array(value, "f4")


def zero(value: int, dtype: str) -> Array:
    return np.array(value if dtype == "u1" else value - 128, dtype)


@pytest.mark.parametrize("dtype", ["u1", "i1"])
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_binary(rng: np.random.Generator, op: str, dtype: str) -> None:
    inputs = {"a": numbers(rng, dtype, 3, 5, 7), "sa": scale(0.03), "za": zero(120, dtype)}
    inputs |= {"b": numbers(rng, dtype, 5, 7), "sb": scale(0.02), "zb": zero(99, dtype)}
    inputs |= {"sy": scale(0.05), "zy": zero(130, dtype)}
    ms(op, inputs, steps=1)


@pytest.mark.parametrize("dtype", ["u1", "i1"])
@pytest.mark.parametrize(("op", "how"), [("QLinearSigmoid", {}), ("QLinearLeakyRelu", {"alpha": 0.2})])
def test_activations(rng: np.random.Generator, op: str, how: dict[str, Any], dtype: str) -> None:
    inputs = {"x": numbers(rng, dtype, 3, 70), "s": scale(0.05), "z": zero(120, dtype)}
    inputs |= {"sy": scale(0.01), "zy": zero(10, dtype)}
    ms(op, inputs, constants=["s", "z", "sy", "zy"], steps=1, **how)


@pytest.mark.parametrize("last", [0, 1])
def test_global_average_pool(rng: np.random.Generator, last: int) -> None:
    inputs = {"x": numbers(rng, "u1", 2, 5, 6, 7), "s": scale(0.03), "z": zero(120, "u1")}
    inputs |= {"sy": scale(0.02), "zy": zero(110, "u1")}
    ms("QLinearGlobalAveragePool", inputs, channels_last=last, steps=1)


@pytest.mark.parametrize("include", [0, 1])
def test_average_pool(rng: np.random.Generator, include: int) -> None:
    inputs = {"x": numbers(rng, "u1", 2, 3, 8, 9), "s": scale(0.03), "z": zero(120, "u1")}
    inputs |= {"sy": scale(0.02), "zy": zero(110, "u1")}
    how = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1], "count_include_pad": include}
    ms("QLinearAveragePool", inputs, steps=1, **how)


def test_concat(rng: np.random.Generator) -> None:
    inputs: dict[str, Array] = {"sy": scale(0.03), "zy": zero(100, "u1")}
    for n, width in enumerate((3, 5)):
        inputs |= {f"x{n}": numbers(rng, "u1", 2, width, 4), f"s{n}": scale(0.02 + n / 50), f"z{n}": zero(90, "u1")}
    ms("QLinearConcat", inputs, axis=1, steps=1, constants=["sy", "zy", "s0", "z0", "s1", "z1"])


@pytest.mark.parametrize("opset", [12, 13])
def test_softmax(rng: np.random.Generator, opset: int) -> None:
    inputs = {"x": numbers(rng, "u1", 3, 5, 7), "s": scale(0.05), "z": zero(120, "u1")}
    inputs |= {"sy": scale(1 / 256), "zy": zero(0, "u1")}
    ms("QLinearSoftmax", inputs, constants=["s", "z", "sy", "zy"], steps=1, axis=1, opset=opset)
