"""Adam whose first steps have no second moment (RAdam), and Adam in units of each parameter's norm (LAMB)."""

from __future__ import annotations

import mlc.numpy as mnp
from mlc.frontends.array.array import Array
from mlc.optim.scaling import AdamState, checked, first_moments, moments, one_less_power, tree_map
from mlc.optim.transform import GradientTransformation, Tree, stateless


def scale_by_radam(betas: tuple[float, float] = (0.9, 0.999), epsilon: float = 1e-8) -> GradientTransformation:
    """Adam with rectified variance: the mean of gradients alone until enough of them say how they vary.

    Source: Liu et al., 2020; torch.optim.RAdam.
    """
    checked(betas)
    most = 2 / (1 - betas[1]) - 1

    def update(gradients: Tree, state: AdamState, parameters: Tree = None) -> tuple[Tree, AdamState]:
        after = moments(gradients, state, betas)
        first = one_less_power(betas[0], after.step)
        is_known, factor = _rectification(after.step, betas[1], most)

        def move(mean: Array, square: Array) -> Array:
            unbiased = mean / first
            return mnp.where(is_known, unbiased * factor / (mnp.sqrt(square) + epsilon), unbiased)

        return tree_map(move, after.mean, after.square), after

    return GradientTransformation(first_moments, update)


def _rectification(step: Array, beta: float, most: float) -> tuple[Array, Array]:
    """Whether the variance is known, and the factor of 1/√v then. In float64: at the first steps two numbers near
    ``most`` are subtracted."""
    t = mnp.astype(step, mnp.float64)
    power = mnp.asarray(beta, dtype=mnp.float64) ** t
    length = most - 2 * t * power / (1 - power)
    safe = mnp.maximum(length, 5.0)
    ratio = (safe - 4) * (safe - 2) * most / ((most - 4) * (most - 2) * safe)
    return length > 5, mnp.astype(mnp.sqrt(ratio * (1 - power)), mnp.float32)


def norm(x: Array) -> Array:
    """The root of the sum of squares, in float32 or wider."""
    wide = mnp.astype(x, mnp.float32) if x.dtype.itemsize < 4 else x
    return mnp.sqrt(mnp.sum(mnp.square(wide)))


def scale_by_trust_ratio() -> GradientTransformation:
    """Updates of each parameter in units of its norm: times the parameter's norm over the update's, where neither is 0.

    Source: You et al., 2017; optax.scale_by_trust_ratio.
    """

    def scaled(update: Array, parameter: Array) -> Array:
        wanted, found = norm(parameter), norm(update)
        known = mnp.logical_and(wanted > 0, found > 0)
        ratio = mnp.where(known, wanted / mnp.where(known, found, 1.0), 1.0)
        return update * mnp.astype(ratio, update.dtype)

    return stateless(lambda updates, parameters: tree_map(scaled, updates, parameters))
