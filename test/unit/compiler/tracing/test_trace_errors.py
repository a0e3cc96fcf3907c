"""Bad input of traced functions: each error shows the user's file and line first and says what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError, MlcError, RunError
from mlc.tracing import jit

X = np.random.default_rng(3).normal(size=(3, 2)).astype("f4")


def line(offset: int) -> str:
    """The location of a line ``offset`` lines below the caller's."""
    import sys

    return f"test_trace_errors.py:{sys._getframe(1).f_lineno + offset}: "


def check(error: MlcError, where: str, *says: str) -> None:
    assert str(error).startswith(where), str(error)
    for each in says:
        assert each in str(error)


def test_shapes() -> None:
    where = line(4)

    @mlc.jit
    def f(x: Any) -> Any:
        return x @ x

    with pytest.raises(InputError) as caught:
        f(X)
    check(caught.value, where, "(3, 2)")


def test_an_error_has_one_line() -> None:
    where = line(2)

    inner = mlc.jit(lambda x: mnp.reshape(x, (4, 4)))
    with pytest.raises(InputError) as caught:
        mlc.jit(lambda x: inner(x))(X)
    check(caught.value, where)
    assert str(caught.value).count(".py:") == 1


def test_python_branches_and_numpy_functions() -> None:
    def choose(x: Any) -> Any:
        return x if x[0, 0] > 0 else -x

    where = line(-2)
    with pytest.raises(mlc.TraceError) as caught:
        mlc.jit(choose)(X)
    check(caught.value, where, "mlc.numpy.where", "static")
    where = line(2)
    with pytest.raises(mlc.TraceError) as caught:
        mlc.jit(lambda x: np.sin(x))(X)
    check(caught.value, where, "Use the function of mlc.numpy")
    where = line(2)
    with pytest.raises(mlc.TraceError) as caught:
        mlc.jit(lambda x: sum(x[n, 0] for n in range(x[0, 0])))(X)
    check(caught.value, where)


def test_leaked_tracers() -> None:
    kept: list[Any] = []
    made = line(1)
    mlc.jit(lambda x: kept.append(x * 2) or x)(X)
    where = line(2)
    with pytest.raises(mlc.TraceError) as caught:
        float(mnp.sum(kept[0]))
    check(caught.value, where)
    where = line(2)
    with pytest.raises(mlc.TraceError) as caught:
        print(kept[0].numpy())
    check(caught.value, where, made.removesuffix(": "))


def test_large_closures(monkeypatch: pytest.MonkeyPatch) -> None:
    captured = np.ones((512, 600), "f4")
    monkeypatch.setattr(jit, "LARGE", captured.nbytes)
    where = line(1)
    f = mlc.jit(lambda x: x + captured)
    with pytest.warns(UserWarning) as warned:
        f.lower(np.ones(600, "f4"))
    assert str(warned[0].message).startswith(where)
    assert "captures arrays of 1 MiB" in str(warned[0].message) and "arguments" in str(warned[0].message)
    assert warned[0].filename == __file__


def test_too_little_memory() -> None:
    where = line(1)
    f = mlc.jit(lambda x: mnp.broadcast_to(x, (1 << 20, 1 << 18, 3, 2)))
    for _ in range(2):
        with pytest.raises(RunError) as caught:
            f(X)
        check(caught.value, where, "Cannot allocate")


def test_derivatives_that_do_not_exist() -> None:
    where = line(1)
    f = mlc.jit(mlc.grad(lambda x: mnp.sum(x)))
    with pytest.raises(InputError) as caught:
        f(np.arange(3))
    check(caught.value, where, "derivative by an array of type int64")


def test_an_array_of_a_trace_that_has_ended() -> None:
    kept = []
    mlc.jit(lambda x: kept.append(x) or x)(X)
    with pytest.raises(InputError) as caught:
        mlc.jit(lambda x: x + kept[0])(X)
    assert "an array of a trace that has ended; return it from its function" in str(caught.value)
