"""Shapes, padding, slices and further elementwise functions by the names and parameters of ``jax.lax``."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import mlc.numpy as mnp
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.elementwise import convert
from mlc.frontends.array.special import bessel, gammas, incomplete
from mlc.frontends.array.transforms.scans import associative_scan


def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Array:
    """``operand`` with ``padding_value`` before, after and between its elements along each axis; negative numbers
    before and after cut elements."""
    x = as_array(operand)
    value = convert(as_array(padding_value, x.element), x.element)
    for axis, (low, high, between) in enumerate(padding_config):
        x = _spread(x, value, axis, between) if between and x.shape[axis] else x
        x = _cut(x, axis, max(-low, 0), max(-high, 0))
        sides = [mnp.broadcast_to(value, _with_extent(x, axis, max(n, 0))) for n in (low, high)]
        x = mnp.concatenate([sides[0], x, sides[1]], axis=axis) if max(low, high) > 0 else x
    return x


def _spread(x: Array, value: Array, axis: int, between: int) -> Array:
    wide = mnp.expand_dims(x, axis=axis + 1)
    filled = mnp.concatenate([wide, mnp.broadcast_to(value, _with_extent(wide, axis + 1, between))], axis=axis + 1)
    extent = int(x.shape[axis]) * (between + 1)  # type: ignore[arg-type]
    return _cut(mnp.reshape(filled, _with_extent(x, axis, extent)), axis, 0, between)


def _with_extent(x: Array, axis: int, extent: int) -> list[Any]:
    return [extent if n == axis else d for n, d in enumerate(x.shape)]


def _cut(x: Array, axis: int, low: int, high: int) -> Array:
    if not low and not high:
        return x
    end = max(int(x.shape[axis]) - high, low)  # type: ignore[arg-type]
    found: Array = x[(*[builtins.slice(None)] * axis, builtins.slice(low, end))]
    return found


def slice(
    operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> Array:
    """The elements from a start to before a limit along each axis."""
    x = as_array(operand)
    steps = strides or [1] * x.ndim
    found: Array = x[tuple(builtins.slice(*each) for each in zip(start_indices, limit_indices, steps, strict=True))]
    return found


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """Parts of the given extents, one after the other along ``axis``."""
    ends = [sum(sizes[: n + 1]) for n in range(len(sizes) - 1)]
    return list(mnp.split(as_array(operand), ends, axis=axis))


def broadcast(operand: Any, sizes: Sequence[int]) -> Array:
    """``operand`` repeated along new leading dimensions."""
    x = as_array(operand)
    return mnp.broadcast_to(x, (*sizes, *x.shape))


def broadcast_in_dim(operand: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int]) -> Array:
    """``operand`` in ``shape``, where its dimensions are those of ``broadcast_dimensions``."""
    x = as_array(operand)
    extents = {at: x.shape[n] for n, at in enumerate(broadcast_dimensions)}
    return mnp.broadcast_to(mnp.reshape(x, [extents.get(n, 1) for n in range(len(shape))]), shape)


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """The dimensions from a start to before a stop as one."""
    x = as_array(operand)
    first, last, _ = builtins.slice(start_dimension, stop_dimension).indices(x.ndim)
    return mnp.reshape(x, (*x.shape[:first], -1, *x.shape[last:]))


def complex(x: Any, y: Any) -> Array:
    """``x + i y``."""
    return as_array(x) + 1j * as_array(y)


def reduce(operands: Any, init_values: Any, computation: Callable[[Any, Any], Any], dimensions: Sequence[int]) -> Array:
    """The elements along ``dimensions`` and ``init_values`` combined by ``computation``, which is associative."""
    x = as_array(operands)
    start = convert(as_array(init_values, x.element), x.element)
    kept = [n for n in range(x.ndim) if n not in [d % x.ndim for d in dimensions]]
    rows = mnp.transpose(x, [*[d % x.ndim for d in dimensions], *kept])
    rows = mnp.reshape(rows, (-1, *[x.shape[n] for n in kept]))
    if not rows.shape[0]:
        return mnp.broadcast_to(start, rows.shape[1:])
    found: Array = computation(start, associative_scan(computation, rows)[-1])
    return found


def shift_right_arithmetic(x: Any, y: Any) -> Array:
    """``x >> y`` with the sign."""
    return mnp.right_shift(x, y)


betainc, igamma, igammac = incomplete.betainc, incomplete.gammainc, incomplete.gammaincc
zeta, polygamma, bessel_i0e, bessel_i1e = gammas.zeta, gammas.polygamma, bessel.i0e, bessel.i1e
reciprocal, stack, unstack, broadcast_shapes = mnp.reciprocal, mnp.stack, mnp.unstack, mnp.broadcast_shapes

PUBLIC = (
    *("bessel_i0e", "bessel_i1e", "betainc", "broadcast", "broadcast_in_dim", "broadcast_shapes", "collapse"),
    *("complex", "igamma", "igammac", "pad", "polygamma", "reciprocal", "reduce", "shift_right_arithmetic", "slice"),
    *("split", "stack", "unstack", "zeta"),
)
