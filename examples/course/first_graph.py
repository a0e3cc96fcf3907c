"""A graph of operations that the program defines itself, run by a session."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.graph import Graph, Operation, Placeholder, Session, Variable


class Add(Operation):
    def __init__(self, x: Any, y: Any) -> None:
        super().__init__([x, y])

    def compute(self, x_value: Any, y_value: Any) -> Any:
        self.inputs = [x_value, y_value]
        return x_value + y_value


class MatMul(Operation):
    def __init__(self, x: Any, y: Any) -> None:
        super().__init__([x, y])

    def compute(self, x_value: Any, y_value: Any) -> Any:
        self.inputs = [x_value, y_value]
        return x_value.dot(y_value)


class Sigmoid(Operation):
    def __init__(self, z: Any) -> None:
        super().__init__([z])

    def compute(self, z_value: Any) -> Any:
        return 1 / (1 + np.exp(-z_value))


def main() -> list[Any]:
    graph = Graph()
    graph.set_as_default()
    weights, bias = Variable([[1, 0], [0, -1]]), Variable([1, 1])
    x = Placeholder()
    z = Add(MatMul(weights, x), bias)
    a = Sigmoid(z)
    with Session() as session:
        found = [session.run(operation=z, feed_dict={x: [1, 2]}), session.run(a, {x: [1, 2]})]
    print(graph)
    print(*found)
    return found


if __name__ == "__main__":
    main()
