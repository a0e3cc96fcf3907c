"""Optimizers as chains of transformations, with the names, defaults and formulas of ``torch.optim``.

``weight_decay`` adds to the gradients, but in ``adamw`` and ``lion`` to the updates (decoupled: Loshchilov and Hutter,
2017); ``decays(name, array)`` says which parameters decay, by default all.
"""

from __future__ import annotations

from numbers import Real

from mlc.errors import InputError
from mlc.optim import rectified, scaling
from mlc.optim.transform import (
    GradientTransformation,
    Rate,
    Schedule,
    Where,
    add_decayed_weights,
    chain,
    scale_by_learning_rate,
)

Betas = tuple[float, float]


def _made(
    direction: list[GradientTransformation], rate: Rate, decay: float, decays: Where | None, decoupled: bool = False
) -> GradientTransformation:
    if isinstance(rate, str) or isinstance(rate, Real) and not rate >= 0:
        what = f"A learning rate of {rate!r} is no number from 0 on"
        raise InputError(what, hint="Give a number from 0 on, or a schedule of mlc.optim")
    added = [add_decayed_weights(decay, decays)] if decay else []
    order = [*direction, *added] if decoupled else [*added, *direction]
    return chain(*order, scale_by_learning_rate(rate))


def sgd(
    lr: Rate,
    momentum: float = 0.0,
    nesterov: bool = False,
    weight_decay: float = 0.0,
    decays: Where | None = None,
) -> GradientTransformation:
    """Gradient descent, with momentum."""
    direction = [scaling.momentum(momentum, nesterov)] if momentum else []
    return _made(direction, lr, weight_decay, decays)


def adagrad(
    lr: Rate = 1e-2,
    lr_decay: float = 0.0,
    weight_decay: float = 0.0,
    initial_accumulator_value: float = 0.0,
    eps: float = 1e-10,
    decays: Where | None = None,
) -> GradientTransformation:
    """AdaGrad; ``lr_decay`` divides the rate by 1 + lr_decay · step."""
    given = lr
    rate: Rate = given
    if lr_decay:
        base: Schedule = given if callable(given) else lambda _: given
        rate = lambda step: base(step) / (1 + lr_decay * step)  # noqa: E731
    return _made([scaling.scale_by_adagrad(initial_accumulator_value, eps)], rate, weight_decay, decays)


def adadelta(
    lr: Rate = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0.0, decays: Where | None = None
) -> GradientTransformation:
    """AdaDelta."""
    return _made([scaling.scale_by_adadelta(rho, eps)], lr, weight_decay, decays)


def rmsprop(
    lr: Rate = 1e-2,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    centered: bool = False,
    decays: Where | None = None,
) -> GradientTransformation:
    """RMSProp."""
    direction = [scaling.scale_by_rms(alpha, eps, centered)]
    return _made(direction + ([scaling.momentum(momentum)] if momentum else []), lr, weight_decay, decays)


def adam(
    lr: Rate = 1e-3,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    decays: Where | None = None,
) -> GradientTransformation:
    """Adam."""
    return _made([scaling.scale_by_adam(betas, eps)], lr, weight_decay, decays)


def adamw(
    lr: Rate = 1e-3,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
    decays: Where | None = None,
) -> GradientTransformation:
    """Adam with decoupled weight decay."""
    return _made([scaling.scale_by_adam(betas, eps)], lr, weight_decay, decays, decoupled=True)


def nadam(
    lr: Rate = 2e-3,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    momentum_decay: float = 4e-3,
    decays: Where | None = None,
) -> GradientTransformation:
    """Adam with Nesterov's momentum."""
    return _made([scaling.scale_by_nadam(betas, eps, momentum_decay)], lr, weight_decay, decays)


def radam(
    lr: Rate = 1e-3,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    decoupled_weight_decay: bool = False,
    decays: Where | None = None,
) -> GradientTransformation:
    """RAdam: Adam with rectified variance; ``decoupled_weight_decay`` as in ``adamw``."""
    return _made([rectified.scale_by_radam(betas, eps)], lr, weight_decay, decays, decoupled_weight_decay)


def lamb(
    lr: Rate = 1e-3,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-6,
    weight_decay: float = 0.0,
    decays: Where | None = None,
) -> GradientTransformation:
    """LAMB: steps of Adam, with decoupled weight decay, in units of each parameter's norm; for large batches. Source:
    You et al., 2020; the formula and defaults of optax.lamb."""
    decay = [add_decayed_weights(weight_decay, decays)] if weight_decay else []
    direction = [scaling.scale_by_adam(betas, eps), *decay, rectified.scale_by_trust_ratio()]
    return _made(direction, lr, 0.0, None)


def lion(
    lr: Rate = 1e-4, betas: Betas = (0.9, 0.99), weight_decay: float = 0.0, decays: Where | None = None
) -> GradientTransformation:
    """Lion: signs of momentum, with decoupled weight decay."""
    return _made([scaling.scale_by_lion(betas)], lr, weight_decay, decays, decoupled=True)
