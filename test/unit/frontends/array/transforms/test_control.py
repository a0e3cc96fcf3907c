"""cond, switch, while_loop, fori_loop and scan against Python's own, line by line and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError

RNG = np.random.default_rng(303)
X, K = RNG.normal(size=(4, 3)), mnp.asarray(RNG.normal(size=3))
EITHER = pytest.mark.parametrize("how", [lambda f: f, mlc.jit], ids=["line by line", "compiled"])
How = Callable[[Any], Any]


def close(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-12, atol=1e-12)


@EITHER
def test_branches(how: How) -> None:
    factor = mnp.asarray(2.5)
    f = how(lambda p, x: mlc.cond(p, lambda x: (mnp.tanh(x @ x.T), x[0] * factor), lambda x: (x @ x.T - K[0], K), x))
    for predicate in (True, False):
        square, row = f(np.bool_(predicate), X)
        close(square, np.tanh(X @ X.T) if predicate else X @ X.T - np.asarray(K)[0])
        close(row, X[0] * 2.5 if predicate else K)
    g = how(lambda n, x: mlc.switch(n, [lambda x: x, lambda x: x * x, lambda x: -x], x))
    for n, expected in ((-3, X), (0, X), (1, X * X), (2, -X), (9, -X)):
        close(g(np.int64(n), X), expected)


@EITHER
def test_a_loop_on_a_condition(how: How) -> None:
    """Newton's method for a square root: as many iterations as it needs."""

    def root(x: Any) -> Any:
        def improve(state: Any) -> Any:
            guess, count = state
            return (guess + x / guess) / 2, count + 1

        return mlc.while_loop(lambda s: mnp.max(mnp.abs(s[0] * s[0] - x)) > 1e-12, improve, (x, 0))

    for x in (np.array([2.0, 9.0, 0.25]), np.array([1.0, 1.0])):
        guess, count = how(root)(x)
        close(guess, np.sqrt(x))
        expected, steps = x, 0
        while np.abs(expected * expected - x).max() > 1e-12:
            expected, steps = (expected + x / expected) / 2, steps + 1
        assert int(count) == steps


@EITHER
def test_counted_loops_and_scans(how: How) -> None:
    weighted = how(lambda x: mlc.fori_loop(1, 4, lambda i, s: s + mnp.asarray(x)[i] * i, mnp.zeros(3, dtype="float64")))
    close(weighted(X), (X * np.arange(4)[:, None]).sum(0))
    run = how(lambda x, y: mlc.scan(lambda s, v: (s * 0.5 + v[0] * K, {"s": s, "v": v[1] - s[0]}), K * 0, (x, y)))
    last, all_ = run(X, X[:, 1])
    state, seen, others = np.zeros(3), [], []
    for row, value in zip(X, X[:, 1], strict=True):
        seen.append(state)
        others.append(value - state[0])
        state = state * 0.5 + row * np.asarray(K)
    close(last, state)
    close(all_["s"], seen)
    close(all_["v"], others)


def test_nested_over_an_open_dimension() -> None:
    """A branch in a scan, whose number of steps is known at run time."""

    @mlc.jit(shapes={"x": ("steps", 3)})
    def f(x: Any) -> Any:
        def step(s: Any, v: Any) -> Any:
            s = mlc.cond(mnp.sum(v) > 0, lambda s: mnp.sin(s + v), lambda s: mnp.cos(s * K), s)
            return s, mnp.sum(s)

        return mlc.scan(step, K, x)

    for rows in (1, 4, 30):
        x = RNG.normal(size=(rows, 3))
        state, seen, k = np.asarray(K), [], np.asarray(K)
        for v in x:
            state = np.sin(state + v) if v.sum() > 0 else np.cos(state * k)
            seen.append(state.sum())
        last, sums = f(x)
        close(last, state)
        close(sums, seen)
    assert mlc.explain(f) == "f: the first call"


def test_derivatives_of_unrolled_scans() -> None:
    def f(w: Any) -> Any:
        return mnp.sum(mlc.scan(lambda s, v: (mnp.tanh(s * w + v), s), K * 0, X, unroll=True)[0])

    w, v = RNG.normal(size=3), RNG.normal(size=3)
    expected = (float(f(mnp.asarray(w + 1e-6 * v))) - float(f(mnp.asarray(w - 1e-6 * v)))) / 2e-6
    assert float(mnp.sum(mlc.grad(f)(w) * v)) == pytest.approx(expected, rel=1e-7)


def test_refusals() -> None:
    with pytest.raises(InputError, match=r"cond: an array is float64\[4, 3\] on one side and float64\[3\]"):
        mlc.cond(True, lambda x: x, lambda x: x[0], X)
    with pytest.raises(InputError, match="while_loop: results have the structure"):
        mlc.while_loop(lambda s: s < 3, lambda s: (s, s), 0)
    with pytest.raises(InputError, match="fori_loop: an array is int64"):
        mlc.fori_loop(0, 3, lambda i, s: s + 0.5, 0)
    with pytest.raises(InputError, match=r"scan cannot go over arrays of shapes \[\(4, 3\), \(3,\)\]"):
        mlc.scan(lambda s, v: (s, v), K, (X, K))
    with pytest.raises(mlc.TraceError, match=r"test_control.py:\d+"):
        mlc.fori_loop(0, 3, lambda i, s: s if i > 1 else s + 1, 0)
