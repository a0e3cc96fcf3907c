"""Clipping, gradient accumulation, averages of parameters, and steps that are not finite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.optim.transform import GradientTransformation, Tree, apply_updates, count, stateless, zeros_of

tree_map = trees.tree_map


def clip_by_value(limit: float) -> GradientTransformation:
    """Each element between -limit and limit (torch.nn.utils.clip_grad_value_)."""
    return stateless(lambda updates, _: tree_map(lambda u: mnp.clip(u, -limit, limit), updates))


Sums = Callable[[list[Array]], list[Array]]
_over_ranks: list[Sums] = []


@contextmanager
def sums_over_ranks(total: Sums) -> Iterator[None]:
    """Within it, ``total`` makes of the sums of each array those of its parts on all ranks, for ``global_norm``."""
    _over_ranks.append(total)
    try:
        yield
    finally:
        _over_ranks.pop()


def global_norm(tree: Tree) -> Array:
    """The root of the sum of squares of all elements."""
    squares = [mnp.sum(mnp.square(mnp.astype(as_array(x), mnp.float32))) for x in trees.leaves(tree)]
    squares = _over_ranks[-1](squares) if _over_ranks else squares
    return mnp.sqrt(sum(squares[1:], squares[0]))


def clip_by_global_norm(limit: float) -> GradientTransformation:
    """All updates times one factor, so that their norm is at most ``limit`` (torch.nn.utils.clip_grad_norm_)."""

    def clipped(updates: Tree, _: Tree) -> Tree:
        factor = mnp.minimum(limit / (global_norm(updates) + 1e-6), 1.0)
        return tree_map(lambda u: u * factor, updates)

    return stateless(clipped)


class AccumulationState(NamedTuple):
    """The state of the optimizer, the sum of gradients, and the number of them."""

    inner: Tree
    total: Tree
    step: Array


def accumulate(optimizer: GradientTransformation, steps: int) -> GradientTransformation:
    """The optimizer takes a step for each ``steps`` gradients, by their mean; the updates between are zeros.

    Raises:
        InputError: fewer than one step.
    """
    if steps < 1:
        raise InputError(f"Accumulation of {steps} gradients: a step needs at least 1", hint="Give steps of 1 or more")

    def init(parameters: Tree) -> AccumulationState:
        return AccumulationState(optimizer.init(parameters), zeros_of(parameters), count())

    def update(gradients: Tree, state: AccumulationState, parameters: Tree = None) -> tuple[Tree, AccumulationState]:
        total = tree_map(lambda t, g: t + g, state.total, gradients)
        updates, after = optimizer.update(tree_map(lambda t: t / steps, total), state.inner, parameters)
        is_full = (state.step + 1) % steps == 0
        # Selected elementwise, as in optax.MultiSteps: results of a branch would be copied at each step.
        updates = tree_map(lambda u: mnp.where(is_full, u, 0.0), updates)
        inner = tree_map(lambda new, old: mnp.where(is_full, new, old), after, state.inner)
        total = tree_map(lambda t: mnp.where(is_full, 0.0, t), total)
        return updates, AccumulationState(inner, total, state.step + 1)

    return GradientTransformation(init, update)


class EmaState(NamedTuple):
    """The state of the optimizer, and the average of the parameters."""

    inner: Tree
    average: Tree


def ema(optimizer: GradientTransformation, decay: float = 0.999) -> GradientTransformation:
    """An exponential moving average of the parameters, in ``state.average``, beside the optimizer."""

    def update(gradients: Tree, state: EmaState, parameters: Tree) -> tuple[Tree, EmaState]:
        updates, inner = optimizer.update(gradients, state.inner, parameters)
        after = apply_updates(parameters, updates)
        average = tree_map(lambda a, p: decay * a + (1 - decay) * p, state.average, after)
        return updates, EmaState(inner, average)

    return GradientTransformation(lambda ps: EmaState(optimizer.init(ps), ps), update)


def all_finite(tree: Tree) -> Array:
    """Whether no element is infinite or NaN."""
    found = [mnp.all(mnp.isfinite(as_array(x))) for x in trees.leaves(tree)]
    result = found[0]
    for each in found[1:]:
        result = mnp.logical_and(result, each)
    return result


def where_finite(watched: Tree, new: Tree, old: Tree) -> Tree:
    """The new tree where all that is watched is finite, else the old one. What is the same in both stays as it is."""
    is_finite = all_finite(watched)
    return tree_map(lambda x, y: x if x.is_same(y) else mnp.where(is_finite, x, y), new, old)


class FiniteState(NamedTuple):
    """The state of the optimizer; how many steps were left out one after another, and in all."""

    inner: Tree
    consecutive: Array
    total: Array


def apply_if_finite(optimizer: GradientTransformation, limit: int = 5) -> GradientTransformation:
    """Leaves out steps whose gradients are not finite, unless more than ``limit`` come one after another.

    Source: optax.apply_if_finite.
    """

    def init(parameters: Tree) -> FiniteState:
        return FiniteState(optimizer.init(parameters), count(), count())

    def update(gradients: Tree, state: FiniteState, parameters: Tree = None) -> tuple[Tree, FiniteState]:
        is_finite = all_finite(gradients)
        consecutive = mnp.where(is_finite, 0, state.consecutive + 1)
        is_applied = mnp.logical_or(is_finite, consecutive > limit)
        updates, inner = optimizer.update(gradients, state.inner, parameters)
        inner = tree_map(lambda new, old: mnp.where(is_applied, new, old), inner, state.inner)
        total = state.total + mnp.where(is_finite, 0, 1)
        return tree_map(lambda u: mnp.where(is_applied, u, 0.0), updates), FiniteState(inner, consecutive, total)

    return GradientTransformation(init, update)
