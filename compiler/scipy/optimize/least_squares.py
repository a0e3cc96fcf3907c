"""Least squares of nonlinear functions by the method of Levenberg and Marquardt.

Source: Moré, "The Levenberg-Marquardt algorithm: implementation and theory", 1978 (the scaling); Nielsen, "Damping
parameter in Marquardt's method", 1999 (how the damping changes).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.transforms.control import while_loop
from mlc.frontends.array.transforms.derivatives.jacobians import jacfwd
from mlc.frontends.array.transforms.derivatives.linear_maps import vjp
from mlc.scipy.optimize.implicit import Function, OptimizeResult, with_implicit_derivative
from mlc.scipy.vectors import raveled

DAMPING, MOST_DAMPING = 1e-3, 1e12


class Limits(NamedTuple):
    """When the search ends: relative decrease of the cost, relative length of a step, largest element of the gradient,
    number of steps."""

    ftol: float
    xtol: float
    gtol: float
    steps: int


class State(NamedTuple):
    """Point, residuals, Jacobian, scales of the unknowns, damping and its next factor, steps, and whether the last step
    was so short, or lowered the cost so little, that the search ends."""

    x: Array
    residuals: Array
    jacobian: Array
    scales: Array
    damping: Array
    factor: Array
    steps: Array
    ended: Array


def least_squares(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    ftol: float = 1e-8,
    xtol: float = 1e-8,
    gtol: float = 1e-8,
    max_nfev: int | None = None,
) -> OptimizeResult:
    """``x`` where half the sum of squares of ``fun(x, *args)`` is least near ``x0``; both are trees of real arrays.

    The result's ``fun`` are the residuals. It ends where a step lowers the sum by less than ``ftol`` of it, is shorter
    than ``xtol`` of ``x``, or no element of the gradient is above ``gtol`` (all at least ε of the type), or after
    ``max_nfev`` (100 n) steps. There may be fewer residuals than unknowns. The derivative of ``x`` by ``args``, and by
    what ``fun`` reads from around it, is implicit, in both modes, and solves with the Hessian [n, n]; that by ``x0`` is
    0.

    Raises:
        InputError: a tree without arrays, complex arrays, or open dimensions.
    """
    start, unravel = raveled(x0)
    shapes: list[Any] = []

    def residuals(x: Array) -> Array:
        values, as_returned = raveled(fun(unravel(x), *args))
        shapes.append(as_returned)
        return values.astype(x.dtype)

    least = float(mnp.finfo(start.dtype).eps)
    most = 100 * int(start.shape[0]) if max_nfev is None else max_nfev  # type: ignore[arg-type]
    if most < 0:
        raise InputError(f"least_squares cannot take {most} steps", hint="Give max_nfev of 0 or more")
    limits = Limits(max(ftol, least), max(xtol, least), max(gtol, least), most)
    solve = lambda f, x: _levenberg_marquardt(f, x, limits)  # noqa: E731
    x, (values, success, count) = with_implicit_derivative(residuals, solve, start, _slope)
    return OptimizeResult(unravel(x), shapes[-1](values), success, count)


def _slope(f: Function) -> Function:
    """The gradient of half the sum of squares."""

    def slope(x: Array) -> Array:
        value, pullback = vjp(f, x)
        found: Array = pullback(value)[0]
        return found

    return slope


def _levenberg_marquardt(f: Function, x: Array, limits: Limits) -> tuple[Array, tuple[Array, Array, Array]]:
    jacobian = jacfwd(f)
    first = jacobian(x)
    one = mnp.ones_like(x[0])
    start = State(x, f(x), first, _scales(first, 0 * x), DAMPING * one, 2 * one, mnp.asarray(0), one < 0)
    flat = lambda s: mnp.max(mnp.abs(s.residuals @ s.jacobian)) <= limits.gtol  # noqa: E731
    going = lambda s: ~s.ended & ~flat(s) & (s.steps < limits.steps) & (s.damping < MOST_DAMPING)  # noqa: E731
    found = while_loop(going, lambda s: _step(f, jacobian, s, limits), start)
    return found.x, (found.residuals, found.ended | flat(found), found.steps)


def _step(f: Function, jacobian: Callable[[Array], Array], s: State, limits: Limits) -> State:
    direction = _damped(s)
    x = s.x + direction
    residuals = f(x)
    before, after = _square(s.residuals), _square(residuals)
    predicted = before - _square(s.residuals + s.jacobian @ direction)
    better = after < before
    gain = mnp.where(better, (before - after) / mnp.where(predicted > 0, predicted, before), 0.0)
    small = _square(s.scales * direction) <= limits.xtol**2 * _square(s.scales * s.x)
    little = better & (before - after <= limits.ftol * before) & (predicted <= limits.ftol * before)
    at = mnp.where(better, x, s.x)
    slopes = jacobian(at)
    damping = s.damping * mnp.where(better, mnp.maximum(1 / 3, 1 - (2 * gain - 1) ** 3), s.factor)
    return State(
        at, mnp.where(better, residuals, s.residuals), slopes, _scales(slopes, s.scales), damping,
        mnp.where(better, 2.0, 2 * s.factor), s.steps + 1, small | little,
    )  # fmt: skip


def _damped(s: State) -> Array:
    """The step with the least ``|r + J p|² + damping |scales p|²``, by a QR factorization."""
    damped = mnp.concat([s.jacobian, mnp.diag(mnp.sqrt(s.damping) * s.scales)])
    q, r = mnp.linalg.qr(damped)
    return -mnp.linalg.solve(r, q[: s.residuals.shape[0]].T @ s.residuals)


def _scales(jacobian: Array, before: Array) -> Array:
    """The largest norm of each column so far; 1 where all were 0."""
    norms = mnp.maximum(mnp.sqrt(mnp.sum(jacobian * jacobian, axis=0)), before)
    return mnp.where(norms > 0, norms, 1.0)


def _square(x: Array) -> Array:
    return mnp.sum(x * x)
