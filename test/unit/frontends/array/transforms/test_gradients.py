"""grad, vjp, jvp and hvp against central differences in float64, evaluated line by line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.record import ordered

RNG = np.random.default_rng(71)
X, W, V = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2)), RNG.normal(size=(3, 4))

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: mnp.sum(mnp.sin(x) * mnp.exp(-x * x) + mnp.atan2(x, 2 + x * x)),
    "product": lambda x: mnp.sum(mnp.tanh(x @ W) ** 2),
    "softmax": lambda x: mnp.sum(mnp.log(mnp.sum(mnp.exp(x), axis=1)) * x[:, 0]),
    "gather": lambda x: mnp.sum(x[:, np.array([0, 2, 2])] ** 3),
    "slices": lambda x: mnp.sum(mnp.concat([x[1:, ::2], mnp.flip(x[:2, 1:3], axis=0)], axis=1) ** 2 * 0.5),
    "variance": lambda x: mnp.sum(mnp.std(x, axis=0) * mnp.mean(x, axis=0)),
    "choice": lambda x: mnp.sum(mnp.where(x > 0, x**2, mnp.sinh(x))),
    "einsum": lambda x: mnp.sum(mnp.einsum("ij,kj->ik", x, mnp.cos(x)) ** 2),
}


def along(f: Callable[[Any], Any], x: np.ndarray, v: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """The derivative of ``f`` along ``v``."""
    high, low = (np.asarray(f(mnp.asarray(x + sign * step * v))) for sign in (1, -1))
    return (high - low) / (2 * step)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_and_second_order(name: str) -> None:
    f = FUNCTIONS[name]
    gradient = np.asarray(mlc.grad(f)(X))
    assert gradient.shape == X.shape and gradient.dtype == np.float64
    np.testing.assert_allclose((gradient * V).sum(), along(f, X, V), rtol=2e-8, atol=1e-8)
    np.testing.assert_allclose(np.asarray(mlc.hvp(f, (X,), (V,))), along(mlc.grad(f), X, V), rtol=1e-7, atol=1e-7)


def test_forward_and_reverse_of_several_results() -> None:
    def f(x: Any, w: Any) -> dict[str, Any]:
        return {"y": mnp.tanh(mnp.matmul(x, w)), "z": mnp.sum(w, axis=0)}

    tangents = (V, RNG.normal(size=W.shape))
    value, out = mlc.jvp(f, (X, W), tangents)
    for key in ("y", "z"):
        high, low = (f(X + step * tangents[0], W + step * tangents[1]) for step in (1e-6, -1e-6))
        expected = (np.asarray(high[key]) - np.asarray(low[key])) / 2e-6
        np.testing.assert_allclose(np.asarray(out[key]), expected, rtol=1e-7, atol=1e-7)
    cotangents = {"y": RNG.normal(size=(3, 2)), "z": RNG.normal(size=2)}
    _, pullback = mlc.vjp(f, X, W)
    back = pullback(cotangents)
    left = sum((np.asarray(out[key]) * cotangents[key]).sum() for key in out)
    right = sum((np.asarray(b) * t).sum() for b, t in zip(back, tangents, strict=True))
    np.testing.assert_allclose(left, right, rtol=1e-12)


def test_trees_and_what_else_is_computed() -> None:
    def loss(params: dict[str, Any], x: Any) -> tuple[Any, Any]:
        y = x @ params["w"] + params["b"]
        return mnp.mean(y**2), y

    params = {"w": W, "b": np.array([0.5, -1.0])}
    (value, y), gradient = mlc.value_and_grad(loss, has_aux=True)(params, X)
    expected = X @ W + params["b"]
    np.testing.assert_allclose(np.asarray(y), expected)
    np.testing.assert_allclose(np.asarray(value), (expected**2).mean())
    np.testing.assert_allclose(np.asarray(gradient["b"]), 2 * expected.mean(0) / 2)
    np.testing.assert_allclose(np.asarray(gradient["w"]), X.T @ expected / 3)


def test_what_does_not_count_has_a_derivative_of_zero() -> None:
    a, b = mlc.grad(lambda x, y: mnp.sum(x**2), argnums=(0, 1))(X, W)
    np.testing.assert_allclose(np.asarray(a), 2 * X)
    np.testing.assert_array_equal(np.asarray(b), np.zeros_like(W))


def test_elements_may_be_asked_for_on_the_way() -> None:
    def f(x: Any) -> Any:
        y = mnp.sum(x**2)
        scale = 3.0 if float(y) > 1 else 5.0
        return y * scale + mlc.jit(lambda z: mnp.sum(z**3))(x)

    value, gradient = mlc.value_and_grad(f)(X)
    np.testing.assert_allclose(float(value), 3 * (X**2).sum() + (X**3).sum())
    np.testing.assert_allclose(np.asarray(gradient), 6 * X + 3 * X**2)


def test_traces_of_evaluated_arrays_are_dropped() -> None:
    x = mnp.asarray(X)
    for _ in range(50):
        value, gradient = mlc.value_and_grad(lambda x: mnp.sum(mnp.sin(x)))(x)
        x = x - 0.1 * gradient
        float(value), x.numpy()
    assert len(ordered([x.operand()])) == 1


def test_third_derivative() -> None:
    f = mlc.grad(mlc.grad(mlc.grad(lambda x: mnp.sin(x) * x)))
    assert float(f(0.7 * np.ones(()))) == pytest.approx(-np.cos(0.7) * 0.7 - 3 * np.sin(0.7), rel=1e-12)


def test_refusals() -> None:
    with pytest.raises(InputError, match=r"float64\[3, 4\]. Return a float of rank 0"):
        mlc.grad(lambda x: x)(X)
    with pytest.raises(InputError, match="type int64"):
        mlc.grad(lambda x: mnp.sum(x))(np.arange(3))
    for each in (mlc.grad, mlc.jacrev, mlc.hessian):
        with pytest.raises(InputError, match="no derivative by argument 1 of a call with 1 positional arguments"):
            each(mnp.sum, argnums=(0, 1))(X)
    with pytest.raises(InputError, match=r"test_gradients.py:\d+: the conversion as_f64 of i64 has no derivative"):
        float(mlc.grad(lambda x: mnp.sum(mnp.nextafter(x, 2.0)))(X[0])[0])


def test_what_has_been_printed_has_its_derivative() -> None:
    x = np.array([0.5, -2.0, 3.0])

    def total(x: Any) -> Any:
        y = mnp.sum(x * x * x)
        str(x), str(y)
        return y

    np.testing.assert_allclose(mlc.grad(total)(x), 3 * x * x)


def test_cotangents_that_depend_on_the_variables_are_constants_of_the_pullback() -> None:
    """Of ``x²`` with its value as cotangent: ``2 x · x²``, and of that the derivative by what it depends on."""

    def pulled(x: Any) -> Any:
        y, pullback = mlc.vjp(lambda x: x * x, x)
        return pullback(y)[0]

    x = RNG.normal(size=3)
    np.testing.assert_allclose(pulled(x), 2 * x**3)
    np.testing.assert_allclose(mlc.jit(pulled)(x), 2 * x**3)
    np.testing.assert_allclose(mlc.grad(lambda x: mnp.sum(pulled(x)))(x), 6 * x**2)
    np.testing.assert_allclose(mlc.vmap(pulled)(np.stack([x, -x])), [2 * x**3, -2 * x**3])


def test_pullbacks_of_results_of_which_some_are_integers() -> None:
    x = RNG.normal(size=3)
    _, pullback = mlc.vjp(lambda x: (3 * x, mnp.argmax(x)), x)
    np.testing.assert_allclose(pullback((np.ones(3), 1))[0], [3, 3, 3])
    _, pullback = mlc.vjp(lambda x: mnp.argmax(x), x)
    np.testing.assert_allclose(pullback(1)[0], np.zeros(3))


TABLE = np.arange(5.0) ** 2


@pytest.mark.parametrize("derivative", [mlc.grad, mlc.jacfwd, mlc.jacrev])
def test_a_table_of_numpy_is_indexed_within_a_derivative(derivative: Any) -> None:
    """The function that captures it is called by another one, which holds the other arguments."""

    def looked_up(x: Any, n: Any) -> Any:
        return x * TABLE[n]

    assert mlc.jit(lambda x, n: derivative(looked_up)(x, n))(2.0, np.int64(3)) == 9
