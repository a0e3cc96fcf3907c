"""A budget of memory from Python and the command line: smaller arenas, the same gradients, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import Command

import mlc
import mlc.numpy as mnp

LAYERS = 6
CODE = """\
import mlc
import mlc.numpy as mnp

def loss(w, x):
    for n in range(6):
        x = mnp.tanh(x @ w[n])
    return mnp.mean(x * x)

def step(w, x):
    return mlc.grad(loss)(w, x)
"""


def loss(w: Any, x: Any) -> Any:
    for n in range(LAYERS):
        x = mnp.tanh(x @ w[n])
    return mnp.mean(x * x)


def data() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng()
    w = random.standard_normal((LAYERS, 64, 64)).astype(np.float32) / 8
    return w, random.standard_normal((1024, 64)).astype(np.float32)


def reference(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The gradient in float64, by hand."""
    values = [x.astype(np.float64)]
    for each in w.astype(np.float64):
        values.append(np.tanh(values[-1] @ each))
    g, found = 2 * values[-1] / values[-1].size, []
    for n in reversed(range(LAYERS)):
        g = g * (1 - values[n + 1] ** 2)
        found.append(values[n].T @ g)
        g = g @ w[n].astype(np.float64).T
    return np.array(found[::-1])


def arena(step: Any, *args: np.ndarray) -> int:
    match = re.search(r"arena = {bytes = (\d+)", step.ir("plan", *args))
    assert match
    return int(match[1])


def test_gradients_in_less_memory() -> None:
    w, x = data()
    whole = mlc.jit(mlc.grad(loss), wait=True)
    with pytest.raises(mlc.InputError, match="the budget is 1") as error:
        mlc.jit(mlc.grad(loss), peak_memory=1, wait=True)(w, x)
    least = int(str(error.value).partition("peak_memory=")[2].split()[0])
    assert least < 0.8 * arena(whole, w, x)
    small = mlc.jit(mlc.grad(loss), peak_memory=least, wait=True)
    assert arena(small, w, x) == least
    found = np.asarray(small(w, x))
    np.testing.assert_array_equal(found, np.asarray(whole(w, x)))
    np.testing.assert_allclose(found, reference(w, x), atol=1e-5 * np.abs(found).max())


def test_from_the_command_line(mlc_command: Command) -> None:
    Path("layers.py").write_text(CODE)
    types = "-i", "w=f32[6,64,64]", "-i", "x=f32[1024,64]", "--emit", "plan"
    least = mlc_command("compile", "layers.py:step", *types, "--peak-memory", "1k", code=2).partition("peak_memory=")[2]
    small = mlc_command("compile", "layers.py:step", *types, "--peak-memory", least.split()[0])
    assert f"arena = {{bytes = {least.split()[0]}" in small
    assert small != mlc_command("compile", "layers.py:step", *types, "--peak-memory", "1G")
    message = mlc_command(
        "compile", "layers.py:step", "-i", "w=f32[6,64,64]", "-i", "x=f32[n,64]", "--peak-memory", "1M", code=2
    )
    assert "needs fixed dimensions" in message and "--dim" in message
