"""The graph style: placeholders, variables and sessions, against NumPy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import mlc.numpy as mnp
from mlc import graph, nn
from mlc.errors import InputError
from mlc.frontends.array.array import as_array
from mlc.graph.plan import Plan, compute


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
    (lambda s, x, y: s.run(x, {x: 1.0, "y": 2.0}), "feed_dict has 'y', which is no node"),
    (lambda s, x, y: s.run(x, {x: "text"}), "Node 'x' is fed a str"),
    (lambda s, x, y: s.run(x @ y, {x: data(2, 3), y: data(2, 3)}), r"matmul .node 'matmul'."),
    (lambda s, x, y: s.run(graph.assign(graph.Variable(data(3)), x), {x: 1.0}), "variable 'Variable' is float32"),
    (lambda s, x, y: s.run(graph.assign(graph.Variable(1), x), {x: 1.5}), "'Variable' is int64.., and its new value"),
    (lambda s, x, y: bool(x > y), "used as a condition"),
    (lambda s, x, y: list(x), "Index it"),
    (lambda s, x, y: graph.assign(x, 1.0), "assign changes variables"),
    (lambda s, x, y: s.run(graph.Operation([x]), {x: 1.0}), "has no method 'compute'"),
    (lambda s, x, y: graph.AdamOptimizer(rate=1), "AdamOptimizer: .*'rate'.*lr, betas"),
    (lambda s, x, y: graph.gradients(x, "w"), "a str is none"),
    (lambda s, x, y: s.run(graph.gradients(x * x, x), {x: 2}), "a derivative by node 'x', which is int64"),
    (lambda s, x, y: graph.get_default_graph()["nothing"], "no node 'nothing'"),
    (lambda s, x, y: x.eval({x: 1.0}), "There is no session"),
    (lambda s, x, y: s.run([x, "y"], {x: 1.0}), "'y' is no operation"),
    (lambda s, x, y: graph.GradientDescentOptimizer(0.1).minimize(x + y), "depends on no variable"),
])  # fmt: skip
def test_refused(run: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        run(graph.Session(), graph.Placeholder("x"), graph.Placeholder("y"))


def test_what_is_no_function() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = graph.nothing
    with pytest.raises(AttributeError, match="Did you mean 'matmul'"):
        _ = graph.matmull


def test_intermediate_nodes_are_fed_and_fetches_nest() -> None:
    x, y = graph.Placeholder(), graph.Placeholder()
    h = x * x
    session, values = graph.Session(), data(3)
    np.testing.assert_allclose(session.run(h + x, {h: 2 * values, x: values}), 3 * values, rtol=1e-6)
    found = session.run({"a": [h, (x, y)], "b": (h + y,)}, {x: values, y: 1.0})
    np.testing.assert_allclose(found["b"][0], values**2 + 1, rtol=1e-6)
    assert found["a"][1][1] == 1 and isinstance(found["a"][1], tuple)
    assert session.run(operation=h, feed_dict={x: 3}) == 9


def test_nodes_in_lists_and_keywords_and_functions_of_arrays() -> None:
    x, y = graph.Placeholder(), graph.Placeholder()
    fetches = [graph.concat([x, y]), graph.clip(x, min=y), mnp.stack([x, y], axis=1), nn.relu(x), x.sum(axis=0), x.T,
               x.reshape(2, 3), abs(x) // 2, 2.0**x, divmod(x, y)[1], graph.where(x > y, x, y)]  # fmt: skip
    a, b = data(6), data(6)
    expected = [np.concatenate([a, b]), np.maximum(a, b), np.stack([a, b], 1), np.maximum(a, 0), a.sum(), a.T,
                a.reshape(2, 3), abs(a) // 2, 2.0**a, a % b, np.maximum(a, b)]  # fmt: skip
    for found, wanted in zip(graph.Session().run(fetches, {x: a, y: b}), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_default_graphs_and_sessions() -> None:
    with graph.Graph().as_default() as g, graph.Session() as session:
        x, w = graph.Placeholder("x"), graph.Variable(2.0, name="w")
        with graph.name_scope("layer"):
            y = x * w
        assert y.eval({x: 3.0}) == 6 and graph.get_default_session() is session
        assert [each.name for each in g] == ["x", "w", "layer/mul"] and g["w"] is w and g.operations == [y]
        assert w.consumers == [y] and g.variables == [w] and g.placeholders == [x]
        assert "layer/mul = mul(x, w)" in str(g) and '"w" -> "layer/mul"' in g.dot() and g.svg().count("<rect") == 3
    other = graph.Graph()
    other.set_as_default()
    assert graph.Placeholder().graph is other and x.graph is g


def test_what_is_returned_shares_no_memory_with_variables() -> None:
    w = graph.Variable(data(3))
    more = w + 1
    session = graph.Session()
    found = session.run([more, graph.assign(w, more), w, graph.identity(w)])
    before = session.run(w)
    for each in found:
        each[...] = 7
    np.testing.assert_array_equal(session.run(w), before)


def test_two_updates_of_one_variable_are_refused() -> None:
    w = graph.Variable(1)
    first, second = w.assign_add(1), w.assign_sub(1)
    with pytest.raises(InputError, match="updates the variable 'Variable.*' twice"):
        graph.Session().run([first, second])


def test_integers_placeholders_and_the_initializer() -> None:
    n, x = graph.Variable(2**40), graph.placeholder(graph.float32, [None, 2], name="x")
    session = graph.Session()
    assert session.run(graph.assign_add(n, 1)) == 2**40 + 1 and session.run(n).dtype == np.int64
    session.run(graph.global_variables_initializer())
    assert session.run(n) == 2**40
    assert session.run(x, {x: [[1, 2]]}).dtype == np.float32
    with pytest.raises(InputError, match=r"of shape \[\?, 2\] is fed an array of \[3\]"):
        session.run(x, {x: [1, 2, 3]})


@pytest.mark.parametrize("length", [1000, 20000])
def test_long_chains(length: int) -> None:
    """No function calls itself for each node: neither a run, nor a pickle."""
    with graph.Graph().as_default() as g:
        x = y = graph.Placeholder("x")
        for _ in range(length):
            y = y + 1.0
        plan = Plan([y], frozenset([x]))
        assert len(pickle.loads(pickle.dumps(y)).graph) == len(g) == length + 1
    assert len(plan.steps) == 1 and (length > 1000 or compute_length(plan) == length)


def compute_length(plan: Plan) -> float:
    """What the nodes give, computed eagerly, one by one."""
    part = plan.steps[0]
    values: Any = {node: as_array(0.0) for node in part.given}  # type: ignore[attr-defined]
    compute(part.nodes, values)  # type: ignore[attr-defined]
    return float(values[part.wanted[0]])  # type: ignore[attr-defined]
