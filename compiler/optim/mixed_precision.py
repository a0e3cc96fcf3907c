"""Mixed precision: master weights and loss scaling. Source: Micikevicius et al., 2017."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array, as_array
from mlc.optim.transform import GradientTransformation, Tree, count
from mlc.optim.wrappers import all_finite

tree_map = trees.tree_map


def cast(tree: Tree, dtype: Any) -> Tree:
    """Floats of a tree in another type; the gradient by them has their own type, so these are the master weights."""
    wanted = dtypes.element(dtype)
    return tree_map(lambda x: _cast(as_array(x), wanted), tree)


def _cast(x: Array, element: str) -> Array:
    return mnp.astype(x, dtypes.numpy_dtype(element)) if dtypes.kind(x.element) == 2 else x


class LossScaleState(NamedTuple):
    """The state of the optimizer, the factor of the loss, and the number of finite steps since it changed."""

    inner: Tree
    scale: Array
    finite: Array


def loss_scaling(
    optimizer: GradientTransformation, initial: float = 2.0**16, period: int = 2000, factor: float = 2.0
) -> GradientTransformation:
    """Dynamic loss scaling: gradients are those of ``state.scale`` times the loss.

    A step whose gradients are not finite is left out, and divides the scale by ``factor``; ``period`` finite ones
    multiply it. Source: Micikevicius et al., 2017; torch.amp.GradScaler.
    """

    def init(parameters: Tree) -> LossScaleState:
        return LossScaleState(optimizer.init(parameters), mnp.asarray(initial, dtype=mnp.float32), count())

    def update(gradients: Tree, state: LossScaleState, parameters: Tree = None) -> tuple[Tree, LossScaleState]:
        unscaled = tree_map(lambda g: mnp.astype(g, mnp.float32) / state.scale, gradients)
        is_finite = all_finite(unscaled)
        updates, inner = optimizer.update(unscaled, state.inner, parameters)
        choose = lambda new, old: mnp.where(is_finite, new, old)  # noqa: E731
        finite = mnp.where(is_finite, state.finite + 1, 0)
        grown = mnp.where(finite >= period, state.scale * factor, state.scale)
        after = LossScaleState(
            tree_map(choose, inner, state.inner),
            mnp.where(is_finite, grown, state.scale / factor),
            mnp.where(finite >= period, 0, finite),
        )
        return tree_map(lambda u: mnp.where(is_finite, u, 0.0), updates), after

    return GradientTransformation(init, update)


def wrapped(state: Tree) -> Iterator[Tree]:
    """The state of an optimizer, and those of the optimizers within ``accumulate``, ``ema`` and other wrappers."""
    yield state
    while hasattr(state, "inner"):
        state = state.inner
        yield state


def loss_scale(state: Tree) -> Array | None:
    """The factor of the loss that an optimizer's state asks for: that of ``loss_scaling``, or None without it.

    Raises:
        InputError: it is within a chain, where what comes before, such as clipping, would see scaled gradients.
    """
    found = next((each for each in wrapped(state) if isinstance(each, LossScaleState)), None)
    if found is None and _is_scaled(state):
        raise InputError("optim.loss_scaling is within a chain", hint="Put it around: loss_scaling(chain(…))")
    return None if found is None else found.scale


def _is_scaled(state: Tree) -> bool:
    below = (child for _, child in trees.children(state) or ())
    return isinstance(state, LossScaleState) or any(map(_is_scaled, below))
