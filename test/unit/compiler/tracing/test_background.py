"""Compilation in the background: the interpreter answers first, the process ends at once, errors come with a call."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import ToolchainError
from mlc.tracing import background, traced

RNG = np.random.default_rng(17)
PROGRAM = """
import sys, time, numpy as np, mlc, mlc.numpy as mnp
f = mlc.jit(lambda x: mnp.exp(mnp.tanh(x @ x.T) - mnp.sum(x)) / mnp.mean(x, axis=0)[:4])
for _ in range(2):
    f(np.ones((4, 5), "f4"))
time.sleep(float(sys.argv[1]))
print(time.time())
"""


@pytest.fixture(autouse=True)
def compiled_first() -> None:
    """As users have it: the interpreter answers first."""


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """No compilation ends before the test lets it."""
    started: list[Any] = []
    monkeypatch.setattr(background, "submit", lambda work: _Held(started, work))
    return started


class _Held:
    def __init__(self, started: list[Any], work: Any) -> None:
        self.work = work
        started.append(self)

    def done(self) -> bool:
        return False

    def result(self) -> Any:
        return self.work()


def test_a_trace_is_lowered_once(held: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler changes a copy of the module that the interpreter runs, and adds weights to a copy of its store."""
    calls: list[str] = []
    lower = traced.import_trace
    monkeypatch.setattr(traced, "import_trace", lambda *given: (calls.append(given[2]), lower(*given))[1])
    table = RNG.normal(size=(5, 40_000))  # in the file of large weights
    f = mlc.jit(lambda x: mnp.exp(x) @ table)
    x = RNG.normal(size=(3, 5))
    for _ in range(2):
        np.testing.assert_allclose(f(x), np.exp(x) @ table)
    made = held[0].result()
    np.testing.assert_allclose(made(x), np.exp(x) @ table)
    np.testing.assert_allclose(f(x), np.exp(x) @ table)
    assert len(calls) == 1


def test_the_interpreter_answers_first(held: list[Any]) -> None:
    f = mlc.jit(lambda x, y: {"a": mnp.sin(x) @ y, "b": x})
    x, y = RNG.normal(size=(3, 5)), RNG.normal(size=(5, 2))
    for begun in (0, 1, 1):  # a function that runs once is not compiled
        found = f(x, y)
        np.testing.assert_allclose(found["a"], np.sin(x) @ y)
        assert len(held) == begun
    before = x.copy()
    x += 1
    np.testing.assert_array_equal(found["b"], before, "a result shares no memory with an argument")
    assert f.lower(x, y).model is not None  # waits
    np.testing.assert_allclose(f(x, y)["a"], np.sin(x) @ y)


def test_large_open_and_waiting_programs_are_compiled_first(held: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traced, "interpreted", None)
    x = np.ones((300, 300), "f4")
    cube = mlc.jit(lambda x: mnp.sum(mnp.exp(x[:, None, :] * x[None] * 0) + x[:, None, :] ** 2, axis=2))
    np.testing.assert_array_equal(cube(x), np.full((300, 300), 600))
    many = mlc.jit(lambda x: mlc.fori_loop(0, 100000, lambda n, y: y * 0.5 + 1, x))
    np.testing.assert_allclose(many(np.zeros(500, "f4")), np.full(500, 2.0))
    several = mlc.jit(lambda x: x + 1, shapes={"x": ("n", None)})
    np.testing.assert_array_equal(several(x), x + 1)
    first = mlc.jit(lambda x: x + 2, wait=True)
    np.testing.assert_array_equal(first(x), x + 2)


def test_a_failing_compiler_is_an_error_of_a_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CC", str(tmp_path / "no-such-compiler"))
    f = mlc.jit(lambda x: mnp.sin(x) * 1.2345)
    background.submit(lambda: time.sleep(1))  # the compiler fails after the second call
    for _ in range(2):
        np.testing.assert_allclose(f(np.ones(3)), np.sin(np.ones(3)) * 1.2345)
    background.submit(int).result()
    for _ in range(3):
        background.submit(lambda: time.sleep(0.2))  # nor does the interpreter answer while it tries again
        with pytest.raises(ToolchainError, match="no-such-compiler"):
            f(np.ones(3))
    monkeypatch.undo()  # once there is a compiler, it is used
    np.testing.assert_allclose(f(np.ones(3)), np.sin(np.ones(3)) * 1.2345)


@pytest.mark.parametrize("seconds", [0, 0.4])
def test_the_end_of_the_process_waits_for_no_compiler(tmp_path: Path, seconds: float) -> None:
    slow = tmp_path / "cc"
    slow.write_text('#!/bin/sh\ncase "$*" in *-c\\ *) exec sleep 60;; esac\nexec gcc "$@"\n')
    slow.chmod(0o755)
    environment = {**os.environ, "CC": str(slow), "MLC_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", PROGRAM, str(seconds)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=50)
    late = time.time() - float(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert late < 3, f"ended {late} s after its last line"


def test_calls_again_run_the_compiled_program_for_scalars_and_trees() -> None:
    f = mlc.jit(lambda params, x, n, y: (params["w"] * x + params["b"] * n, y), wait=True)
    for n, x in ((2, RNG.normal(size=3)), (3, RNG.normal(size=3)), (4.5, RNG.normal(size=3)), (1, RNG.normal(size=4))):
        params = {"w": RNG.normal(size=()), "b": mnp.asarray(RNG.normal(size=()))}
        expected = params["w"] * x + np.asarray(params["b"]) * n
        for _ in range(3):
            found, same = f(params, x, n, mnp.asarray(x))
            np.testing.assert_allclose(found, expected, rtol=1e-6)
            np.testing.assert_array_equal(same, x)
    assert len(mlc.explain(f).splitlines()) == 3


def test_a_call_again_within_a_derivative_or_trace_is_part_of_it() -> None:
    f = mlc.jit(lambda x: x * x * x, wait=True)
    f(np.ones(3)), f(np.ones(3))
    x = RNG.normal(size=3)

    def total(x: Any) -> Any:
        print(x)  # evaluates it
        return mnp.sum(f(x))

    np.testing.assert_allclose(mlc.grad(total)(x), 3 * x * x)
    np.testing.assert_allclose(mlc.jit(lambda x: f(x) + 1)(x), x**3 + 1)
