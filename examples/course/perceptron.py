"""A line between two clouds of points: placeholders, variables, gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc import graph
from mlc.graph import (
    Graph,
    Session,
    Variable,
    add,
    log,
    matmul,
    multiply,
    negative,
    placeholder,
    reduce_sum,
    softmax,
    train,
)


def main(steps: int = 100) -> tuple[list[float], float]:
    random = np.random.default_rng(0)
    red, blue = random.standard_normal((50, 2)) - 2, random.standard_normal((50, 2)) + 2
    Graph().as_default()
    x, c = placeholder(), placeholder()
    w, b = Variable(random.standard_normal((2, 2))), Variable(random.standard_normal(2))
    p = softmax(add(matmul(x, w), b))
    loss = negative(reduce_sum(reduce_sum(multiply(c, log(p)), axis=1)))
    minimization = train.GradientDescentOptimizer(learning_rate=0.01).minimize(loss)
    feed_dict: dict[Any, Any] = {x: np.concatenate((blue, red)), c: [[1, 0]] * len(blue) + [[0, 1]] * len(red)}
    session = Session()
    losses = []
    for step in range(steps):
        value = session.run(loss, feed_dict)
        losses.append(float(value))
        if step % 10 == 0:
            print("step", step, "loss", value)
        session.run(minimization, feed_dict)
    right = graph.mean(graph.equal(graph.argmax(p, axis=1), graph.argmax(c, axis=1)))
    return losses, float(session.run(right, feed_dict))


if __name__ == "__main__":
    main()
