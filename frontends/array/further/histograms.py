"""Histograms of points of several dimensions. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.compositions.arranging import ravel
from mlc.frontends.array.compositions.statistics import bincount, histogram_bin_edges
from mlc.frontends.array.functions.elementwise import where
from mlc.frontends.array.functions.reductions import sum
from mlc.frontends.array.functions.shaping import reshape, stack
from mlc.frontends.array.functions.sorting import searchsorted
from mlc.frontends.array.linalg.matrices import extent


def histogram2d(
    x: Any, y: Any, /, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> Any:
    """``histogram`` of pairs: [bins of x, bins of y], and the limits along both."""
    given = bins if isinstance(bins, list | tuple) and len(bins) == 2 else (bins, bins)
    counts, sides = _histogram([ravel(x), ravel(y)], given, range, weights, density)
    return counts, *sides


def histogramdd(
    sample: Any, /, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Array, list[Array]]:
    """``histogram`` of points [count, d], or of a list of d vectors: [bins, …], and the limits along each dimension.

    Raises:
        InputError: as many ``bins`` or ranges as there are not dimensions.
    """
    points = stack([ravel(x) for x in sample], axis=1) if isinstance(sample, list | tuple) else as_array(sample)
    points = points[:, None] if points.ndim == 1 else points
    values = [points[:, n] for n in builtin_range(extent(points, 1))]
    given = bins if isinstance(bins, list | tuple) else [bins] * len(values)
    return _histogram(values, given, range, weights, density)


builtin_range = range


def _histogram(
    values: Sequence[Array], bins: Sequence[Any], ranges: Any, weights: Any, density: bool
) -> tuple[Array, list[Array]]:
    spans = [None] * len(values) if ranges is None else ranges
    if not len(values) == len(bins) == len(spans):
        what = f"A histogram of {len(values)} dimensions has {len(bins)} bins and {len(spans)} ranges"
        raise InputError(what, hint="Give one for each dimension")
    sides = [histogram_bin_edges(v, b, r) for v, b, r in zip(values, bins, spans, strict=True)]
    wide, at = [len(limits) for limits in sides], as_array(0)
    for each, limits, size in zip(values, sides, wide, strict=True):
        place = searchsorted(limits, each, side="right") - 1
        place = where(each == limits[-1], size - 2, place)
        at = at * size + where(each < limits[0], size - 1, place)
    counts = reshape(bincount(at, weights, length=math.prod(wide)), wide)[(slice(-1),) * len(wide)]
    if density:
        counts = counts / sum(counts)
        for n, limits in enumerate(sides):
            counts = counts / reshape(limits[1:] - limits[:-1], (-1, *[1] * (len(wide) - n - 1)))
    return counts, sides


PUBLIC = ("histogram2d", "histogramdd")
