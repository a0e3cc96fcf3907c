"""Signals and polynomials: convolution, interpolation, differences, areas. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.compositions.arranging import ravel
from mlc.frontends.array.functions.creation import arange, zeros
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert, formulas, is_complex, operands, where
from mlc.frontends.array.functions.reductions import Axis, axes_of, sum
from mlc.frontends.array.functions.running import cumsum
from mlc.frontends.array.functions.shaping import broadcast_to, concat, moveaxis, reshape
from mlc.frontends.array.functions.sorting import searchsorted
from mlc.frontends.array.selecting.taking import take
from mlc.frontends.array.statements.compute import compute, reduce


def diff(x: Any, /, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """The differences of neighbours along ``axis``, ``n`` times, with arrays before and after joined to it at first."""
    whole = as_array(x)
    ends = (each if each is None else _beside(each, whole, axis) for each in (prepend, append))
    given = concat([each for each in (next(ends), whole, next(ends)) if each is not None], axis=axis)
    before = (slice(None),) * axes_of(given, axis)[0]
    for _ in range(n):
        after, first = given[(*before, slice(1, None))], given[(*before, slice(None, -1))]
        given = after ^ first if given.element == "i1" else after - first
    return given


def _beside(value: Any, x: Array, axis: int) -> Array:
    """An array to join to ``x`` along ``axis``; a number stands for one element a line."""
    given = as_array(value, x.element)
    at = axes_of(x, axis)[0]
    return given if given.ndim else broadcast_to(given, [1 if n == at else d for n, d in enumerate(x.shape)])


def convolve(x1: Any, x2: Any, /, mode: str = "full") -> Array:
    """The convolution of two vectors: ``full``, of the longer one's length (``same``), or where both overlap fully
    (``valid``).

    Raises:
        InputError: no vectors, empty ones, or another mode.
    """
    a, b = operands(x1, x2)
    if a.ndim != 1 or b.ndim != 1 or not len(a) or not len(b) or mode not in ("full", "same", "valid"):
        what = f"mlc.numpy.convolve cannot take shapes {a.shape} and {b.shape} in mode '{mode}'"
        raise InputError(what, hint="Give two vectors; the modes are full, same and valid")
    a, b = (b, a) if len(b) > len(a) else (a, b)
    n, m = len(a), len(b)
    if is_complex(a):
        return formulas().bilinear(lambda x, y: convolve(x, y, mode), a, b)
    low = {"full": m - 1, "same": m // 2, "valid": 0}[mode]
    high = {"full": m - 1, "same": m - 1 - m // 2, "valid": 0}[mode]
    padded = concat([zeros((low,), dtype=a.dtype), a, zeros((high,), dtype=a.dtype)])
    count = n + low + high - m + 1
    return compute((count,), lambda i: reduce("add", (m,), lambda k: padded[i + (m - 1) - k] * b[k]))


def correlate(x1: Any, x2: Any, /, mode: str = "valid") -> Array:
    """The cross-correlation of two vectors: the convolution with the conjugate of ``x2`` from back to front."""
    a, b = operands(x1, x2)
    found = convolve(a, FUNCTIONS["conj"](b)[::-1], mode)
    if mode == "same" and len(b) > len(a) and len(b) % 2 == 0:
        whole = convolve(a, FUNCTIONS["conj"](b)[::-1], "full")
        first = (len(a) - 1) // 2 + (len(a) + 1) % 2
        return whole[first : first + len(b)]
    return found


def interp(x: Any, xp: Any, fp: Any, /, left: Any = None, right: Any = None, period: Any = None) -> Array:
    """Linear interpolation between the points (``xp``, ``fp``), with ``xp`` in ascending order. Outside of them:
    ``left`` and ``right``, by default the end values. With ``period`` the points repeat.
    """
    at, xs, ys = operands(x, xp, fp, lowest=2)
    if period is not None:
        at, xs = at % period, xs % period
        order = as_array(xs).argsort()
        xs, ys = take(xs, order, axis=0), take(ys, order, axis=0)
        xs = concat([xs[-1:] - period, xs, xs[:1] + period])
        ys = concat([ys[-1:], ys, ys[:1]])
    if len(xs) == 1:
        inside = ys[0] + 0 * at
    else:
        upper = FUNCTIONS["clip"](searchsorted(xs, at, side="right"), 1, len(xs) - 1)
        x0, x1, y0, y1 = (each[index] for each in (xs, ys) for index in (upper - 1, upper))
        part = where(x1 == x0, 0.0, (at - x0) / where(x1 == x0, 1.0, x1 - x0))
        inside = where(FUNCTIONS["isnan"](at), math.nan, y0 + FUNCTIONS["clip"](part, 0.0, 1.0) * (y1 - y0))
    if period is not None:
        return inside
    inside = where(at < xs[0], ys[0] if left is None else left, inside)
    return where(at > xs[-1], ys[-1] if right is None else right, inside)


def gradient(x: Any, /, *spacing: Any, axis: Axis = None, edge_order: int = 1) -> Any:
    """Central differences, one-sided ones at the ends, along each axis: an array, or a list of several.

    ``spacing``: a number, one an axis, or the coordinates along an axis.

    Raises:
        InputError: ``edge_order`` is not 1 or 2, or an axis has fewer than two elements.
    """
    (given,) = operands(x, lowest=2)
    axes = axes_of(given, axis)
    steps = spacing * len(axes) if len(spacing) == 1 else spacing or (1.0,) * len(axes)
    if edge_order not in (1, 2) or len(steps) != len(axes) or any(given.shape[a] <= edge_order for a in axes):  # type: ignore[operator]
        hint = "edge_order is 1 or 2; an axis has more elements than that; give one spacing, or one an axis"
        raise InputError(f"mlc.numpy.gradient cannot take an array of shape {given.shape} so", hint=hint)
    found = [moveaxis(_slopes(moveaxis(given, a, 0), h, edge_order), 0, a) for a, h in zip(axes, steps, strict=True)]
    return found[0] if len(found) == 1 else found


def _slopes(y: Array, spacing: Any, edge_order: int) -> Array:
    """Slopes along the first axis. With unequal distances a, b on both sides, the one-sided slopes are weighted by b /
    (a + b).
    """
    h = as_array(spacing, y.element)
    wide = reshape(diff(h), (-1, *[1] * (y.ndim - 1))) if h.ndim else h
    lines = diff(y, axis=0) / wide
    a, b = (wide[:-1], wide[1:]) if h.ndim else (h, h)
    middle = (lines[:-1] * b + lines[1:] * a) / (a + b)
    first, last = lines[:1], lines[-1:]
    if edge_order == 2:
        a0, b0 = (wide[:1], wide[1:2]) if h.ndim else (h, h)
        a1, b1 = (wide[-2:-1], wide[-1:]) if h.ndim else (h, h)
        first = lines[:1] + (lines[:1] - lines[1:2]) * a0 / (a0 + b0)
        last = lines[-1:] + (lines[-1:] - lines[-2:-1]) * b1 / (a1 + b1)
    return concat([first, middle, last], axis=0)


def trapezoid(y: Any, x: Any = None, /, dx: Any = 1.0, axis: int = -1) -> Array:
    """The area below points, by trapezoids."""
    (given,) = operands(y, lowest=2)
    rows = moveaxis(given, axis, -1)
    wide = as_array(dx, rows.element)
    if x is not None:
        at = as_array(x)
        wide = diff(moveaxis(at, axis, -1) if at.ndim > 1 else at)
    return sum((rows[..., 1:] + rows[..., :-1]) * wide, axis=-1) / 2


def ediff1d(x: Any, /, to_end: Any = None, to_begin: Any = None) -> Array:
    """The differences of neighbours of the flat array, with elements before and after them."""
    found = diff(ravel(x))
    ends = (None if each is None else convert(ravel(each), found.element) for each in (to_begin, to_end))
    before, after = ends
    return concat([each for each in (before, found, after) if each is not None])


def unwrap(p: Any, /, discont: Any = None, axis: int = -1, *, period: float = 2 * math.pi) -> Array:
    """Angles along ``axis`` without jumps of more than half a ``period``."""
    (given,) = operands(p, lowest=2)
    rows = moveaxis(given, axis, -1)
    steps, half = diff(rows), period / 2
    near = (steps + half) % period - half
    near = where((near == -half) & (steps > 0), half, near)
    change = near - steps
    least = half if discont is None else discont
    change = where(FUNCTIONS["abs"](steps) < least, 0.0, change)
    return moveaxis(concat([rows[..., :1], rows[..., 1:] + cumsum(change, axis=-1)], axis=-1), -1, axis)


def polyval(p: Any, x: Any, /) -> Array:
    """The polynomial with coefficients ``p``, the highest power first, at ``x``: Horner's rule."""
    coefficients, at = operands(p, x)
    found = at * 0
    for n in range(len(coefficients)):
        found = found * at + coefficients[n]
    return found


