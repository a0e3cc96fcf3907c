"""A physics-informed network solves the heat equation u_t = a u_xx on a rod whose ends have temperature 0.

    python -m examples.training.heat

The loss has the second derivative of the network by its input, and training differentiates that once more.
Source: Raissi, Perdikaris and Karniadakis, 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from examples.training.arguments import chosen_steps
from mlc import nn, optim, train

DIFFUSIVITY = 0.1


def exact(x: Any, t: Any) -> Any:
    """The solution from sin(πx)."""
    return np.exp(-DIFFUSIVITY * np.pi**2 * t) * np.sin(np.pi * x)


def temperature(model: Any, x: Any, t: Any) -> Any:
    """[N] at positions and times [N]; the factors make it sin(πx) at first, and 0 at the ends."""
    found = model(mnp.stack([x, t], axis=1))[:, 0]
    return mnp.sin(np.pi * x) + t * x * (1 - x) * found


def residual(model: Any, x: Any, t: Any) -> Any:
    """u_t - a u_xx: a point depends on its own position alone, so tangents of ones give the derivatives of all."""
    ones = mnp.ones_like(x)
    slope = lambda x: mlc.jvp(lambda x: temperature(model, x, t), (x,), (ones,))[1]  # noqa: E731
    _, curvature = mlc.jvp(slope, (x,), (ones,))
    _, rate = mlc.jvp(lambda t: temperature(model, x, t), (t,), (ones,))
    return rate - DIFFUSIVITY * curvature


def loss(model: Any, x: Any, t: Any) -> Any:
    return mnp.mean(residual(model, x, t) ** 2)


def points(start: int) -> Iterator[tuple[Any, Any]]:
    """Random positions and times, other ones in each step."""
    for step in range(start, 10**9):
        drawn = np.random.Generator(np.random.Philox(key=[1, step])).random((2, 128), np.float32)
        yield drawn[0], drawn[1]


def trained(steps: int, progress: bool = True) -> train.Trainer:
    nn.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 24), nn.tanh, nn.Linear(24, 24), nn.tanh, nn.Linear(24, 1))
    optimizer = optim.adam(optim.cosine(1e-2, steps))
    return train.Trainer(model, optimizer, loss).fit(points, steps, progress=progress)


def error(model: Any) -> float:
    """The largest difference from the exact solution on a grid."""
    x, t = (each.ravel().astype(np.float32) for each in np.meshgrid(np.linspace(0, 1, 33), np.linspace(0, 1, 33)))
    return float(np.abs(temperature(model, x, t).numpy() - exact(x, t)).max())


if __name__ == "__main__":
    trainer = trained(chosen_steps(__doc__, 1500))
    print(f"largest error of the temperature {error(trainer.model):.1e}")
