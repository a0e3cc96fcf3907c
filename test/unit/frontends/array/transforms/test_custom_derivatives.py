"""stop_gradient, checkpoint, custom_jvp and custom_vjp: line by line and compiled, batched, in loops, twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError

RNG = np.random.default_rng(909)
X, W = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 3))
EITHER = pytest.mark.parametrize("how", [lambda f: f, mlc.jit], ids=["line by line", "compiled"])
How = Callable[[Any], Any]


@mlc.custom_jvp
def scaled(x: Any, n: Any) -> Any:
    """sin(x) · n, whose derivative the rule says is three times what it is."""
    return mnp.sin(x) * mnp.astype(n, "float64")


@scaled.defjvp
def _(primals: Any, tangents: Any) -> Any:
    x, n = primals
    assert tangents[1] is None
    return scaled(x, n), 3 * mnp.cos(x) * tangents[0] * mnp.astype(n, "float64")


@mlc.custom_vjp
def pair(x: Any, unused: Any) -> Any:
    return {"a": x * 2, "b": mnp.sum(x) + 0 * mnp.sum(unused)}


pair.defvjp(lambda x, u: (pair(x, u), mnp.sign(x)), lambda signs, bars: (bars["a"] * signs + bars["b"] * 5, None))


def close(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-12, atol=1e-13)


@EITHER
def test_stop_gradient(how: How) -> None:
    def f(x: Any) -> Any:
        stopped = mlc.stop_gradient({"x": x, "n": mnp.asarray(2)})
        return mnp.sum(stopped["x"] * x) * mnp.astype(stopped["n"], "float64")

    value, gradient, tangent = how(lambda x: (f(x), mlc.grad(f)(x), mlc.jvp(f, (x,), (x,))[1]))(X)
    close(value, 2 * (X**2).sum())
    close(gradient, 2 * X)
    close(tangent, 2 * (X**2).sum())


@EITHER
def test_checkpoint(how: How) -> None:
    def layers(w: Any) -> Any:
        return mnp.tanh(mnp.tanh(X @ w) @ w)

    def loss(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda w: mnp.sum(f(w) ** 2)

    def derivatives(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda w: (mlc.grad(f)(w), mlc.hvp(f, (w,), (w,)))

    found = how(derivatives(loss(mlc.checkpoint(layers))))(W)
    for actual, expected in zip(found, derivatives(loss(layers))(W), strict=True):
        close(actual, expected)


def test_memory_of_checkpoints() -> None:
    """Three blocks of three layers: without checkpoints all activations are live at once."""

    def block(x: Any, w: Any) -> Any:
        for _ in range(3):
            x = mnp.tanh(x @ w)
        return x

    def arena(wrapped: Callable[..., Any]) -> int:
        def loss(w: Any, x: Any) -> Any:
            for n in range(3):
                x = wrapped(x, w[n])
            return mnp.sum(x**2)

        given = np.ones((3, 8, 8), np.float32), np.ones((512, 8), np.float32)
        model = mlc.jit(mlc.grad(loss)).lower(*given).model
        return int(model.signature["arena"])

    assert arena(mlc.checkpoint(block)) < 0.75 * arena(block)


@EITHER
def test_rules_forward(how: How) -> None:
    expected = 6 * np.cos(X)
    gradient, tangent, second, batched = how(
        lambda x: (
            mlc.grad(lambda x: mnp.sum(scaled(x, 2)))(x),
            mlc.jvp(lambda x: scaled(x, 2), (x,), (x,))[1],
            mlc.grad(lambda x: mnp.sum(mlc.grad(lambda x: mnp.sum(scaled(x, 2)))(x)))(x),
            mlc.vmap(mlc.grad(lambda x: mnp.sum(scaled(x, 2))))(x),
        )
    )(X)
    close(gradient, expected)
    close(tangent, expected * X)
    close(second, -6 * np.sin(X))
    close(batched, expected)


@EITHER
def test_rules_backward(how: How) -> None:
    def f(x: Any) -> Any:
        found = pair(x, x)
        return mnp.sum(found["a"]) + found["b"]

    gradient, tangent, batched = how(
        lambda x: (mlc.grad(f)(x), mlc.jvp(lambda x: pair(x, x)["b"], (x,), (x,))[1], mlc.vmap(mlc.grad(f))(x))
    )(X)
    close(gradient, np.sign(X) + 5)
    close(tangent, 5 * X.sum())
    close(batched, np.sign(X) + 5)


@EITHER
def test_a_rule_in_a_loop(how: How) -> None:
    def f(x: Any) -> Any:
        return mlc.scan(lambda s, v: (s + mnp.sum(scaled(x, 2) * v), s), 0.0 * x[0, 0], X[:, 0])[0]

    close(how(mlc.grad(f))(X), 6 * np.cos(X) * X[:, 0].sum())


def test_refusals() -> None:
    @mlc.custom_vjp
    def without(x: Any) -> Any:
        return x

    with pytest.raises(InputError, match="without has no rule for its derivative. Give one by defjvp or defvjp"):
        without(X)
    without.defvjp(lambda x: (x, None), lambda residuals, bar: (mnp.sum(bar),))
    with pytest.raises(InputError, match=r"The rule of without returns float64\[\] in place of float64\[2, 3\]"):
        mlc.grad(lambda x: mnp.sum(without(x)))(X)

    def around(x: Any) -> Any:
        @mlc.custom_jvp
        def inner(y: Any) -> Any:
            return x * y

        inner.defjvp(lambda primals, tangents: (inner(*primals), tangents[0]))
        return mnp.sum(inner(mnp.ones((2, 3), dtype="float64")))

    with pytest.raises(InputError, match="inner reads a variable of a derivative, for which it has no rule"):
        mlc.grad(around)(X)
