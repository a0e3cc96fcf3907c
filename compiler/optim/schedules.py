"""Schedules: the learning rate as a function of the number of the step, which begins with 0 and may be traced.

Source: torch.optim.lr_scheduler; one cycle: Smith and Topin, 2017.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.optim.transform import Schedule


def _float(step: Any) -> Array:
    return mnp.astype(as_array(step), mnp.float32)


def constant(value: float) -> Schedule:
    """The same learning rate in each step."""
    return lambda _: value


def step_decay(value: float, step_size: int, gamma: float = 0.1) -> Schedule:
    """Times ``gamma`` every ``step_size`` steps (StepLR)."""
    return lambda step: value * mnp.exp(math.log(gamma) * mnp.floor(_float(step) / step_size))


def exponential(value: float, gamma: float) -> Schedule:
    """Times ``gamma`` in each step (ExponentialLR)."""
    return lambda step: value * mnp.exp(math.log(gamma) * _float(step))


def linear(first: float, last: float, steps: int) -> Schedule:
    """From ``first`` to ``last`` in ``steps`` steps, and then constant."""
    return lambda step: first + (last - first) * mnp.minimum(_float(step) / _positive(steps), 1.0)


def cosine(value: float, steps: int, minimum: float = 0.0) -> Schedule:
    """Half a wave of the cosine from ``value`` to ``minimum`` in ``steps`` steps, then constant (CosineAnnealingLR)."""
    angle = math.pi / _positive(steps)
    return lambda step: (
        minimum + (value - minimum) * (0.5 + 0.5 * mnp.cos(angle * mnp.minimum(_float(step), 1.0 * steps)))
    )


def joined(schedules: Sequence[Schedule], ends: Sequence[int]) -> Schedule:
    """Schedules one after another; each but the last ends before a step of ``ends``, and begins with its own step 0.

    Raises:
        InputError: not one end less than schedules.
    """
    if len(ends) != len(schedules) - 1:
        raise InputError(f"{len(schedules)} schedules have {len(ends)} ends", hint="Give one end fewer than schedules")

    def at(step: Any) -> Any:
        given = as_array(step)
        found = schedules[0](given)
        for end, each in zip(ends, schedules[1:], strict=True):
            found = mnp.where(given < end, found, each(mnp.maximum(given - end, 0)))
        return found

    return at


def warmup_cosine(value: float, warmup: int, steps: int, minimum: float = 0.0) -> Schedule:
    """From 0 to ``value`` in ``warmup`` steps, and by a cosine to ``minimum`` at step ``steps``."""
    return joined([linear(0.0, value, warmup), cosine(value, steps - warmup, minimum)], [warmup])


def one_cycle(
    max_lr: float,
    total_steps: int,
    pct_start: float = 0.3,
    div_factor: float = 25.0,
    final_div_factor: float = 1e4,
) -> Schedule:
    """By cosines up from max_lr / div_factor, and down to that / final_div_factor (OneCycleLR)."""
    first = max_lr / div_factor
    top = pct_start * total_steps - 1
    down = total_steps - 1 - top

    def wave(start: float, end: float, share: Any) -> Any:
        return end + (start - end) / 2 * (1 + mnp.cos(math.pi * mnp.clip(share, 0.0, 1.0)))

    def at(step: Any) -> Any:
        now = _float(step)
        falling = wave(max_lr, first / final_div_factor, (now - top) / down)
        return mnp.where(now <= top, wave(first, max_lr, now / top), falling) if top > 0 else falling

    return at


def _positive(steps: int) -> int:
    if steps < 1:
        raise InputError(f"A schedule of {steps} steps: it needs at least 1", hint="Give steps of 1 or more")
    return steps
