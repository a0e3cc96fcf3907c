"""Parameters of a curve through points. Source: ``scipy.optimize.curve_fit``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.derivatives.jacobians import jacfwd
from mlc.scipy.optimize.least_squares import least_squares


def curve_fit(
    f: Callable[..., Any],
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    **options: Any,
) -> tuple[Array, Array]:
    """The parameters ``p`` [n] with the least squares of ``f(xdata, *p) - ydata``, and their covariance [n, n].

    ``p0`` are the parameters to begin with, ones by default; ``sigma`` the standard deviations of ``ydata``, of its
    shape, or their covariance matrix; ``absolute_sigma`` says that these are absolute. Other options are those of
    ``least_squares``. Both results have derivatives, by ``ydata`` too.

    Raises:
        InputError: the number of parameters is not known, or ``sigma`` has another shape.
    """
    points = as_array(ydata)
    start = as_array(p0) if p0 is not None else mnp.ones(_parameters(f), dtype=points.dtype)
    weighted = _weights(sigma, points)

    def residuals(p: Array) -> Array:
        return weighted(mnp.ravel(as_array(f(xdata, *(p[n] for n in range(len(p)))) - points)))

    found = least_squares(residuals, start, **options)
    jacobian = jacfwd(residuals)(found.x)
    covariance = mnp.linalg.inv(jacobian.T @ jacobian)
    freedom = len(found.fun) - len(start)
    if sigma is None or not absolute_sigma:
        rest = residuals(found.x)
        covariance = covariance * (mnp.sum(rest * rest) / freedom if freedom > 0 else mnp.inf)
    return found.x, covariance


def _parameters(f: Callable[..., Any]) -> int:
    """How many parameters a function has after the first."""
    given = list(inspect.signature(f).parameters.values())
    if any(each.kind is each.VAR_POSITIONAL for each in given) or len(given) < 2:
        raise InputError("curve_fit cannot tell how many parameters f has", hint="Give p0, an array of as many")
    return len(given) - 1


def _weights(sigma: Any, points: Array) -> Callable[[Array], Array]:
    """What makes residuals of equal, independent deviations."""
    if sigma is None:
        return lambda r: r
    deviations = as_array(sigma)
    if deviations.shape == points.shape:
        return lambda r: r / mnp.ravel(deviations)
    if deviations.shape == (points.size, points.size):
        lower = mnp.linalg.cholesky(deviations)
        return lambda r: mnp.linalg.solve(lower, r)
    what = f"curve_fit: sigma has shape {list(deviations.shape)} and ydata {list(points.shape)}"
    raise InputError(what, hint="Give a deviation for each point, or their covariance matrix")
