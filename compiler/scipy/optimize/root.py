"""Roots of systems of equations by Newton's method. Source: Dennis and Schnabel, "Numerical methods for unconstrained
optimization and nonlinear equations", 1996, chapter 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.transforms.control import while_loop
from mlc.frontends.array.transforms.derivatives.jacobians import jacfwd
from mlc.scipy.optimize.implicit import Function, OptimizeResult, with_implicit_derivative
from mlc.scipy.vectors import norm, raveled

HALVINGS = 30


def root(
    fun: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), *, tol: float | None = None, maxiter: int = 100
) -> OptimizeResult:
    """``x`` with ``fun(x, *args) = 0``, found from ``x0``: a tree of real arrays, of which ``fun`` returns as many
    numbers as it takes.

    Newton's method with the Jacobian by forward mode; a step is halved until the residual gets smaller. It ends where
    no equation is off by more than ``tol`` (√ε of the type), or no step helps. Derivatives by ``args``, and by what
    ``fun`` reads from around it, are implicit, in both modes; those by ``x0`` are 0.

    Raises:
        InputError: ``fun`` returns another number of numbers.
    """
    start, unravel = raveled(x0)
    shapes: list[Any] = []

    def zeros(x: Array) -> Array:
        values, as_returned = raveled(fun(unravel(x), *args))
        if values.shape != x.shape:
            what = f"root: {x.shape[0]} unknowns have {values.shape[0]} equations"
            raise InputError(what, hint="Return one number for each unknown")
        shapes.append(as_returned)
        return values.astype(x.dtype)

    limit = float(mnp.finfo(start.dtype).eps) ** 0.5 if tol is None else tol
    x, (value, count) = with_implicit_derivative(zeros, lambda f, x: _newton(f, x, limit, maxiter), start)
    return OptimizeResult(unravel(x), shapes[-1](value), mnp.max(mnp.abs(value)) <= limit, count)


def _newton(f: Function, x: Array, limit: float, most: int) -> tuple[Array, tuple[Array, Array]]:
    """A root, and with it the residual and the number of steps. One more step follows the last that was needed."""

    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        n, x, value, before = state
        direction = -mnp.linalg.solve(jacfwd(f)(x), value)
        x, found = _searched(f, x, value, direction)
        return n + 1, x, found, norm(value)

    def goes_on(state: tuple[Array, ...]) -> Array:
        n, _, value, before = state
        return (n < most) & (mnp.max(mnp.abs(value)) > 0) & (norm(value) < before) & ~(before <= limit)

    value = f(x)
    start = (mnp.asarray(0), x, value, norm(value) * 0 + mnp.inf)
    n, x, value, _ = while_loop(goes_on, step, start)
    return x, (value, n)


def _searched(f: Function, x: Array, value: Array, direction: Array) -> tuple[Array, Array]:
    """The first of the points at 1, 1/2, 1/4, … of a step whose residual is smaller; ``x`` where there is none."""

    def halved(state: tuple[Array, ...]) -> tuple[Array, ...]:
        n, length, _, _ = state
        at = x + length / 2 * direction
        return n + 1, length / 2, at, f(at)

    def goes_on(state: tuple[Array, ...]) -> Array:
        n, length, _, found = state
        return (n < HALVINGS) & ~(norm(found) <= (1 - 1e-4 * length) * norm(value))

    at = x + direction
    start = (mnp.asarray(0), mnp.ones_like(x[0]), at, f(at))
    _, _, at, found = while_loop(goes_on, halved, start)
    better = norm(found) < norm(value)
    return mnp.where(better, at, x), mnp.where(better, found, value)
