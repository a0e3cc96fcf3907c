"""Differentially private training: each sample's gradient is clipped, and noise hides what one sample adds.

    python -m examples.training.private

``mlc.vmap`` of ``mlc.grad`` gives the gradient for each sample. What the noise proves, an accountant of privacy says,
which is not part of this example. Source: Abadi et al., 2016.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from examples.training.arguments import chosen_steps
from mlc import nn, optim, train
from mlc.numpy import random

CLIP, NOISE, BATCH = 1.0, 1.1, 64


def data(size: int, seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Points in two half circles, and which it is."""
    drawn = np.random.Generator(np.random.Philox(seed))
    label = drawn.integers(0, 2, size)
    angle = drawn.uniform(0, np.pi, size) + np.pi * label
    center = np.stack([label - 0.5, label * 0.25], 1)
    return (np.stack([np.cos(angle), np.sin(angle)], 1) + center + drawn.normal(0, 0.1, (size, 2))).astype("f4"), label


def private_gradient(model: Any, x: Any, labels: Any, key: Any) -> tuple[Any, Any]:
    """The mean of clipped gradients with noise, and the norms of the gradients [B]."""
    one = lambda model, x, label: nn.cross_entropy(model(x[None]), label[None])  # noqa: E731
    gradients = mlc.vmap(mlc.grad(one), in_axes=(None, 0, 0))(model, x, labels)
    norms = mlc.vmap(optim.global_norm)(gradients)
    factor = mnp.minimum(1.0, CLIP / norms)
    keys = (random.fold_in(key, n) for n in count())

    def hidden(g: Any) -> Any:
        total = mnp.tensordot(factor, g, axes=1)
        return (total + NOISE * CLIP * random.normal(next(keys), total.shape)) / len(x)

    return mlc.tree_map(hidden, gradients), norms


def trained(steps: int, threads: int | None = None) -> tuple[Any, list[float]]:
    """The network, and the largest norm of a sample's gradient in each step."""
    nn.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 16), nn.tanh, nn.Linear(16, 2))
    optimizer = optim.sgd(0.5, 0.9)

    @mlc.jit(wait=True, threads=threads)
    def step(model: Any, state: Any, x: Any, labels: Any, key: Any) -> Any:
        gradient, norms = private_gradient(model, x, labels, key)
        updates, state = optimizer.update(gradient, state, model)
        return optim.apply_updates(model, updates), state, mnp.max(norms)

    state, largest, key = optimizer.init(model), [], random.key(0)
    batches = train.ArrayData(data(2000, 1), BATCH)(0)
    for n in range(steps):
        model, state, norm = step(model, state, *next(batches), random.fold_in(key, n))
        largest.append(float(norm))
    return model, largest


def accuracy(model: Any) -> float:
    x, labels = data(1000, 2)
    return float((np.argmax(model(x).numpy(), axis=1) == labels).mean())


if __name__ == "__main__":
    model, norms = trained(chosen_steps(__doc__, 300))
    print(f"{accuracy(model):.1%} are right; gradients of a sample had norms up to {max(norms):.1f}, clipped to {CLIP}")
