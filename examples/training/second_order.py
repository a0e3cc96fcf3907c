"""Gauss–Newton steps by conjugate gradients beside Adam: a small network fits a curve.

    python -m examples.training.second_order

Source: Schraudolph, 2002; Martens, 2010.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mlc
from examples.training.arguments import chosen_steps
from mlc import nn, optim

X = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
Y = (np.sin(5 * X) * np.exp(X))[:, 0]


def predict(model: Any, x: Any) -> Any:
    return model(x)[:, 0]


def losses(optimizer: Any, steps: int, has_batch: bool = False, threads: int | None = None) -> list[float]:
    """The loss before each step."""
    nn.manual_seed(0)
    model: Any = nn.Sequential(nn.Linear(1, 16), nn.tanh, nn.Linear(16, 1))

    @mlc.jit(wait=True, threads=threads)
    def step(model: Any, state: Any) -> Any:
        value, gradient = mlc.value_and_grad(lambda m: nn.mse_loss(predict(m, X), Y))(model)
        batch = [(X, Y)] if has_batch else []
        updates, state = optimizer.update(gradient, state, model, *batch)
        return optim.apply_updates(model, updates), state, value

    state, found = optimizer.init(model), []
    for _ in range(steps):
        model, state, value = step(model, state)
        found.append(float(value))
    return found


def both(steps: int) -> tuple[list[float], list[float]]:
    """The losses of Gauss–Newton, and of Adam."""
    newton = optim.gauss_newton(predict, nn.mse_loss, damping=1e-3, iterations=20)
    return losses(newton, steps, has_batch=True), losses(optim.adam(3e-2), steps)


if __name__ == "__main__":
    count = chosen_steps(__doc__, 60)
    newton, adam = both(count)
    print(f"after {count} steps: Gauss–Newton {newton[-1]:.1e}, Adam {adam[-1]:.1e}")
