"""Derivatives of nodes, through operations of the host, branches and loops, against formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlc import graph
from mlc.errors import InputError


def data(*shape: int) -> Any:
    return np.random.default_rng().standard_normal(shape).astype(np.float32)


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


class Square(graph.Operation):
    def __init__(self, x: Any) -> None:
        super().__init__([x])

    def compute(self, x_value: Any) -> Any:
        return np.square(np.array(x_value.tolist(), np.float32))  # what no trace could do

    def gradient(self, grad: Any, x_value: Any) -> Any:
        return grad * 2 * x_value


def test_of_several_elements_of_intermediate_nodes_and_twice() -> None:
    x = graph.Placeholder()
    h = x * x
    by_x, by_h = graph.gradients(h * x, [x, h])
    twice = graph.gradients(by_x, x)
    values = data(4)
    for a, b in zip(graph.Session().run([by_x, by_h, twice], {x: values}), (3 * values**2, values, 6 * values),
                    strict=True):  # fmt: skip
        close(a, b)
    weighted = graph.gradients(h, x, grad_ys=np.arange(4, dtype=np.float32))
    close(graph.Session().run(weighted, {x: values}), 2 * values * np.arange(4))


def test_of_what_does_not_depend_and_of_fed_nodes() -> None:
    x, w = graph.Placeholder(), graph.Variable(1.0)
    h = x * w
    found = graph.gradients(h * x, [w, graph.Variable(2.0)])
    assert graph.Session().run(found, {x: 3.0}) == [9, 0]
    assert graph.Session().run(found[0], {x: 3.0, h: 5.0}) == 0  # h is given, so w does not matter


def test_through_operations_of_the_host() -> None:
    x, w = graph.Placeholder(), graph.Variable(data(3))
    h = Square(w * x)
    y = graph.sum(Square(h) + h * w) + graph.sum(x)
    session, values = graph.Session(), data(3)
    weights = session.run(w).astype(float)
    to_h = 2 * (weights * values) ** 2 + weights
    found = session.run(graph.gradients(y, [w, x, h]), {x: values})
    inner = to_h * 2 * weights * values
    for a, b in zip(found, (inner * values + (weights * values) ** 2, inner * weights + 1, to_h), strict=True):
        close(a, b)
    close(session.run(h, {x: values}), (weights * values) ** 2)


class Product(graph.Operation):
    """The gradient comes last, and one input is a number."""

    def __init__(self, x: Any, y: Any) -> None:
        super().__init__(x, y, 2.0)

    def compute(self, x: Any, y: Any, two: float) -> Any:
        self.inputs = [x, y]
        return x * y * two

    def gradient(self, x: Any, y: Any, two: float, grad: Any) -> Any:
        return [grad * y * two, grad * x * two, None]


def test_rules_of_other_forms() -> None:
    x = graph.Variable(3.0)
    step = graph.GradientDescentOptimizer(0.1).minimize(Product(x, x))
    session = graph.Session()
    session.run(step)
    close(session.run(x), 3 - 0.1 * 12)

    class Negated(graph.Operation):
        def compute(self, x: Any) -> Any:
            return -x

    y = Negated(x)
    with pytest.raises(InputError, match="Operation 'Negated' of class Negated has no gradient"):
        session.run(graph.gradients(y, x))
    graph.RegisterGradient("Negated")(lambda op, grad: -grad * (op.inputs[0] > -np.inf))
    assert session.run(graph.gradients(y, x)) == -1


@pytest.mark.parametrize("wrong, says", [(lambda g, x: g[:1], "has the shape"), (lambda g, x: [g, g], "2 parts for 1")])
def test_wrong_rules(wrong: Any, says: str) -> None:
    kind = type("Own", (graph.Operation,), {"compute": lambda self, x: x, "gradient": lambda self, g, x: wrong(g, x)})
    x = graph.Variable(data(3))
    with pytest.raises(InputError, match=f"operation 'Own'.*{says}"):
        graph.Session().run(graph.gradients(kind(x), x))


def test_errors_of_the_user_have_a_note() -> None:
    class Fails(graph.Operation):
        def compute(self, x: Any) -> Any:
            return {}["missing"]

    with pytest.raises(KeyError) as caught:
        graph.Session().run(Fails([graph.Variable(1.0)]))
    assert "in node 'Fails' (Fails), made at test_graph_gradients.py:" in caught.value.__notes__[0]


def test_branches_and_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # loops are compiled
    x, a = graph.Placeholder(), graph.Variable(3.0)
    y = graph.cond(x > 0, lambda: a * x, lambda: a - x)
    session = graph.Session()
    assert session.run(y, {x: 2.0}) == 6 and session.run(y, {x: -2.0}) == 5
    found = graph.gradients(y, [a, x])
    assert session.run(found, {x: 2.0}) == [2, 3] and session.run(found, {x: -2.0}) == [1, -1]
    session.run(graph.GradientDescentOptimizer(0.1).minimize(y), {x: 2.0})
    close(session.run(a), 2.8)
    assert session.run(graph.cond(x > 0, lambda v: v * 2, lambda v: v / 2, x), {x: -2.0}) == -1
    count, total = (graph.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + x), [0, x])[n] for n in range(2))
    assert session.run([count, total], {x: 3.0}) == [5, 18]
    bounded = graph.while_loop(lambda v: v < 100.0, lambda v: v * 2, x, max_iterations=20)
    assert session.run([bounded, graph.gradients(bounded, x)], {x: 3.0}) == [192, 64]


def test_no_operation_of_the_host_within_a_branch() -> None:
    x = graph.Placeholder()
    y = graph.cond(x > 0, lambda: Square(x), lambda: x)
    with pytest.raises(InputError, match="body of cond has the node '.*Square'"):
        graph.Session().run(y, {x: 1.0})
    h = Square(x)
    assert graph.Session().run(graph.cond(x > 0, lambda: h, lambda: x), {x: 3.0}) == 9
