"""Mel filter banks: triangles that sum a spectrum into bins equally wide on the mel scale. ONNX MelWeightMatrix 17."""

from __future__ import annotations

import math

import numpy as np

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import is_float, numpy_dtype
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor


def mel_filters(bins: int, length: int, rate: int, low: float, high: float, element: str) -> Tensor:
    """[length / 2 + 1, bins] in ``element``, for transforms of ``length`` at a sample ``rate``; ends in hertz."""
    edges = _edges(bins, length, rate, low, high)
    table = np.zeros((length // 2 + 1, bins))
    if bins < 1 or not is_float(element) or edges[0] < 0 or edges[-1] >= len(table):
        raise NotSupported(f"{bins} bins of {element} between rows {edges[0]} and {edges[-1]} of {len(table)}")
    for n, (first, centre, last) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        rising = np.arange(first, centre + 1) - first
        table[first : centre + 1, n] = rising / (centre - first) if centre > first else 1
        table[centre:last, n] = (last - np.arange(centre, last)) / max(last - centre, 1)
    return Tensor.from_known(table.astype(numpy_dtype(element)), element)


def _edges(bins: int, length: int, rate: int, low: float, high: float) -> list[int]:
    """The rows of the spectrum at which the triangles begin, peak and end."""
    mels = [2595 * np.log1p(hertz / 700) / np.log(10) for hertz in (low, high)]
    at = mels[0] + np.arange(bins + 2) * (mels[1] - mels[0]) / (bins + 2)
    hertz = 700 * np.expm1(at / 2595 * np.log(10))
    return [int(v) for v in (length + 1) * hertz // rate]


def runtime_mel_filters(
    build: Builder, bins: DimLike, length: DimLike, rate: Tensor, low: Tensor, high: Tensor
) -> Tensor:
    """The table of ``mel_filters`` in f64, where parameters are computed at run time."""
    rows = length // 2 + 1
    given = [build.cast(build.reshape(x, ()), "f64") for x in (rate, low, high)]
    start, end = (f"2595 * log1p(x{n}[()] / 700) / {math.log(10)!r}" for n in (1, 2))
    mel = f"({start}) + f64(i0) * (({end}) - ({start})) / f64({bins} + 2)"
    hertz = f"700 * expm1(({mel}) / 2595 * {math.log(10)!r})"
    edges = build.compute(f"i64(floor(f64({length} + 1) * ({hertz}) / x0[()]))", given, (bins + 2,))
    ends = [build.scalars.of(build.reduce(fn, edges, [0])).item() for fn in ("min", "max")]
    build.check(f"where(({ends[0]} >= 0) & ({ends[1]} < {rows}), 0, -1)", "a bin reaches over the spectrum")
    first, peak, last = (f"x0[i1 + {n}]" for n in range(3))
    rising = f"where(i0 < {peak}, f64(i0 - {first}) / f64(max({peak} - {first}, 1)), 1.0)"
    falling = f"f64({last} - i0) / f64(max({last} - {peak}, 1))"
    text = f"where((i0 >= {peak}) & (i0 < {last}), {falling}, where((i0 >= {first}) & (i0 <= {peak}), {rising}, 0.0))"
    return build.compute(text, [edges], (rows, bins))