def polyadd(a1: Any, a2: Any, /) -> Array:
    """The sum of two polynomials."""
    a, b = operands(a1, a2)
    size = max(len(a), len(b))
    a, b = (concat([zeros((size - len(p),), dtype=p.dtype), p]) for p in (a, b))
    return a + b


def polysub(a1: Any, a2: Any, /) -> Array:
    """The difference of two polynomials."""
    return polyadd(a1, FUNCTIONS["negative"](as_array(a2)))


def polymul(a1: Any, a2: Any, /) -> Array:
    """The product of two polynomials."""
    return convolve(a1, a2)


def polyder(p: Any, /, m: int = 1) -> Array:
    """The derivative of a polynomial, ``m`` times."""
    given = as_array(p)
    for _ in range(m):
        given = given[:-1] * convert(arange(len(given) - 1, 0, -1), given.element)
    return given


def polyint(p: Any, /, m: int = 1, k: Sequence[Any] | float | None = None) -> Array:
    """The integral of a polynomial, ``m`` times; with constants ``k``."""
    (given,) = operands(p, lowest=2)
    constants = [0.0] * m if k is None else [k] * m if not isinstance(k, Sequence) else list(k)
    for each in constants:
        last = reshape(as_array(each, given.element), (1,))
        given = concat([given / convert(arange(len(given), 0, -1), given.element), last])
    return given


PUBLIC = (
    *(
        "diff",
        "convolve",
        "correlate",
        "interp",
        "gradient",
        "trapezoid",
        "ediff1d",
        "unwrap",
        "polyval",
        "polyadd",
        "polysub",
    ),
    *("polymul", "polyder", "polyint"),
)
