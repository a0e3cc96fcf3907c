"""Gradients that hide single examples: clipped for each, summed, with noise.

Source: Abadi et al., "Deep learning with differential privacy", 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.batching import vmap
from mlc.frontends.array.transforms.derivatives.gradients import value_and_grad


def private_value_and_grad(
    loss: Callable[..., Any], *, clip: float, noise_multiplier: float, expected: int | None = None
) -> Callable[..., tuple[Array, Any]]:
    """A function ``(parameters, *batch, key=)`` that returns the mean loss and a private gradient, a tree like the
    parameters.

    ``loss(parameters, *example)`` is that of one example, without the dimension of the batch. The gradient of each
    (by ``vmap``) is shortened to the length ``clip`` over all parameters; normal noise of deviation
    ``clip * noise_multiplier`` is added to their sum, which is divided by the number of examples, or by ``expected``,
    as where examples are drawn by Poisson sampling. The mean loss is not private.

    Raises:
        InputError: ``clip`` or ``noise_multiplier`` is negative, a call without a key, or batches of different lengths.
    """
    if clip <= 0 or noise_multiplier < 0:
        what = f"A gradient cannot be private with clip={clip} and noise_multiplier={noise_multiplier}"
        raise InputError(what, hint="Give a positive length, and noise of 0 or more")

    def private(parameters: Any, *batch: Any, key: Any = None) -> tuple[Array, Any]:
        if key is None:
            raise InputError("A private gradient draws random numbers", hint="Give key=, another one in each step")
        per_example = vmap(value_and_grad(loss), in_axes=(None, *(0 for _ in batch)))
        losses, gradients = per_example(parameters, *batch)
        count = losses.shape[0] if expected is None else expected
        total = noisy_sum(gradients, clip, noise_multiplier, key)
        return mnp.mean(losses), trees.tree_map(lambda g: g / count, total)

    return private


def noisy_sum(gradients: Any, clip: float, noise_multiplier: float, key: Any) -> Any:
    """The sum over examples, the first dimension of each array of a tree, of gradients that are shortened to ``clip``,
    with normal noise of deviation ``clip * noise_multiplier``."""
    leaves, structure = trees.flatten(gradients)
    given = [as_array(x) for x in leaves]
    squares = [mnp.sum(x * x, axis=tuple(range(1, x.ndim))) for x in given]
    lengths = mnp.sqrt(sum(squares[1:], squares[0]))
    factor = mnp.minimum(1.0, clip / mnp.maximum(lengths, 1e-12))
    keys = mnp.random.split(key, len(given))
    made = []
    for n, x in enumerate(given):
        wide = mnp.reshape(factor, (-1, *(1,) * (x.ndim - 1)))
        total = mnp.sum(x * wide.astype(x.dtype), axis=0)
        noise = mnp.random.normal(keys[n], total.shape, total.dtype)
        made.append(total + clip * noise_multiplier * noise)
    return trees.unflatten(structure, made)
