"""Directions from gradients and their history. Source: the formulas of ``torch.optim``; Lion: Chen et al., 2023."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array
from mlc.optim.transform import GradientTransformation, Tree, count, zeros_of

tree_map = trees.tree_map


def _unzipped(found: Tree, like: Tree, parts: int) -> list[Tree]:
    """Trees of the first, second, … element of the tuples at the leaves of ``like``."""
    _, structure = trees.flatten(like)
    rows = structure.flatten_up_to(found)
    return [trees.unflatten(structure, [row[n] for row in rows]) for n in range(parts)]


def by_leaf(f: Callable[..., tuple[Any, ...]], parts: int, gradients: Tree, *states: Tree) -> list[Tree]:
    """``parts`` trees of what ``f(gradient, state, …)`` returns for each leaf."""
    return _unzipped(tree_map(f, gradients, *states), gradients, parts)


def momentum(decay: float, nesterov: bool = False) -> GradientTransformation:
    """A sum of gradients in which those before decay; ``nesterov``: one step ahead. Source: torch.optim.SGD."""

    def update(gradients: Tree, trace: Tree, parameters: Tree = None) -> tuple[Tree, Tree]:
        trace = tree_map(lambda g, t: decay * t + g, gradients, trace)
        return (tree_map(lambda g, t: g + decay * t, gradients, trace) if nesterov else trace), trace

    return GradientTransformation(zeros_of, update)


def scale_by_adagrad(initial: float = 0.0, epsilon: float = 1e-10) -> GradientTransformation:
    """Gradients over the root of the sum of their squares. Source: Duchi et al., 2011."""

    def update(gradients: Tree, sums: Tree, parameters: Tree = None) -> tuple[Tree, Tree]:
        sums = tree_map(lambda g, s: s + g * g, gradients, sums)
        return tree_map(lambda g, s: g / (mnp.sqrt(s) + epsilon), gradients, sums), sums

    return GradientTransformation(lambda ps: tree_map(lambda p: mnp.zeros_like(p) + initial, ps), update)


def scale_by_adadelta(rho: float = 0.9, epsilon: float = 1e-6) -> GradientTransformation:
    """Gradients in units of the steps before. Source: Zeiler, 2012."""

    def leaf(g: Array, square: Array, steps: Array) -> tuple[Array, ...]:
        square = rho * square + (1 - rho) * g * g
        delta = mnp.sqrt(steps + epsilon) / mnp.sqrt(square + epsilon) * g
        return delta, square, rho * steps + (1 - rho) * delta * delta

    def update(gradients: Tree, state: Tree, parameters: Tree = None) -> tuple[Tree, Tree]:
        updates, *after = by_leaf(leaf, 3, gradients, *state)
        return updates, tuple(after)

    return GradientTransformation(lambda ps: (zeros_of(ps), zeros_of(ps)), update)


def scale_by_rms(decay: float = 0.99, epsilon: float = 1e-8, centered: bool = False) -> GradientTransformation:
    """Gradients over a running root mean square, or deviation where ``centered``. Source: Hinton, 2012."""

    def leaf(g: Array, square: Array, *mean: Array) -> tuple[Array, ...]:
        square = decay * square + (1 - decay) * g * g
        mean = tuple(decay * m + (1 - decay) * g for m in mean)
        variance = square - mean[0] * mean[0] if mean else square
        return g / (mnp.sqrt(variance) + epsilon), square, *mean

    def update(gradients: Tree, state: Tree, parameters: Tree = None) -> tuple[Tree, Tree]:
        updates, *after = by_leaf(leaf, 2 + centered, gradients, *state)
        return updates, tuple(after)

    return GradientTransformation(lambda ps: tuple(zeros_of(ps) for _ in range(1 + centered)), update)


class AdamState(NamedTuple):
    """The number of steps, running means of gradients and of their squares."""

    step: Array
    mean: Tree
    square: Tree


def checked(betas: tuple[float, float]) -> tuple[float, float]:
    """The decays of running means.

    Raises:
        InputError: one is not from 0 to before 1.
    """
    if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
        raise InputError(
            f"The decays (betas) are {betas}", hint="Give two numbers from 0 to before 1, such as (0.9, 0.999)"
        )
    return betas


def one_less_power(beta: float, step: Array) -> Array:
    """1 - beta ** step, without the rounding of the difference."""
    return -mnp.expm1(mnp.astype(step, mnp.float32) * math.log(beta)) if beta > 0 else mnp.ones(())


def scale_by_adam(betas: tuple[float, float] = (0.9, 0.999), epsilon: float = 1e-8) -> GradientTransformation:
    """The running mean of gradients over the root of that of their squares, unbiased. Source: Kingma and Ba, 2014."""
    checked(betas)

    def update(gradients: Tree, state: AdamState, parameters: Tree = None) -> tuple[Tree, AdamState]:
        after = moments(gradients, state, betas)
        first, second = (one_less_power(beta, after.step) for beta in betas)
        root = mnp.sqrt(second)
        ratio = lambda m, s: (m / first) / (mnp.sqrt(s) / root + epsilon)  # noqa: E731
        return tree_map(ratio, after.mean, after.square), after

    return GradientTransformation(first_moments, update)


def first_moments(parameters: Tree) -> AdamState:
    """No step yet, and zeros."""
    return AdamState(count(), zeros_of(parameters), zeros_of(parameters))


def moments(gradients: Tree, state: AdamState, betas: tuple[float, float]) -> AdamState:
    """The running means with these gradients."""
    first, second = betas
    mean = tree_map(lambda g, m: first * m + (1 - first) * g, gradients, state.mean)
    square = tree_map(lambda g, s: second * s + (1 - second) * g * g, gradients, state.square)
    return AdamState(state.step + 1, mean, square)


class NadamState(NamedTuple):
    """The product of all momenta, and the state of Adam."""

    product: Array
    adam: AdamState


def scale_by_nadam(
    betas: tuple[float, float] = (0.9, 0.999), epsilon: float = 1e-8, momentum_decay: float = 4e-3
) -> GradientTransformation:
    """Adam with Nesterov's momentum. Source: Dozat, 2016."""
    checked(betas)

    def momentum_at(step: Array) -> Array:
        exponent = mnp.astype(step, mnp.float32) * (momentum_decay * math.log(0.96))
        return betas[0] * (1 - 0.5 * mnp.exp(exponent))

    def update(gradients: Tree, state: NadamState, parameters: Tree = None) -> tuple[Tree, NadamState]:
        adam = moments(gradients, state.adam, betas)
        now, ahead = momentum_at(adam.step), momentum_at(adam.step + 1)
        product = state.product * now
        of_gradient, of_mean = (1 - now) / (1 - product), ahead / (1 - product * ahead)
        root = mnp.sqrt(one_less_power(betas[1], adam.step))
        move = lambda g, m, s: (of_gradient * g + of_mean * m) / (mnp.sqrt(s) / root + epsilon)  # noqa: E731
        return tree_map(move, gradients, adam.mean, adam.square), NadamState(product, adam)

    return GradientTransformation(lambda ps: NadamState(mnp.ones(()), first_moments(ps)), update)


def scale_by_lion(betas: tuple[float, float] = (0.9, 0.99)) -> GradientTransformation:
    """Signs of a mix of momentum and gradient. Source: Chen et al., 2023."""
    mix, decay = checked(betas)

    def update(gradients: Tree, mean: Tree, parameters: Tree = None) -> tuple[Tree, Tree]:
        signs = tree_map(lambda g, m: mnp.sign(mix * m + (1 - mix) * g), gradients, mean)
        return signs, tree_map(lambda g, m: decay * m + (1 - decay) * g, gradients, mean)

    return GradientTransformation(zeros_of, update)
