"""Gradient transformations: functions that make a state, and updates of parameters from gradients. Source: optax.

    optimizer = optim.chain(optim.clip_by_global_norm(1.0), optim.adam(1e-3))
    state = optimizer.init(parameters)
    updates, state = optimizer.update(gradients, state, parameters)
    parameters = optim.apply_updates(parameters, updates)

Parameters, gradients and states are trees of arrays, so a step is a pure function that ``mlc.jit`` compiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.nn.naming import named

Tree = Any
Where = Callable[[str, Any], bool]
"""Whether something is done to a parameter, by its name and array."""
Schedule = Callable[[Array], Any]
Rate = float | Schedule
"""A learning rate, or one for each step, whose number it is given."""


class GradientTransformation(NamedTuple):
    """``init(parameters)`` is the first state; ``update(gradients, state, parameters)`` gives (updates, state)."""

    init: Callable[[Tree], Tree]
    update: Callable[..., tuple[Tree, Tree]]


def apply_updates(parameters: Tree, updates: Tree) -> Tree:
    """Parameters plus updates, in the parameters' types."""
    return trees.tree_map(lambda p, u: mnp.astype(p + u, as_array(p).dtype), parameters, updates)


def chain(*transformations: GradientTransformation) -> GradientTransformation:
    """One after another; the state is a tuple of theirs."""

    def init(parameters: Tree) -> Tree:
        return tuple(each.init(parameters) for each in transformations)

    def update(updates: Tree, state: Tree, parameters: Tree = None) -> tuple[Tree, Tree]:
        states = []
        for each, before in zip(transformations, state, strict=True):
            updates, after = each.update(updates, before, parameters)
            states.append(after)
        return updates, tuple(states)

    return GradientTransformation(init, update)


def stateless(f: Callable[[Tree, Tree], Tree]) -> GradientTransformation:
    """``f(updates, parameters)`` as a transformation without a state."""
    return GradientTransformation(lambda _: (), lambda updates, state, parameters=None: (f(updates, parameters), state))


def scale(factor: float) -> GradientTransformation:
    """Updates times a number."""
    return stateless(lambda updates, _: trees.tree_map(lambda u: u * factor, updates))


def count() -> Array:
    """The number of the first step."""
    return mnp.zeros((), dtype=mnp.int64)


def rate_at(rate: Rate, step: Array) -> Any:
    return rate(step) if callable(rate) else rate


def scale_by_learning_rate(rate: Rate) -> GradientTransformation:
    """Updates times minus the learning rate, which may be a schedule; the state is the number of the step."""
    if not callable(rate):
        return scale(-rate)

    def update(updates: Tree, step: Array, parameters: Tree = None) -> tuple[Tree, Array]:
        factor = rate_at(rate, step)
        return trees.tree_map(lambda u: -factor * u, updates), step + 1

    return GradientTransformation(lambda _: count(), update)


def zeros_of(parameters: Tree) -> Tree:
    """A tree of zeros of the same shapes and types."""
    return trees.tree_map(mnp.zeros_like, parameters)


def _where(where: Where, tree: Tree) -> list[bool]:
    return [where(name, leaf) for name, leaf, _ in named(tree)]


def masked(inner: GradientTransformation, where: Where) -> GradientTransformation:
    """``inner`` for the parameters for which ``where(name, array)`` holds; the updates of others stay."""

    def chosen(tree: Tree, marks: list[bool], wanted: bool) -> Tree:
        leaves, structure = trees.flatten(tree)
        return trees.unflatten(structure, [x if m == wanted else None for x, m in zip(leaves, marks, strict=True)])

    def init(parameters: Tree) -> Tree:
        return inner.init(chosen(parameters, _where(where, parameters), True))

    def update(updates: Tree, state: Tree, parameters: Tree = None) -> tuple[Tree, Tree]:
        marks = _where(where, updates if parameters is None else parameters)
        given = None if parameters is None else chosen(parameters, marks, True)
        made, state = inner.update(chosen(updates, marks, True), state, given)
        return trees.merged(made, chosen(updates, marks, False)), state

    return GradientTransformation(init, update)


def add_decayed_weights(decay: float, where: Where | None = None) -> GradientTransformation:
    """Updates plus ``decay`` times the parameters, or those for which ``where(name, array)`` holds."""
    added = stateless(lambda updates, ps: trees.tree_map(lambda u, p: u + decay * p, updates, ps))
    return added if where is None else masked(added, where)
