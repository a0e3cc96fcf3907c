"""The graph style: placeholders, variables and sessions, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlc import graph
from mlc.errors import InputError
from mlc.frontends.array import evaluate
from mlc.tracing import background


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are not compiled: each runs a few times."""
    monkeypatch.setattr(evaluate, "compiler", [])
    monkeypatch.setattr(background, "submit", lambda work: background.Future())


def data(*shape: int) -> Any:
    return np.random.default_rng().standard_normal(shape).astype(np.float32)


def test_regression_by_gradient_descent() -> None:
    x, y = graph.Placeholder("x"), graph.Placeholder("y")
    w, b = graph.Variable(np.zeros(3, np.float32), name="w"), graph.Variable(np.float32(0))
    loss = graph.mean((x @ w + b - y) ** 2)
    train = graph.GradientDescentOptimizer(0.1).minimize(loss)
    inputs, weights, bias = data(20, 3), np.zeros(3), 0.0
    target = inputs @ np.array([1, 2, 3], np.float32) - 1
    session = graph.Session()
    for _ in range(5):
        value, nothing, found = session.run([loss, train, w], {x: inputs, y: target})
        error = inputs @ weights + bias - target
        np.testing.assert_allclose(value, (error**2).mean(), rtol=1e-5)
        np.testing.assert_allclose(found, weights, rtol=1e-4, atol=1e-6)
        assert nothing is None
        weights, bias = weights - 0.2 * (error[:, None] * inputs).mean(0), bias - 0.2 * error.mean()
    np.testing.assert_allclose(session.run({"w": w, "b": b})["b"], bias, rtol=1e-4)


def test_functions_and_operators() -> None:
    x, values = graph.Placeholder("x"), data(3, 4)
    session = graph.Session()
    fetches = (graph.relu(x), graph.sum(x, axis=0), 2 - x[1:], np.ones(4, np.float32) * x, -x, x > 0)
    expected = (np.maximum(values, 0), values.sum(0), 2 - values[1:], values, -values, values > 0)
    for a, b in zip(session.run(fetches, {x: values}), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_sessions_keep_their_own_variables() -> None:
    counter = graph.Variable(np.float32(0))
    one, two = graph.Session(), graph.Session()
    increment = graph.assign(counter, counter + 1.0)
    for _ in range(3):
        one.run(increment)
    two.run(increment)
    assert one.run(counter) == 3 and two.run(counter) == 1


@pytest.mark.parametrize("run, says", [
    (lambda s, x, y: s.run(x + y, {x: 1.0}), "no value of the placeholder y"),
    (lambda s, x, y: s.run(x, {x: 1.0, x + y: 2.0}), "which is no placeholder"),
    (lambda s, x, y: s.run([x, "y"], {x: 1.0}), "'y' is no operation"),
    (lambda s, x, y: graph.GradientDescentOptimizer(0.1).minimize(x + y), "depends on no variable"),
])  # fmt: skip
def test_refused(run: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        run(graph.Session(), graph.Placeholder("x"), graph.Placeholder("y"))


def test_what_is_no_function() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = graph.nothing
