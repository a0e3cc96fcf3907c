"""Adversarial examples: inputs near given ones that a classifier gets wrong.

Source: Goodfellow et al., "Explaining and harnessing adversarial examples", 2014 (FGSM); Madry et al., "Towards deep
learning models resistant to adversarial attacks", 2017 (PGD).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn.losses import cross_entropy
from mlc.frontends.array.transforms.control import fori_loop
from mlc.frontends.array.transforms.derivatives.gradients import grad

Loss = Callable[[Any, Any], Any]
Clip = tuple[float, float] | None


def fgsm(
    f: Callable[[Any], Any],
    x: Any,
    y: Any,
    epsilon: float,
    *,
    loss: Loss = cross_entropy,
    clip: Clip = None,
    targeted: bool = False,
) -> Array:
    """One step of ``epsilon`` along the sign of the gradient: adversarial examples [n, …] for inputs ``x`` [n, …].

    Args:
        f: a function from a batch to its scores [n, classes]: a module, a jitted function, ``mlc.function(model)``.
        y: the labels [n]; ``targeted``: those that ``f`` is to give.
        loss: of scores and labels, a mean or sum over examples.
        clip: the least and the largest value of an input.
    """
    found = as_array(x)
    return _clipped(found + _sign(targeted) * epsilon * mnp.sign(_slope(f, found, y, loss)), clip)


def pgd(
    f: Callable[[Any], Any],
    x: Any,
    y: Any,
    epsilon: float,
    *,
    steps: int = 20,
    step_size: float | None = None,
    norm: str = "linf",
    key: Any = None,
    loss: Loss = cross_entropy,
    clip: Clip = None,
    targeted: bool = False,
) -> Array:
    """``steps`` along the gradient, each projected to within ``epsilon`` of ``x``: adversarial examples [n, …].

    Args:
        norm: ``linf``, the largest change of an element, or ``l2``, the length of the change of an example.
        step_size: 2.5 ``epsilon / steps`` by default.
        key: a random key; the first point is a random one within ``epsilon`` then, else ``x``.
        f, y, loss, clip, targeted: as of ``fgsm``.

    Raises:
        InputError: another norm, or less than one step.
    """
    if norm not in NORMS:
        raise InputError(f"pgd has no norm {norm!r}", hint=f"Give one of {', '.join(NORMS)}")
    if steps < 1:
        raise InputError(f"pgd cannot take {steps} steps", hint="Give one at least")
    direction, projection, drawn = NORMS[norm]
    start, size = as_array(x), 2.5 * epsilon / steps if step_size is None else step_size
    first = start if key is None else _clipped(start + epsilon * drawn(key, start), clip)

    def step(_: Array, at: Array) -> Array:
        moved = at + _sign(targeted) * size * direction(_slope(f, at, y, loss))
        return _clipped(start + projection(moved - start, epsilon), clip)

    found: Array = fori_loop(0, steps, step, first)
    return found


def _slope(f: Callable[[Any], Any], x: Array, y: Any, loss: Loss) -> Array:
    found: Array = grad(lambda x: loss(f(x), y))(x)
    return found


def _sign(targeted: bool) -> int:
    return -1 if targeted else 1


def _clipped(x: Array, clip: Clip) -> Array:
    return x if clip is None else mnp.clip(x, *clip)


def _lengths(x: Array) -> Array:
    """[n, 1, …]: the length of each example, at least the smallest number."""
    square = mnp.sum(x * x, axis=tuple(range(1, x.ndim)), keepdims=True)
    return mnp.sqrt(mnp.maximum(square, as_array(float(mnp.finfo(x.dtype).smallest_normal), x.element)))


def _within_ball(change: Array, epsilon: float) -> Array:
    return change * mnp.minimum(1.0, epsilon / _lengths(change))


def _in_ball(key: Any, x: Array) -> Array:
    """Points of the unit ball, all alike: directions of normal numbers, radii of roots of uniform ones."""
    first, second = mnp.random.split(key)
    noise = mnp.random.normal(first, x.shape, x.dtype)
    size = int(x.size) // max(int(x.shape[0]), 1)  # type: ignore[arg-type]
    radii = mnp.random.uniform(second, (x.shape[0], *(1,) * (x.ndim - 1)), x.dtype) ** (1 / size)
    return noise / _lengths(noise) * radii


def _in_box(key: Any, x: Array) -> Array:
    return mnp.random.uniform(key, x.shape, x.dtype, -1.0, 1.0)


def _within_box(change: Array, epsilon: float) -> Array:
    return mnp.clip(change, -epsilon, epsilon)


def _signs(slope: Array) -> Array:
    found: Array = mnp.sign(slope)
    return found


NORMS: dict[str, tuple[Callable[[Array], Array], Callable[[Array, float], Array], Callable[[Any, Array], Array]]] = {
    "linf": (_signs, _within_box, _in_box),
    "l2": (lambda slope: slope / _lengths(slope), _within_ball, _in_ball),
}
"""For each norm: the direction of a step, the projection of a change, a random point within 1."""
