"""Minima of smooth functions by the method of Broyden, Fletcher, Goldfarb and Shanno.

Source: Nocedal and Wright, "Numerical optimization", 2006, 6.1; Lewis and Overton, "Nonsmooth optimization via
quasi-Newton methods", 2013 (the line search).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.control import while_loop
from mlc.frontends.array.transforms.derivatives.gradients import as_loss, grad, value_and_grad
from mlc.scipy.optimize.implicit import Function, OptimizeResult, with_implicit_derivative
from mlc.scipy.vectors import norm, raveled

DESCENT, CURVATURE, TRIALS = 1e-4, 0.9, 60


class State(NamedTuple):
    """Where the search is: point, value, gradient, approximation of the inverse Hessian, iterations, and whether the
    last line search found a lower point."""

    x: Array
    value: Array
    slope: Array
    inverse: Array
    steps: Array
    moved: Array


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str = "BFGS",
    tol: float | None = None,
    options: dict[str, Any] | None = None,
) -> OptimizeResult:
    """``x`` where ``fun(x, *args)``, a float of rank 0, is least near ``x0``, a tree of real arrays.

    It ends where no element of the gradient is above ``tol`` (1e-5; ``options["gtol"]``), after ``options["maxiter"]``
    (200 n) iterations, or where no step is downhill. The derivative of ``x`` by ``args``, and by what ``fun`` reads
    from around it, is implicit, in both modes, and solves with the Hessian [n, n]; that by ``x0`` is 0.

    Raises:
        InputError: another method or option, or ``fun`` returns no float of rank 0.
    """
    if method.upper() != "BFGS":
        raise InputError(f"minimize has no method {method!r}", hint="Give BFGS; mlc.optim has first-order methods")
    given = {"gtol": 1e-5 if tol is None else tol, "maxiter": None, **(options or {})}
    if unknown := set(given) - {"gtol", "maxiter"}:
        raise InputError(f"minimize has no option {', '.join(sorted(unknown))}", hint="Give gtol or maxiter")
    start, unravel = raveled(x0)
    most = 200 * int(start.shape[0]) if given["maxiter"] is None else given["maxiter"]  # type: ignore[arg-type]

    def value(x: Array) -> Array:
        found = as_array(fun(unravel(x), *args))
        return as_loss(found.astype(x.dtype) if found.shape == () else found, "minimize takes that alone")

    def solve(value: Function, x: Array) -> Any:
        return _bfgs(value_and_grad(value), x, given["gtol"], most)

    x, (slope, count) = with_implicit_derivative(value, solve, start, grad)
    return OptimizeResult(unravel(x), value(x), mnp.max(mnp.abs(slope)) <= given["gtol"], count)


def _bfgs(f: Callable[[Array], Any], x: Array, limit: float, most: int) -> tuple[Array, tuple[Array, Array]]:
    value, slope = f(x)
    inverse = mnp.eye(x.shape[0], dtype=x.dtype)
    start = State(x, value, slope, inverse, mnp.asarray(0), value == value)
    going = lambda s: (mnp.max(mnp.abs(s.slope)) > limit) & (s.steps < most) & s.moved  # noqa: E731
    found = while_loop(going, lambda s: _step(f, s), start)
    return found.x, (found.slope, found.steps)


def _step(f: Callable[[Array], Any], s: State) -> State:
    direction = -(s.inverse @ s.slope)
    first = mnp.where(s.steps == 0, mnp.minimum(1.0, 1 / norm(s.slope)), 1.0)
    x, value, slope = _line_search(f, s, direction, first)
    lower = (value < s.value) | ((value <= s.value + _rounding(s)) & (norm(slope) < norm(s.slope)))
    dx, dg = x - s.x, slope - s.slope
    curved = mnp.sum(dx * dg)
    scale = mnp.where(s.steps == 0, curved / mnp.maximum(mnp.sum(dg * dg), _least(x)), 1.0)
    good = curved > _least(x)
    rho = 1 / mnp.where(good, curved, 1.0)
    left = mnp.eye(x.shape[0], dtype=x.dtype) - rho * mnp.outer(dx, dg)
    updated = left @ (scale * s.inverse) @ left.T + rho * mnp.outer(dx, dx)
    pick = lambda new, old: mnp.where(lower, new, old)  # noqa: E731
    kept = pick(mnp.where(good, updated, s.inverse), s.inverse)
    return State(pick(x, s.x), pick(value, s.value), pick(slope, s.slope), kept, s.steps + 1, lower)


def _rounding(s: State) -> Array:
    """By how much two equal values may differ."""
    return 4 * float(mnp.finfo(s.x.dtype).eps) * mnp.abs(s.value)


def _least(x: Array) -> float:
    return float(mnp.finfo(x.dtype).smallest_normal)


def _line_search(f: Callable[[Array], Any], s: State, direction: Array, first: Array) -> tuple[Array, Array, Array]:
    """A point with less value and less descent than at the start (Wolfe's conditions), by bisection and doubling."""
    descent = mnp.sum(s.slope * direction)

    def judged(length: Array, value: Array, slope: Array) -> tuple[Array, Array]:
        too_far = ~(value <= s.value + DESCENT * length * descent + _rounding(s))
        return too_far, mnp.sum(slope * direction) < CURVATURE * descent

    def trial(state: tuple[Array, ...]) -> tuple[Array, ...]:
        n, low, high, length, value, slope = state
        too_far, too_near = judged(length, value, slope)
        low = mnp.where(too_far, low, mnp.where(too_near, length, low))
        high = mnp.where(too_far, length, high)
        length = mnp.where(mnp.isinf(high), 2 * low, (low + high) / 2)
        return n + 1, low, high, length, *f(s.x + length * direction)

    def goes_on(state: tuple[Array, ...]) -> Array:
        n, _, _, length, value, slope = state
        too_far, too_near = judged(length, value, slope)
        return (n < TRIALS) & (too_far | too_near)

    zero = mnp.zeros_like(s.value)
    length = first.astype(s.x.dtype)
    start = (mnp.asarray(0), zero, zero + mnp.inf, length, *f(s.x + length * direction))
    _, _, _, length, value, slope = while_loop(goes_on, trial, start)
    return s.x + length * direction, value, slope
