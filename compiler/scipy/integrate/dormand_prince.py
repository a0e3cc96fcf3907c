"""Adaptive steps of the Runge-Kutta method of Dormand and Prince, of orders 5 and 4, with a dense output.

Source: Dormand and Prince, 1980; Hairer, Nørsett and Wanner, "Solving ordinary differential equations I", 1993, II.4
(first step, step control); Shampine, "Some practical Runge-Kutta formulas", 1986 (the value in the middle of a step).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.frontends.array.array import Array, as_array

Slope = Callable[[Array, Array], Array]
NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERRORS = (
    35 / 384 - 1951 / 21600, 0.0, 500 / 1113 - 22642 / 50085, 125 / 192 - 451 / 720, -2187 / 6784 + 12231 / 42400,
    11 / 84 - 649 / 6300, -1 / 60,
)  # fmt: skip
"""The solution of order 5 less that of order 4."""
MIDDLE = (
    6025192743 / 30085553152 / 2, 0.0, 51252292925 / 65400821598 / 2, -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2, -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2,
)  # fmt: skip
SAFETY, SLOWEST, FASTEST = 0.9, 0.2, 10.0


class Step(NamedTuple):
    """The last step, from ``before`` to ``time``, and the length of the next one."""

    time: Array
    y: Array
    slope: Array
    before: Array
    polynomial: Array
    length: Array
    steps: Array


class Control(NamedTuple):
    """What a step may err by, and how many there are at most between two outputs."""

    rtol: float
    atol: Any
    most: int
    bounded: bool
    method: str = "RK45"


def start(f: Slope, y: Array, time: Array, control: Control) -> Step:
    """Before the first step, whose length follows from two slopes."""
    slope = f(y, time)
    scale = control.atol + mnp.abs(y) * control.rtol
    sizes = [size(x / scale) for x in (y, slope)]
    tiny = (sizes[0] < 1e-5) | (sizes[1] < 1e-5)
    first = mnp.where(tiny, 1e-6, 0.01 * sizes[0] / mnp.where(tiny, 1.0, sizes[1]))
    change = size((f(y + first * slope, time + first) - slope) / scale) / first
    steepest = mnp.maximum(sizes[1], change)
    flat = steepest <= 1e-15
    other = mnp.where(flat, mnp.maximum(1e-6, first * 1e-3), (0.01 / mnp.where(flat, 1.0, steepest)) ** (1 / 5))
    length = mnp.minimum(100 * first, other)
    return Step(time, y, slope, time, mnp.stack([y * 0] * 4 + [y]), length, mnp.asarray(0))


def size(x: Array) -> Array:
    """The root of the mean square, with a derivative at 0."""
    return mnp.sqrt(mnp.mean(x * x) + float(mnp.finfo(x.dtype).smallest_normal))


def advanced(f: Slope, step: Step, control: Control) -> Step:
    """One step further where its error is small enough; the same one again, shorter, where it is not."""
    dt = step.length
    slopes = [step.slope]
    for node, factors in zip(NODES, STAGES, strict=True):
        slopes.append(f(step.y + dt * _weighted(factors, slopes), step.time + dt * node))
    y = step.y + dt * _weighted(STAGES[-1], slopes[:-1])
    scale = control.atol + control.rtol * mnp.maximum(mnp.abs(step.y), mnp.abs(y))
    error = size(dt * _weighted(ERRORS, slopes) / scale)
    good = error <= 1
    factor = SAFETY / mnp.maximum(error, as_array(1e-10, error.element)) ** (1 / 5)
    length = dt * mnp.clip(factor, SLOWEST, mnp.where(good, FASTEST, 1.0))
    middle = step.y + dt * _weighted(MIDDLE, slopes)
    polynomial = _fitted(step.y, y, middle, slopes[0] * dt, slopes[-1] * dt)
    pick = lambda new, old: mnp.where(good, new, old)  # noqa: E731
    return Step(
        pick(step.time + dt, step.time),
        pick(y, step.y),
        pick(slopes[-1], step.slope),
        pick(step.time, step.before),
        pick(polynomial, step.polynomial),
        length,
        step.steps + 1,
    )


def _weighted(factors: tuple[float, ...], slopes: list[Array]) -> Array:
    terms = [factor * slope for factor, slope in zip(factors, slopes, strict=True) if factor]
    return sum(terms[1:], terms[0])


def _fitted(y0: Array, y1: Array, middle: Array, slope0: Array, slope1: Array) -> Array:
    """[5, n]: the polynomial over a step with these values and slopes, the highest power first."""
    a = 2 * (slope1 - slope0) - 8 * (y1 + y0) + 16 * middle
    b = 5 * slope0 - 3 * slope1 + 18 * y0 + 14 * y1 - 32 * middle
    c = slope1 - 4 * slope0 - 11 * y0 - 5 * y1 + 16 * middle
    return mnp.stack([a, b, c, slope0, y0])


def interpolated(step: Step, time: Array) -> Array:
    """The solution at a time within the last step."""
    width = step.time - step.before
    x = (time - step.before) / mnp.where(width == 0, 1.0, width)
    found: Any = step.polynomial[0]
    for n in range(1, 5):
        found = found * x + step.polynomial[n]
    return found
