"""``mlc.scipy.ndimage``: samples and smoothing of images. Source: SciPy; ``jax.scipy.ndimage``."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array, from_numpy
from mlc.frontends.array.functions.elementwise import operands
from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish
from mlc.lax.windows import conv_general_dilated

MODES = {"constant": "constant", "nearest": "edge", "wrap": "wrap", "mirror": "reflect", "reflect": "symmetric"}
"""SciPy's names of what is outside of an image, and those of ``pad``."""


def map_coordinates(input: Any, coordinates: Any, order: int, mode: str = "constant", cval: Any = 0.0) -> Array:
    """The elements of ``input`` at ``coordinates``, an array for each axis: the nearest ones (``order`` 0), or
    interpolated linearly (1). ``mode`` says what is outside: "constant" (``cval``), "nearest", "wrap", "mirror" or
    "reflect".

    Raises:
        InputError: another order or mode, or another number of coordinates than axes.
    """
    x = as_array(input)
    at = [operands(each, lowest=2)[0] for each in coordinates]
    if order not in (0, 1) or mode not in MODES or len(at) != x.ndim:
        what = f"map_coordinates takes no order {order}, mode {mode!r} and {len(at)} coordinates of {x.ndim} axes"
        raise InputError(what, hint=f"Orders are 0 and 1; modes are {', '.join(MODES)}; give coordinates of each axis")
    total: Any = 0
    sides = [_sides(each, int(extent), order, mode) for each, extent in zip(at, x.shape, strict=True)]  # type: ignore[arg-type]
    for corner in itertools.product(*sides):
        value = x[tuple(index for index, _, _ in corner)]
        for _, inside, _ in corner:
            value = mnp.where(inside, value, mnp.astype(as_array(cval), x.dtype))
        weight = corner[0][2]
        for _, _, more in corner[1:]:
            weight = weight * more
        total = total + value * weight
    return total if x.dtype.kind in "fc" else mnp.astype(mnp.round(total), x.dtype)


def _sides(at: Array, extent: int, order: int, mode: str) -> list[tuple[Array, Array, Array]]:
    """Of each element beside the coordinates: its index, whether it is inside, and its weight."""
    if order == 0:
        low = mnp.floor(at + 0.5)
        weighted = [(low, mnp.ones_like(at))]
    else:
        low = mnp.floor(at)
        weighted = [(low, 1 - (at - low)), (low + 1, at - low)]
    found = []
    for index, weight in weighted:
        n = mnp.astype(index, "int64")
        inside = (n >= 0) & (n < extent)
        found.append((_moved(n, extent, mode), inside if mode == "constant" else inside | True, weight))
    return found


def _moved(n: Array, extent: int, mode: str) -> Array:
    """Indices outside as indices inside."""
    if mode == "wrap":
        return n % extent
    if mode == "mirror" and extent > 1:
        turn = 2 * (extent - 1)
        return mnp.where(n % turn < extent, n % turn, turn - n % turn)
    if mode == "reflect":
        turn = 2 * extent
        return mnp.where(n % turn < extent, n % turn, turn - 1 - n % turn)
    return mnp.clip(n, 0, extent - 1)


def correlate1d(input: Any, weights: Any, axis: int = -1, mode: str = "reflect", cval: Any = 0.0) -> Array:
    """The cross-correlation along one axis with ``weights``, of the shape of ``input``; ``mode`` as SciPy's.

    Raises:
        InputError: another mode, or weights of more than one dimension.
    """
    x, w = operands(input, weights, lowest=2)
    if mode not in MODES or w.ndim != 1:
        what = f"correlate1d takes no weights of shape {list(w.shape)} in mode {mode!r}"
        raise InputError(what, hint=f"Give a vector; modes are {', '.join(MODES)}")
    size = int(w.shape[0])  # type: ignore[arg-type]
    rows = mnp.moveaxis(x, axis, -1)
    width = [*[(0, 0)] * (x.ndim - 1), (size // 2, size - 1 - size // 2)]
    options = {"constant_values": cval} if mode == "constant" else {}
    wide = mnp.pad(rows, width, mode=MODES[mode], **options)
    lines = mnp.reshape(wide, (-1, 1, int(wide.shape[-1])))
    found = conv_general_dilated(lines, w[None, None], (1,), "VALID")
    return mnp.moveaxis(mnp.reshape(found, rows.shape), -1, axis)


def gaussian_filter1d(
    input: Any, sigma: float, axis: int = -1, mode: str = "reflect", cval: Any = 0.0, truncate: float = 4.0
) -> Array:
    """``input`` smoothed along one axis by a normal density of the deviation ``sigma``, up to ``truncate`` of it."""
    radius = int(truncate * float(sigma) + 0.5)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    (x,) = operands(input, lowest=2)
    return correlate1d(x, from_numpy(weights / weights.sum()).astype(x.dtype), axis, mode, cval)


def gaussian_filter(
    input: Any, sigma: float | Sequence[float], mode: str = "reflect", cval: Any = 0.0, truncate: float = 4.0
) -> Array:
    """``gaussian_filter1d`` along each axis; ``sigma`` is a number, or one an axis."""
    (x,) = operands(input, lowest=2)
    each = [sigma] * x.ndim if isinstance(sigma, int | float) else [*sigma]
    for axis, width in enumerate(each):
        x = gaussian_filter1d(x, width, axis, mode, cval, truncate) if width > 1e-15 else x
    return x


__all__ = ["correlate1d", "gaussian_filter", "gaussian_filter1d", "map_coordinates"]

publish(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise missing("mlc.scipy.ndimage", name, __all__)
