"""Optimizers: one step of momentum, AdaGrad and Adam for one tensor, elementwise. Source: ONNX, preview.training 1.

``rate`` and ``count`` (of steps before) are scalars; ``decay`` is the coefficient of half the squared norm.
"""

from __future__ import annotations

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.tensors import Tensor


def _regularized(build: Builder, x: Tensor, gradient: Tensor, decay: float) -> Tensor:
    """The gradient plus the gradient of the penalty, half the squared norm of ``x``."""
    return build.map(f"x1 + {literal(decay)} * x0", x, gradient)


def _rate(build: Builder, rate: Tensor, x: Tensor) -> Tensor:
    return build.cast(build.reshape(rate, ()), x.element)


def momentum_step(
    build: Builder,
    x: Tensor,
    gradient: Tensor,
    velocity: Tensor,
    rate: Tensor,
    count: Tensor,
    alpha: float,
    beta: float,
    decay: float,
    nesterov: bool,
) -> tuple[Tensor, Tensor]:
    """(new ``x``, new velocity) of gradient descent with momentum, standard or Nesterov's."""
    slope = _regularized(build, x, gradient, decay)
    a, b = literal(alpha), literal(beta)
    blend = f"{a} * x0 + where(x2 > 0, {x.element}({b}), {x.element}(1)) * x1"
    new = build.map(blend, velocity, slope, build.reshape(count, ()))
    along = build.map(f"x0 + {a} * x1", slope, new) if nesterov else new
    return build.map("x0 - x1 * x2", x, _rate(build, rate, x), along), new


def adagrad_step(
    build: Builder,
    x: Tensor,
    gradient: Tensor,
    squares: Tensor,
    rate: Tensor,
    count: Tensor,
    rate_decay: float,
    epsilon: float,
    decay: float,
) -> tuple[Tensor, Tensor]:
    """(new ``x``, new sum of squares) of AdaGrad (Duchi et al., 2011)."""
    slope = _regularized(build, x, gradient, decay)
    new = build.map("x0 + x1 * x1", squares, slope)
    shrink = f"x0 / (1 + {x.element}(x1) * {literal(rate_decay)})"
    rate = build.map(shrink, _rate(build, rate, x), build.reshape(count, ()))
    return build.map(f"x0 - x1 * x2 / (sqrt(x3) + {literal(epsilon)})", x, rate, slope, new), new


def adam_step(
    build: Builder,
    x: Tensor,
    gradient: Tensor,
    moments: tuple[Tensor, Tensor],
    rate: Tensor,
    count: Tensor,
    betas: tuple[float, float],
    epsilon: float,
    decay: float,
    decay_after: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """(new ``x``, new first and second moment) of Adam (Kingma and Ba, 2015); ``decay_after`` scales the new ``x``."""
    (mean, square), (alpha, beta) = moments, betas
    slope = _regularized(build, x, gradient, decay)
    mean = build.map(f"{literal(alpha)} * x0 + {literal(1 - alpha)} * x1", mean, slope)
    square = build.map(f"{literal(beta)} * x0 + {literal(1 - beta)} * x1 * x1", square, slope)
    rate = _unbiased_rate(build, _rate(build, rate, x), count, alpha, beta)
    step = f"{literal(1 - decay_after)} * (x0 - x1 * x2 / (sqrt(x3) + {literal(epsilon)}))"
    return build.map(step, x, rate, mean, square), mean, square


def _unbiased_rate(build: Builder, rate: Tensor, count: Tensor, alpha: float, beta: float) -> Tensor:
    """The learning rate, corrected for the bias of moving averages that start at zero."""
    steps = build.map(f"{rate.element}(x0)", build.reshape(count, ()))
    corrected = f"x0 * sqrt(1 - {literal(beta)} ** x1) / (1 - {literal(alpha)} ** x1)"
    return build.map(f"where(x1 > 0, {corrected}, x0)", rate, steps)
