"""The first events of a solution: where functions of time and state change their sign.

Between the ends of a step the polynomial of the step is bisected. The derivative of an event's time by what the
solution depends on is that of one Newton step: ``dt = -dg / (dg/dt along the solution)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mlc.numpy as mnp
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.batching import vmap
from mlc.frontends.array.transforms.control import cond, fori_loop, while_loop
from mlc.frontends.array.transforms.custom import stop_gradient
from mlc.frontends.array.transforms.derivatives.linear_maps import jvp
from mlc.scipy.integrate.dormand_prince import Control, Slope, Step, interpolated, start

BISECTIONS = 60


@dataclass(frozen=True)
class Events:
    """``values(t, y)`` [k] of all events; which of them end the solution, and the direction of each, 0 for both."""

    values: Callable[[Array, Array], Array]
    terminal: tuple[bool, ...]
    directions: tuple[int, ...]

    @classmethod
    def of(cls, events: Any, unravel: Callable[[Array], Any], args: tuple[Any, ...]) -> Events:
        functions = list(events) if isinstance(events, list | tuple) else [events]

        def values(t: Array, y: Array) -> Array:
            return mnp.stack([as_array(g(t, unravel(y), *args)).astype(y.dtype).reshape(()) for g in functions])

        terminal = tuple(bool(getattr(g, "terminal", False)) for g in functions)
        directions = tuple(int(mnp.sign(getattr(g, "direction", 0))) for g in functions)
        return cls(values, terminal, directions)

    def end(self, at: Array, span: Array) -> Array:
        """Where the solution ends: at the first terminal event, or at the end of the span."""
        sign = mnp.sign(span[1] - span[0])
        ends = mnp.where(mnp.asarray(self.terminal) & ~mnp.isnan(at), at * sign, span[1] * sign)
        return mnp.min(ends) * sign

    def crossed(self, before: Array, after: Array) -> Array:
        """Which values [k] have changed their sign, in the direction that is asked for."""
        ways = mnp.asarray(self.directions)
        up, down = (before < 0) & (after >= 0), (before > 0) & (after <= 0)
        return (up & (ways >= 0)) | (down & (ways <= 0))


def first_events(
    events: Events, f: Slope, y: Array, span: Array, control: Control, solve: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """Times [k] and states [k, n] of the first events, NaN where there is none before the end. ``solve`` gives the
    solution at times [m], which has derivatives."""
    at = _located(events, stop_gradient(y), stop_gradient(span), f, control)
    found = ~mnp.isnan(at)
    times = stop_gradient(mnp.where(found, at, span[0]))
    states = vmap(lambda t: solve(mnp.stack([span[0], t]))[1])(times)
    slopes = vmap(f)(states, times)

    def moved(n: Any, t: Array, y: Array, slope: Array) -> Array:
        value = lambda t, y: events.values(t, y)[n]  # noqa: E731
        given, rate = jvp(value, (t, y), (mnp.ones_like(t), slope))
        return t - given / stop_gradient(rate)

    exact = vmap(moved)(mnp.arange(len(events.terminal)), times, states, slopes)
    # The Newton step also adds a rounding error's worth of time, so it counts by its derivative alone.
    exact = times + (exact - stop_gradient(exact))
    states = states + slopes * (exact - times)[:, None]
    return mnp.where(found, exact, mnp.nan), mnp.where(found[:, None], states, mnp.nan)


def _located(events: Events, y: Array, span: Array, f: Slope, control: Control) -> Array:
    """The times [k] of the first events, by steps up to the first terminal one."""
    from mlc.scipy.integrate.odeint import METHODS

    sign = mnp.where(span[1] < span[0], -1.0, 1.0).astype(y.dtype)
    end, terminal = sign * span[1], mnp.asarray(events.terminal)
    forwards: Slope = lambda y, s: sign * f(y, sign * s)  # noqa: E731
    values = lambda s, y: events.values(sign * s, y)  # noqa: E731
    State = tuple[Step, Array, Array]

    def going(state: State) -> Array:
        step, at, _ = state
        unstopped = ~mnp.any(terminal & ~mnp.isnan(at))
        return (step.time < end) & (step.steps < control.most) & (step.length > 0) & unstopped

    def advance(state: State) -> State:
        step, at, before = state
        shorter = step._replace(length=mnp.minimum(step.length, mnp.maximum(end - step.time, 0)))
        after = METHODS[control.method](forwards, shorter, control)
        accepted = after.time > step.time
        now = mnp.where(accepted, values(after.time, after.y), before)
        new = events.crossed(before, now) & mnp.isnan(at) & accepted
        placed = cond(mnp.any(new), lambda: _bisected(values, after, before), lambda: mnp.full_like(at, mnp.nan))
        return after, mnp.where(new, placed, at), now

    first = start(forwards, y, sign * span[0], control)
    none = mnp.full((len(events.terminal),), mnp.nan, dtype=y.dtype)
    _, at, _ = while_loop(going, advance, (first, none, values(first.time, y)))
    return sign * at


def _bisected(values: Callable[[Array, Array], Array], step: Step, before: Array) -> Array:
    """Of each event the time within the last step where it changes its sign."""

    def halved(n: Any, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        middle = (low + high) / 2
        at = vmap(lambda t: values(t, interpolated(step, t)))(middle)
        same = mnp.diagonal(at) * before > 0
        return mnp.where(same, middle, low), mnp.where(same, high, middle)

    ones = mnp.ones_like(before)
    return fori_loop(0, BISECTIONS, halved, (step.before * ones, step.time * ones))[1]
