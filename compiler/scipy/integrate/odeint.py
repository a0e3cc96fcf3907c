"""``odeint``: initial value problems with derivatives. Source: ``jax.experimental.ode.odeint``; Chen et al., "Neural
ordinary differential equations", 2018 (the adjoint equations).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.batching import vmap
from mlc.frontends.array.transforms.closures import closed
from mlc.frontends.array.transforms.control import scan, while_loop
from mlc.frontends.array.transforms.custom import custom_vjp
from mlc.frontends.array.transforms.derivatives.linear_maps import vjp
from mlc.scipy.integrate import dormand_prince, rosenbrock
from mlc.scipy.integrate.dormand_prince import Control, Slope, Step, interpolated, start
from mlc.scipy.vectors import raveled

METHODS: dict[str, Callable[[Slope, Step, Control], Step]] = {
    "RK45": dormand_prince.advanced, "Rodas": rosenbrock.advanced,
}  # fmt: skip
ORDER = 2
"""Of derivatives: each is an adjoint problem of the one before. Forward mode transposes one more."""


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: int | None = None,
    adjoint: bool = True,
) -> Any:
    """The solution of ``dy/dt = func(y, t, *args)`` with ``y(t[0]) = y0`` at the times ``t`` [n], in either direction:
    a tree like ``y0`` whose arrays have the times first.

    Steps are adaptive; values between them are those of a polynomial of degree 4. Where more than ``mxstep`` steps
    would be between two times, values are NaN; by default there is no limit.

    Derivatives are by ``y0``, ``t``, ``args`` and what ``func`` reads from around it. ``adjoint``: by the adjoint
    equations backwards in time, which save the solution at the times ``t`` alone, and err by the tolerances as the
    solution does. Without it by differentiating through the steps (reverse mode then needs ``mxstep``, and memory for
    as many steps; forward mode is cheap).

    Raises:
        InputError: ``func`` returns another tree or other shapes than ``y0``, or times that are no vector.
    """
    y, unravel = raveled(y0)
    times = as_array(t).astype(y.dtype)
    if times.ndim != 1 or times.shape[0] == 0:
        what = f"odeint cannot give solutions at times of shape {list(times.shape)}"
        raise InputError(what, hint="Give a vector [n] whose first element is the time of y0")
    slope = on_vectors(func, y, unravel, args)
    most = (1 << 31) if mxstep is None else mxstep
    control = Control(rtol, atol, most, bounded=not adjoint and mxstep is not None)
    return vmap(unravel)(solution(slope, y, times, control, adjoint))


def solution(slope: Slope, y: Array, times: Array, control: Control, adjoint: bool) -> Array:
    """[n, size] of y: at each of the times, of which the first is that of ``y``; with ``adjoint`` its derivatives are
    solutions as well."""
    if not adjoint:
        return _solution(slope, y, times, control)
    open_slope, arrays = closed(slope, y, times[0])
    return _with_adjoint(open_slope, control, ORDER)(y, times, arrays)


def on_vectors(func: Callable[..., Any], y: Array, unravel: Callable[[Array], Any], args: Any) -> Slope:
    def slope(vector: Array, time: Array) -> Array:
        found = raveled(func(unravel(vector), time, *args))[0]
        if found.shape != y.shape:
            what = f"A state of {y.shape[0]} numbers has a derivative of {found.shape[0]}"
            raise InputError(what, hint="Return a tree of the shapes of y0")
        return found.astype(y.dtype)

    return slope


def _solution(f: Slope, y: Array, times: Array, control: Control) -> Array:
    """[n, size] of y: at each of the times."""
    if times.shape[0] == 1:
        return y[None]
    backwards = times[-1] < times[0]
    sign = mnp.where(backwards, -1.0, 1.0).astype(y.dtype)
    turned: Slope = lambda y, s: sign * f(y, sign * s)  # noqa: E731

    advance = METHODS[control.method]

    def until(step: Step, target: Array) -> tuple[Step, Array]:
        before = step._replace(steps=mnp.asarray(0))
        most = control.most if control.bounded else None
        going = lambda s: (s.time < target) & (s.steps < control.most) & (s.length > 0)  # noqa: E731
        after = while_loop(going, lambda s: advance(turned, s, control), before, max_iterations=most)
        reached = after.time >= target
        return after, mnp.where(reached, interpolated(after, target), mnp.nan)

    rest = scan(until, start(turned, y, sign * times[0], control), sign * times[1:])[1]
    return mnp.concat([y[None], rest])


def _with_adjoint(f: Callable[..., Array], control: Control, order: int) -> Callable[..., Array]:
    """``solve(y, times, arrays)`` of ``f(arrays, y, time)``, whose pullback is a problem backwards in time, which has
    derivatives of one order less."""

    def solution(y: Array, times: Array, arrays: list[Array]) -> Array:
        return _solution(lambda y, t: f(arrays, y, t), y, times, control)

    if not order:
        return solution
    solve = custom_vjp(solution)

    def forward(y: Array, times: Array, arrays: list[Array]) -> tuple[Array, Any]:
        found = solve(y, times, arrays)
        return found, (found, times, arrays)

    def backward(residuals: Any, bars: Array) -> tuple[Any, ...]:
        found, times, arrays = residuals
        return _pulled_back(f, control, order, found, times, arrays, bars)

    solve.defvjp(forward, backward)
    return solve


def _pulled_back(
    f: Callable[..., Array],
    control: Control,
    order: int,
    found: Array,
    times: Array,
    arrays: list[Array],
    bars: Array,
) -> tuple[Array, Array, list[Array]]:
    """The cotangents of the first state, of the times and of the arrays."""
    size = found.shape[1]
    flat, unravel = raveled(arrays) if arrays else (mnp.zeros((0,), dtype=found.dtype), lambda v: [])

    def backwards(flat: list[Array], state: Array, time: Array) -> Array:
        y, y_bar = state[:size], state[size : 2 * size]
        slope, pullback = vjp(lambda y, a: f(unravel(a), y, time), y, flat[0])
        by_y, by_arrays = pullback(y_bar)
        return mnp.concat([slope, -by_y, -by_arrays])

    solve = _with_adjoint(backwards, control, order - 1)

    def interval(carry: tuple[Array, Array], each: tuple[Array, ...]) -> tuple[tuple[Array, Array], Array]:
        (y_bar, flat_bar), (y, bar, times) = carry, each
        y_bar = y_bar + bar
        before = solve(mnp.concat([y, y_bar, flat_bar]), times, [flat])[1]
        by_time = mnp.sum(bar * f(arrays, y, times[0]))
        return (before[size : 2 * size], before[2 * size :]), by_time

    pairs = mnp.stack([times[1:], times[:-1]], axis=1)
    start = (mnp.zeros_like(found[0]), mnp.zeros_like(flat))
    (y_bar, flat_bar), by_times = scan(interval, start, (found[1:], bars[1:], pairs), reverse=True)
    by_first = -mnp.sum(y_bar * f(arrays, found[0], times[0]))
    return y_bar + bars[0], mnp.concat([by_first[None], by_times]), unravel(flat_bar)
