"""``mlc.scipy.interpolate``: piecewise cubic polynomials of one variable, and interpolation on grids.

Source: SciPy; C. de Boor, "A practical guide to splines", 1978; F. Fritsch and J. Butland, 1984 (monotone cubics).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.elementwise import operands
from mlc.frontends.array.missing import missing


class CubicHermiteSpline:
    """The cubic polynomials with values ``y`` [n, …] and slopes ``dydx`` at ``x`` [n], which ascends; called, they are
    evaluated, or their derivative of order ``nu``. Beyond the ends the outer ones go on.

    Raises:
        InputError: shapes do not fit, or fewer than two points.
    """

    def __init__(self, x: Any, y: Any, dydx: Any) -> None:
        self.x, self.y, self.slopes = _points(x, y, dydx)

    def __call__(self, x: Any, nu: int = 0) -> Array:
        """The values at ``x``, of the shape of ``x`` and of the dimensions of ``y`` after the first."""
        at = as_array(x, self.x.element).astype(self.x.dtype)
        upper = mnp.clip(mnp.searchsorted(self.x, mnp.ravel(at), side="right"), 1, self.x.shape[0] - 1)
        width = _columns(self.x[upper] - self.x[upper - 1], self.y.ndim)
        t = _columns(mnp.ravel(at) - self.x[upper - 1], self.y.ndim)
        c = _coefficients(self.y[upper - 1], self.y[upper], self.slopes[upper - 1], self.slopes[upper], width)
        for _ in range(nu):
            c = [n * each for n, each in enumerate(c)][1:] or [c[0] * 0]
        total = c[-1] + 0 * t
        for each in reversed(c[:-1]):
            total = total * t + each
        return mnp.reshape(total, (*at.shape, *self.y.shape[1:]))


def _points(*given: Any) -> list[Array]:
    x, y, *rest = operands(*given, lowest=2)
    if x.ndim != 1 or y.ndim < 1 or x.shape[0] != y.shape[0] or x.shape[0] < 2:  # type: ignore[operator]
        what = f"Points at shape {list(x.shape)} cannot have values of shape {list(y.shape)}"
        raise InputError(what, hint="Give x [n] and y [n, …] with n of 2 or more")
    return [x, y, *rest]


def _columns(x: Array, rank: int) -> Array:
    return mnp.reshape(x, (-1, *[1] * (rank - 1)))


def _coefficients(y0: Array, y1: Array, d0: Array, d1: Array, width: Array) -> list[Array]:
    """By powers of the distance from the lower point."""
    rise = (y1 - y0) / width
    return [y0, d0, (3 * rise - 2 * d0 - d1) / width, (d0 + d1 - 2 * rise) / (width * width)]


class CubicSpline(CubicHermiteSpline):
    """The cubic polynomials through ``y`` [n, …] at ``x`` [n] with two continuous derivatives. ``bc_type`` says what
    holds at the ends: "not-a-knot", "natural" (no second derivative), "clamped" (no slope) or "periodic".

    Raises:
        InputError: another ``bc_type``, or shapes that do not fit.
    """

    def __init__(self, x: Any, y: Any, bc_type: str = "not-a-knot") -> None:
        if bc_type not in ENDS:
            raise InputError(f"CubicSpline has no bc_type {bc_type!r}", hint=f"Give {', '.join(ENDS)}")
        at, values = _points(x, y)
        self.periodic = bc_type == "periodic"
        super().__init__(at, values, _slopes(at, values, bc_type))

    def __call__(self, x: Any, nu: int = 0) -> Array:
        """As ``CubicHermiteSpline``; of a periodic spline in the period that has ``x``."""
        at = as_array(x, self.x.element)
        return super().__call__(self.x[0] + (at - self.x[0]) % (self.x[-1] - self.x[0]) if self.periodic else at, nu)


ENDS = ("not-a-knot", "natural", "clamped", "periodic")


def _slopes(x: Array, y: Array, kind: str) -> Array:
    """The slopes of which the second derivatives are continuous: one linear system."""
    n = int(x.shape[0])  # type: ignore[arg-type]
    flat = mnp.reshape(y, (n, -1))
    h, rise = x[1:] - x[:-1], (flat[1:] - flat[:-1]) / (x[1:] - x[:-1])[:, None]
    if n == 2 and kind != "clamped":
        return mnp.reshape(mnp.concatenate([rise, rise], axis=0), y.shape)
    kind = "parabola" if kind == "not-a-knot" and n == 3 else kind
    at = np.arange(n - 2)
    inner = mnp.zeros((n - 2, n), dtype=h.dtype).at[at, at].set(h[1:]).at[at, at + 2].set(h[:-1])
    inner = inner.at[at, at + 1].set(2 * (h[1:] + h[:-1]))
    right = 3 * (h[1:, None] * rise[:-1] + h[:-1, None] * rise[1:])
    (first, low), (last, high) = _ends(h, rise, n, kind)
    system = mnp.concatenate([first[None], inner, last[None]], axis=0)
    sides = mnp.concatenate([low[None], right, high[None]], axis=0)
    return mnp.reshape(mnp.linalg.solve(system, sides), y.shape)


def _row(n: int, *elements: tuple[int, Array]) -> Array:
    """[n]: zeros but for numbers that are added at indices."""
    row = mnp.zeros((n,), dtype=elements[0][1].dtype)
    for index, value in elements:
        row = row.at[index % n].add(value)
    return row


def _ends(h: Array, rise: Array, n: int, kind: str) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """The first and the last equation, each with its right side."""
    one, a, b = 1 + 0 * h[0], h[0], h[-1]
    if kind == "clamped":
        return (_row(n, (0, one)), 0 * rise[0]), (_row(n, (n - 1, one)), 0 * rise[0])
    if kind == "natural":
        return (_row(n, (0, 2 * one), (1, one)), 3 * rise[0]), (_row(n, (n - 1, 2 * one), (n - 2, one)), 3 * rise[-1])
    if kind == "periodic":
        around = _row(n, (0, 2 * (a + b)), (1, b), (n - 2, a)), 3 * (a * rise[-1] + b * rise[0])
        return around, (_row(n, (0, one), (n - 1, -one)), 0 * rise[0])
    if kind == "parabola":
        return (_row(n, (0, one), (1, one)), 2 * rise[0]), (_row(n, (1, one), (2, one)), 2 * rise[1])
    c, d = h[0] + h[1], h[-1] + h[-2]
    low = ((a + 2 * c) * h[1] * rise[0] + a * a * rise[1]) / c
    high = ((b + 2 * d) * h[-2] * rise[-1] + b * b * rise[-2]) / d
    return (_row(n, (0, h[1]), (1, c)), low), (_row(n, (n - 1, h[-2]), (n - 2, d)), high)


class PchipInterpolator(CubicHermiteSpline):
    """The cubic polynomials through ``y`` [n, …] at ``x`` [n] that are monotone where the values are: the slope at a
    point is a harmonic mean, 0 at extremes."""

    def __init__(self, x: Any, y: Any) -> None:
        at, values = _points(x, y)
        super().__init__(at, values, _monotone(at, values))


def _monotone(x: Array, y: Array) -> Array:
    h = _columns(x[1:] - x[:-1], y.ndim)
    rise = (y[1:] - y[:-1]) / h
    if x.shape[0] == 2:
        return mnp.concatenate([rise, rise], axis=0)
    first, second = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    same = rise[1:] * rise[:-1] > 0
    low, high = mnp.where(same, rise[:-1], 1.0), mnp.where(same, rise[1:], 1.0)
    inner = mnp.where(same, (first + second) / (first / low + second / high), 0.0)
    ends = [_one_sided(*each) for each in ((h[0], h[1], rise[0], rise[1]), (h[-1], h[-2], rise[-1], rise[-2]))]
    return mnp.concatenate([ends[0][None], inner, ends[1][None]], axis=0)


def _one_sided(h0: Array, h1: Array, m0: Array, m1: Array) -> Array:
    slope = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    bent = (mnp.sign(m0) != mnp.sign(m1)) & (mnp.abs(slope) > 3 * mnp.abs(m0))
    return mnp.where(mnp.sign(slope) != mnp.sign(m0), 0.0, mnp.where(bent, 3 * m0, slope))


class RegularGridInterpolator:
    """Interpolation of ``values`` on the grid of ``points``, an ascending vector for each axis. ``method`` is "linear"
    or "nearest". Beyond the grid there is ``fill_value``, or what the cells at the edge say where it is None.

    Raises:
        InputError: another method, or shapes that do not fit.
    """

    def __init__(
        self, points: Sequence[Any], values: Any, method: str = "linear", bounds_error: bool = False,
        fill_value: Any = float("nan"),
    ) -> None:  # fmt: skip
        self.values, self.method, self.fill = as_array(values), method, fill_value
        self.values = operands(self.values, lowest=2)[0]
        self.points = [as_array(each).astype(self.values.dtype) for each in points]
        sizes = [each.shape[0] for each in self.points]
        if method not in ("linear", "nearest") or sizes != list(self.values.shape[: len(sizes)]) or bounds_error:
            what = f"A grid of {sizes} cannot interpolate shape {list(self.values.shape)} by method {method!r}"
            raise InputError(what, hint="Methods are linear and nearest; there is no bounds_error in compiled programs")

    def __call__(self, xi: Any) -> Array:
        """The values at ``xi`` […, axes], or at a tuple of coordinates that broadcast."""
        if isinstance(xi, tuple):
            xi = mnp.stack(mnp.broadcast_arrays(*map(as_array, xi)), axis=-1)
        at = as_array(xi, self.values.element).astype(self.values.dtype)
        sides, outside = [], at[..., 0] != at[..., 0]
        for n, line in enumerate(self.points):
            x = at[..., n]
            sides.append(_cell(line, x, self.method))
            outside = outside | (x < line[0]) | (x > line[-1])
        rank = self.values.ndim - len(self.points)
        total: Any = 0
        for corner in itertools.product(*sides):
            weight: Any = 1
            for _, each in corner:
                weight = weight * each
            weight = mnp.reshape(weight, (*weight.shape, *[1] * rank))
            total = total + weight * self.values[tuple(index for index, _ in corner)]
        if self.fill is None:
            return total
        return mnp.where(mnp.reshape(outside, (*outside.shape, *[1] * rank)), self.fill, total)


def _cell(line: Array, x: Array, method: str) -> list[tuple[Array, Array]]:
    """The indices of the points beside ``x``, and their weights."""
    flat = mnp.searchsorted(line, mnp.ravel(x), side="right")
    upper = mnp.reshape(mnp.clip(flat, 1, line.shape[0] - 1), x.shape)
    part = (x - line[upper - 1]) / (line[upper] - line[upper - 1])
    if method == "linear":
        return [(upper - 1, 1 - part), (upper, part)]
    return [(mnp.where(part <= 0.5, upper - 1, upper), mnp.ones_like(x))]


__all__ = ["CubicHermiteSpline", "CubicSpline", "PchipInterpolator", "RegularGridInterpolator"]


def __getattr__(name: str) -> Any:
    raise missing("mlc.scipy.interpolate", name, __all__)
