"""Two networks in turn: a generator learns a ring of points from a discriminator that learns to tell them apart.

    python -m examples.training.adversarial

Source: Goodfellow et al., 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from examples.training.arguments import chosen_steps
from mlc import nn, optim
from mlc.numpy import random

BATCH, NOISE = 128, 8


def ring(key: Any, count: int = BATCH) -> Any:
    """Points near a circle of radius 2."""
    angle = 2 * np.pi * random.uniform(random.fold_in(key, 0), (count,))
    radius = 2 + 0.1 * random.normal(random.fold_in(key, 1), (count,))
    return mnp.stack([radius * mnp.cos(angle), radius * mnp.sin(angle)], axis=1)


def perceptron(inputs: int, outputs: int) -> Any:
    act = lambda x: nn.leaky_relu(x, 0.2)  # noqa: E731
    return nn.Sequential(nn.Linear(inputs, 48), act, nn.Linear(48, 48), act, nn.Linear(48, outputs))


def drawn(generator: Any, key: Any, count: int = BATCH) -> Any:
    return generator(random.normal(key, (count, NOISE)))


def discriminator_loss(discriminator: Any, generator: Any, key: Any) -> Any:
    real, made = ring(random.fold_in(key, 0)), drawn(generator, random.fold_in(key, 1))
    return mnp.mean(nn.softplus(-discriminator(real))) + mnp.mean(nn.softplus(discriminator(made)))


def generator_loss(generator: Any, discriminator: Any, key: Any) -> Any:
    return mnp.mean(nn.softplus(-discriminator(drawn(generator, random.fold_in(key, 2)))))


def trained(steps: int, threads: int | None = None) -> tuple[Any, list[tuple[float, float]]]:
    """The generator, and the losses of discriminator and generator in each step."""
    nn.manual_seed(0)
    networks = perceptron(NOISE, 2), perceptron(2, 1)
    optimizer = optim.adam(1e-3, (0.5, 0.9))

    @mlc.jit(wait=True, threads=threads)
    def step(networks: Any, states: Any, key: Any) -> Any:
        generator, discriminator = networks
        of_d, gradient = mlc.value_and_grad(discriminator_loss)(discriminator, generator, key)
        updates, state_d = optimizer.update(gradient, states[1], discriminator)
        discriminator = optim.apply_updates(discriminator, updates)
        of_g, gradient = mlc.value_and_grad(generator_loss)(generator, discriminator, key)
        updates, state_g = optimizer.update(gradient, states[0], generator)
        return (optim.apply_updates(generator, updates), discriminator), (state_g, state_d), (of_d, of_g)

    states, losses, key = tuple(map(optimizer.init, networks)), [], random.key(1)
    for n in range(steps):
        networks, states, (of_d, of_g) = step(networks, states, random.fold_in(key, n))
        losses.append((float(of_d), float(of_g)))
    return networks[0], losses


def samples(generator: Any, count: int = 500) -> np.ndarray[Any, Any]:
    return drawn(generator, random.key(9), count).numpy()


if __name__ == "__main__":
    radius = np.linalg.norm(samples(trained(chosen_steps(__doc__, 2000))[0]), axis=1)
    print(f"radius of the points {radius.mean():.2f} ± {radius.std():.2f}, where data have 2.00 ± 0.10")
