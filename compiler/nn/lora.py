"""LoRA: weights that are changed by products of two thin matrices, which alone are trained.

Source: Hu et al., "LoRA: low-rank adaptation of large language models", 2021.

    adapters = nn.lora_init(model, rank=8, names=lambda name: "attention" in name)
    loss = lambda adapters, x: criterion(nn.lora_apply(model, adapters)(x))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array
from mlc.frontends.array.transforms.custom import stop_gradient
from mlc.nn import init, naming


class LoRA(NamedTuple):
    """The change of a weight [out, in]: ``up @ down * scale``, with ``up`` [out, rank] and ``down`` [rank, in]."""

    down: Array
    up: Array
    scale: Array


def lora_init(
    model: Any,
    rank: int,
    *,
    alpha: float | None = None,
    names: Callable[[str], bool] | None = None,
    rng: np.random.Generator | None = None,
) -> dict[str, LoRA]:
    """An adapter for each matrix among the parameters of a module, by its name; ``names(name)`` says for which.

    ``up`` is 0, so the model is as before; ``down`` is ``kaiming_uniform``. ``alpha / rank`` (1 by default) is the
    scale, which gradients pass over. The adapters are a tree of parameters, for ``mlc.grad`` and optimizers.

    Raises:
        InputError: a rank below 1, or no matrix of such a name.
    """
    found: dict[str, LoRA] = {}
    for name, leaf, kept in naming.named(model):
        if naming.is_parameter(leaf, kept) and leaf.ndim == 2 and (names is None or names(name)):
            rows, columns = (int(n) for n in leaf.shape)
            down = init.kaiming_uniform((rank, columns), 5**0.5, rng=rng) if rank > 0 else None
            scale = mnp.asarray((rank if alpha is None else alpha) / max(rank, 1), dtype=leaf.dtype)
            found[name] = LoRA(down, mnp.zeros((rows, rank), dtype=leaf.dtype), scale)  # type: ignore[arg-type]
    if rank < 1 or not found:
        what = f"No parameter of {type(model).__name__} has an adapter of rank {rank}"
        raise InputError(what, hint="Give a rank from 1 on, and names that hold for a matrix of model.state_dict()")
    return found


def lora_apply(model: Any, adapters: dict[str, LoRA]) -> Any:
    """The module with its weights changed by the adapters; outside of a gradient it merges them for good.

    Raises:
        InputError: an adapter of no parameter, or of another shape.
    """
    leaves, structure = trees.flatten(model)
    names = [name for name, _, _ in naming.named(model)]
    if unknown := sorted(set(adapters) - set(names)):
        raise InputError(f"{type(model).__name__} has no parameter '{unknown[0]}'", hint="Make adapters of this model")
    changed = [_changed(name, leaf, adapters.get(name)) for name, leaf in zip(names, leaves, strict=True)]
    return trees.unflatten(structure, changed)


def _changed(name: str, weight: Any, adapter: LoRA | None) -> Any:
    if adapter is None:
        return weight
    down, up, scale = adapter
    if (up.shape[0], down.shape[1]) != tuple(weight.shape):
        what = f"An adapter of shape {[up.shape[0], down.shape[1]]} does not fit '{name}' of {list(weight.shape)}"
        raise InputError(what, hint="Make adapters of this model")
    return weight + (up @ down) * stop_gradient(scale)


