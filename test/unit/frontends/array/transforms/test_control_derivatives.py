"""Derivatives of loops and branches, in both modes and to the second order, against central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import evaluate
from mlc.frontends.array.transforms import regions

RNG = np.random.default_rng(515)
X, W, V = RNG.normal(size=(5, 3)), RNG.normal(size=3) + 0.3, RNG.normal(size=3)
A = mnp.asarray(X)


def collected(w: Any) -> Any:
    """What a scan collects, from slices that depend on ``w``, too."""
    last, ys = mlc.scan(lambda s, v: (mnp.tanh(s * w + v), s * v[0]), W * 0, A * mnp.sum(w))
    return mnp.sum(ys**2) + mnp.sum(last)


def counted(w: Any) -> Any:
    """Indices, and an integer state beside a float."""

    def body(i: Any, state: Any) -> Any:
        s, n = state
        return mnp.sin(s * w) + A[i] * mnp.astype(n, "float64"), n + 2 * i

    return mnp.sum(mlc.fori_loop(1, 5, body, (w, 1))[0])


def newton(w: Any) -> Any:
    """As many iterations as the data needs."""
    return mnp.sum(mlc.while_loop(lambda s: mnp.sum(s**2) < 50, lambda s: s * 1.5 + mnp.sin(w), w, max_iterations=20))


def branches(sign: int) -> Callable[[Any], Any]:
    def f(w: Any) -> Any:
        there = sign * mnp.sum(w) > 0
        return mnp.sum(mlc.cond(there, lambda s: mnp.sin(s * w @ A.T), lambda s: mnp.exp(s @ A.T), w))

    return f


def inner(s: Any, w: Any) -> Any:
    return mlc.scan(lambda a, x: (mnp.tanh(a * x + w), a), s, X)[0]


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "scan": collected,
    "fori_loop": counted,
    "while_loop": newton,
    "cond, taken": branches(1),
    "cond, not taken": branches(-1),
    "nested": lambda w: mnp.sum(mlc.fori_loop(0, 3, lambda i, s: inner(s, w), w)),
    "in a branch": lambda w: mlc.switch(
        1, [mnp.sum, lambda w: mnp.sum(mlc.fori_loop(0, 4, lambda i, s: mnp.cos(s * w), w))], w
    ),
    "last states and rows": lambda w: mnp.sum(
        mlc.scan(lambda s, v: (s * v, {"s": s}), w, X[::-1])[1]["s"] * mlc.scan(lambda s, v: (s + v, s), w, X * w)[0]
    ),
}


def along(f: Callable[[Any], Any], w: np.ndarray) -> np.ndarray:
    high, low = (np.asarray(f(mnp.asarray(w + sign * 1e-6 * V))) for sign in (1, -1))
    return (high - low) / 2e-6


def derivatives(f: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """Along a direction: the value, the first derivative in both modes, the second over forward and over reverse."""

    def all_(w: Any, v: Any) -> Any:
        value, forward = mlc.jvp(f, (w,), (v,))
        over = mlc.grad(lambda w: mnp.sum(mlc.grad(f)(w) * v))(w)
        return value, forward, mnp.sum(mlc.grad(f)(w) * v), mlc.hvp(f, (w,), (v,)), over

    return all_


def check(f: Callable[[Any], Any], found: Any) -> None:
    first, second = along(f, W), along(mlc.grad(f), W)
    for actual, expected in zip(found, (np.asarray(f(W)), first, first, second, second), strict=True):
        np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_line_by_line(name: str) -> None:
    check(FUNCTIONS[name], derivatives(FUNCTIONS[name])(W, V))


@pytest.mark.parametrize("name", ["while_loop", "nested", "in a branch", "last states and rows"])
def test_compiled(name: str) -> None:
    check(FUNCTIONS[name], mlc.jit(derivatives(FUNCTIONS[name]))(W, V))


@pytest.mark.parametrize("name", ["scan", "fori_loop", "nested"])
def test_in_segments(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """⌈√T⌉ iterations at a time, and those that are left over."""
    monkeypatch.setattr(regions, "SAVED", 0)
    monkeypatch.setattr(evaluate, "_programs", {})
    f = FUNCTIONS[name]
    check(f, derivatives(f)(W, V))


M, H = RNG.normal(size=(40, 40)) / 7, RNG.normal(size=(2, 40))


def recurrent(m: Any, loop: bool) -> Any:
    """Products of 40 terms, of a state that depends on the matrix: in a loop, or unrolled."""
    step = lambda s, v: (mnp.tanh(s @ m) * mnp.sum(v), mnp.sum(s))  # noqa: E731
    last, sums = mlc.scan(step, mnp.asarray(H), A, unroll=not loop)
    return mnp.sum(last * last) + mnp.sum(sums**2)


@pytest.mark.parametrize("saved", [0, regions.SAVED])
def test_products_of_a_loop_are_saved(saved: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "SAVED", saved)
    direction = RNG.normal(size=M.shape)

    def both(loop: bool) -> Any:
        f = lambda m: recurrent(m, loop)  # noqa: E731
        return mlc.jit(lambda m, v: (mlc.grad(f)(m), mlc.hvp(f, (m,), (v,))))(M, direction)

    for found, expected in zip(both(True), both(False), strict=True):
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-10, atol=1e-12)


def test_a_pullback_computes_no_long_product_again() -> None:
    text = mlc.jit(mlc.grad(lambda m: recurrent(m, True))).ir("layout", M)
    assert text.count("graph.contract") == 3  # the product, and its adjoints by both factors


def test_over_an_open_dimension() -> None:
    @mlc.jit(shapes={"x": ("steps", 3)})
    def gradient(w: Any, x: Any) -> Any:
        return mlc.grad(lambda w, x: mnp.sum(mlc.scan(lambda s, v: (mnp.tanh(s * w + v), s), w, x)[0]), (0, 1))(w, x)

    for steps in (1, regions.SEGMENT, regions.SEGMENT + 3):
        x = RNG.normal(size=(steps, 3))
        states = [W]
        for row in x:
            states.append(np.tanh(states[-1] * W + row))
        bar, of_w, of_x = np.ones(3), np.zeros(3), np.zeros_like(x)
        for n in reversed(range(steps)):
            inner = bar * (1 - states[n + 1] ** 2)
            of_w, of_x[n], bar = of_w + inner * states[n], inner, inner * W
        for actual, expected in zip(gradient(W, x), (of_w + bar, of_x), strict=True):
            np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-11, atol=1e-12)


def test_memory_of_segments() -> None:
    """10,000 states of 4 KB take 40 MB; those of 100 segments and of one segment 0.8 MB."""

    def loss(w: Any, x: Any) -> Any:
        return mnp.sum(mlc.fori_loop(0, 10_000, lambda i, s: mnp.sin(s * w), x))

    model = mlc.jit(mlc.grad(loss)).lower(np.float32(0.5), np.ones(1000, np.float32)).model
    assert int(model.signature["arena"]) < 1.2e6


def test_a_pullback_from_around_a_body() -> None:
    y, pullback = mlc.vjp(lambda x: mnp.sin(x) * x, W)
    _, rows = mlc.scan(lambda s, c: (s, pullback(c)[0]), 0.0, np.eye(3))
    np.testing.assert_allclose(np.asarray(rows), np.diag(np.cos(W) * W + np.sin(W)))


def test_a_loop_without_a_bound_has_only_tangents() -> None:
    def f(w: Any) -> Any:
        return mlc.while_loop(lambda s: s < 50, lambda s: s * 1.5 * w, w)

    w = np.float64(1.25)
    np.testing.assert_allclose(np.asarray(mlc.jvp(f, (w,), (1.0,))[1]), 7 * 1.5**6 * w**6)
    with pytest.raises(InputError, match=r"test_control_derivatives.py:\d+: a loop on a condition .* max_iterations"):
        float(mlc.grad(f)(w))
