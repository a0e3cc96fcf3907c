"""A step of ``mlc.graph``'s session beside the same step by ``mlc.jit``: what the session adds.

    python -m benchmarks.graph_style

Both take a step of gradient descent on a perceptron, alternately; the least times of many rounds are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mlc
from mlc import graph, nn
from mlc import numpy as mnp

SIZES = ((16, 8), (64, 32), (256, 128))
ROUNDS, STEPS = 40, 50


def weights(width: int) -> list[Any]:
    random = np.random.default_rng(0)
    shapes = [(width, width), (width,), (width, 1)]
    return [(random.standard_normal(shape) * 0.1).astype(np.float32) for shape in shapes]


def loss_of(x: Any, y: Any, w: Any, b: Any, v: Any) -> Any:
    return mnp.mean((nn.relu(x @ w + b) @ v - y) ** 2)


def jitted(width: int, x: Any, y: Any) -> Callable[[], Any]:
    """A step that keeps its parameters outside."""

    @mlc.jit(wait=True)
    def step(parameters: list[Any], x: Any, y: Any) -> Any:
        value, found = mlc.value_and_grad(lambda p: loss_of(x, y, *p))(parameters)
        return [p - 0.01 * g for p, g in zip(parameters, found, strict=True)], value

    parameters: list[Any] = [[mnp.asarray(p) for p in weights(width)]]

    def take() -> Any:
        parameters[0], value = step(parameters[0], x, y)
        return value.numpy()

    return take


def in_session(width: int, x: Any, y: Any) -> Callable[[], Any]:
    """The same by a session."""
    with graph.Graph().as_default():
        inputs, target = graph.Placeholder("x"), graph.Placeholder("y")
        loss = loss_of(inputs, target, *map(graph.Variable, weights(width)))
        train = graph.GradientDescentOptimizer(0.01).minimize(loss)
        session = graph.Session()
    return lambda: session.run([loss, train], {inputs: x, target: y})[0]


def seconds(take: Callable[[], Any]) -> float:
    start = time.perf_counter()
    for _ in range(STEPS):
        take()
    return (time.perf_counter() - start) / STEPS


def compiled(take: Callable[[], Any]) -> None:
    """Steps until the program is compiled, which the interpreter runs before."""
    for _ in range(30):
        take()
        time.sleep(0.1)


def measured(width: int, batch: int) -> tuple[float, float]:
    """Seconds of a step: jitted, in a session."""
    random = np.random.default_rng(1)
    x, y = (random.standard_normal((batch, n)).astype(np.float32) for n in (width, 1))
    both = [make(width, x, y) for make in (jitted, in_session)]
    first = [take() for take in both]
    np.testing.assert_allclose(first[0], first[1], rtol=1e-5)
    for take in both:
        compiled(take)
    times = [[seconds(take) for take in both] for _ in range(ROUNDS)]
    return min(t for t, _ in times), min(t for _, t in times)


def main() -> None:
    print(f"{'perceptron':28}{'jit, us':>10}{'session, us':>13}{'ratio':>8}")
    for width, batch in SIZES:
        plain, session = (t * 1e6 for t in measured(width, batch))
        print(f"{f'{width} units, batch {batch}':28}{plain:10.1f}{session:13.1f}{session / plain:8.2f}")


if __name__ == "__main__":
    main()
