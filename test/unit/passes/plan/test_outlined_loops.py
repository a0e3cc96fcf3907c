"""Loops of small iterations in one kernel: against NumPy, in their text, and what keeps a loop in the host program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.cli import inspect
from mlc.errors import RunError

RNG = np.random.default_rng(23)
X, M = RNG.normal(size=7), RNG.normal(size=(3, 3)) * 0.3
R = mnp.random


def until(x: Any) -> Any:
    return mlc.while_loop(lambda s: mnp.sum(s[0]) > 0.1, lambda s: (s[0] * 0.5, s[1] + 1), (x * x, mnp.asarray(0)))


def nested(x: Any) -> Any:
    inner = lambda i, s: mlc.fori_loop(0, 3, lambda j, t: t.at[j].add(mnp.sin(t[i])), s)  # noqa: E731
    return mlc.fori_loop(0, 5, inner, x)


def branching(x: Any) -> Any:
    step = lambda s: mlc.cond(s[0] > s[1], lambda t: mnp.sort(t) * 0.9, lambda t: t - 0.1, s)  # noqa: E731
    return mlc.fori_loop(0, 9, lambda _, s: step(s), x)


def backward(x: Any) -> Any:
    return mlc.scan(lambda c, u: (mnp.tanh(c + u), (c, c > 0)), x[0], x, reverse=True)


def matrices(x: Any) -> Any:
    return mlc.scan(lambda s, u: (M @ s + u, s[:, 1]), mnp.eye(3, dtype="float64"), x)


def drawing(x: Any) -> Any:
    def step(key: Any, u: Any) -> Any:
        key, other = R.split(key)
        return key, R.normal(other, (3,)) + u

    return mlc.scan(step, R.key(7), x.astype("float32"))[1]


def gradient(x: Any) -> Any:
    return mlc.grad(lambda v: mnp.sum(backward(v)[1][0] ** 2))(x)


def tangents(x: Any) -> Any:
    return mlc.jvp(lambda v: matrices(v)[0], (x,), (x[::-1],))


def rows(x: Any) -> Any:
    return mlc.vmap(lambda a: mlc.fori_loop(0, 4, lambda i, s: s.at[i].set(mnp.max(s) - s[i]), a))(mnp.stack([x, -x]))


def empty(x: Any) -> Any:
    return mlc.fori_loop(0, 3, lambda i, s: (s[0] * 2, s[1] + 1), (x[:0], x))


def never(x: Any) -> Any:
    return mlc.fori_loop(0, mnp.asarray(0) * mnp.argmax(x), lambda i, s: s + 1, x)


CASES = [until, nested, branching, backward, matrices, drawing, gradient, tangents, rows, empty, never]


@pytest.mark.parametrize("f", CASES)
def test_one_kernel_and_the_interpreter_agree(f: Callable[..., Any]) -> None:
    run = mlc.jit(f, wait=True)
    found = run(X)
    assert "kernel.repeat" in run.ir("plan", X) and "rt.loop" not in run.ir("plan", X)
    mlc.tree_map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7), found, f(mnp.asarray(X)))


ELEMENTS = ("float16", "bfloat16", "int8", "uint8", "uint32", "int64", "uint64", "bool", "complex64")


@pytest.mark.parametrize("element", ELEMENTS)
def test_elements_of_every_width(element: str) -> None:
    xs = mnp.asarray(RNG.normal(size=(5, 3)) * 3).astype(element)

    def f(xs: Any) -> Any:
        step = lambda c, u: (c ^ u if element == "bool" else c * u + c, c)  # noqa: E731
        last, states = mlc.scan(step, xs[0], xs, reverse=True)
        return last, states, mlc.fori_loop(0, 4, lambda i, s: s.at[i % 3].set(s[(i + 1) % 3]), last)

    tolerance = 3e-2 if "16" in element else 1e-6
    for found, wanted in zip(mlc.jit(f, wait=True)(xs), f(xs), strict=True):
        a, b = (np.asarray(each).astype(complex) for each in (found, wanted))
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def test_trips_and_extents_that_callers_give() -> None:
    f = mlc.jit(lambda x, n: mlc.fori_loop(0, n, lambda i, s: s * 0.5 + x[i], 1.0), shapes={"x": ("n",)}, wait=True)
    for count in (0, 1, 3, 7):
        wanted = 1.0
        for each in X[:count]:
            wanted = wanted * 0.5 + each
        assert np.isclose(float(f(X, np.array(count))), wanted)
    scan = mlc.jit(lambda x: mlc.scan(lambda c, u: (c + u, c), 0.0, x), shapes={"x": ("n",)}, wait=True)
    assert "kernel.repeat" in scan.ir("plan", X)
    for count in (1, 2, 7):
        np.testing.assert_allclose(scan(X[:count])[1], np.cumsum(X[:count]) - X[:count])


def test_small_matrices_are_in_registers() -> None:
    lowered = mlc.jit(lambda x: matrices(x)[0]).lower(X)
    sources = lowered.model.signature["kernels"]
    assert [kernel["name"] for kernel in sources] == ["loop_0"]
    assert "a loop of 7 small iterations: " in sources[0]["loop"] and "contract_" in sources[0]["loop"]


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (lambda x: mlc.fori_loop(0, 4, lambda i, s: s @ s, mnp.zeros((64, 64))), "it carries 16,384 bytes"),
        (lambda x: mlc.fori_loop(0, 4, lambda i, s: s.at[i].add(1.0, mode="check"), x), "a step of its own, rt.size"),
        (lambda x: mlc.scan(lambda c, u: (c + mnp.sum(mnp.outer(u, x)), c), 0.0, mnp.ones((3, 90000))), "operations, "),
    ],
)
def test_why_a_loop_stays_in_the_host_program(f: Callable[..., Any], why: str, tmp_path: Path, capsys: Any) -> None:
    run = mlc.jit(f, wait=True)
    plan = run.ir("plan", X)
    assert why in plan and "kernel.repeat" not in plan
    run.save(tmp_path / "f.so", X)
    inspect.command(tmp_path / "f.so", as_json=False, schedules=False)
    shown = capsys.readouterr().out
    assert "in the host program, as" in shown and why in shown
    inspect.command(tmp_path / "f.so", as_json=True, schedules=False)
    assert why in json.loads(capsys.readouterr().out)["loops"][0]["why"]


def test_an_error_in_a_loop_names_the_line() -> None:
    run = mlc.jit(lambda x: mlc.fori_loop(0, 9, lambda i, s: s.at[i].add(1.0, mode="check"), x), wait=True)
    with pytest.raises(RunError, match=r"test_outlined_loops.py:\d+.*outside of a dimension of 7"):
        run(X)


def test_loops_of_a_gpu_stay_in_the_host_program() -> None:
    plan = mlc.jit(lambda x: mlc.fori_loop(0, 4, lambda i, s: s * 0.5, x), target="cuda:sm_90").ir("plan", X)
    assert "rt.loop" in plan and "kernel.repeat" not in plan and "apart" not in plan
