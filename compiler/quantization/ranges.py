"""The range of each activation, from calibration data: min/max, percentile, entropy, or least squared error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mlc.errors import InputError
from mlc.quantization.execution import Run
from mlc.quantization.network import Array

Method = Literal["minmax", "percentile", "entropy", "mse"]
Range = tuple[float, float]
BINS = 2048
LEVELS = 256
CANDIDATES = 40  # fractions of the range that are tried on either side


@dataclass
class Histogram:
    """The least and the greatest value of a tensor, and how often it has those between them."""

    low: float = 0.0  # 0 is in every range, since it must have a byte of its own
    high: float = 0.0
    counts: Array = field(default_factory=lambda: np.zeros(BINS))

    @property
    def edges(self) -> Array:
        return np.linspace(self.low, self.high, BINS + 1)

    @property
    def centers(self) -> Array:
        return (self.edges[1:] + self.edges[:-1]) / 2

    def widen(self, values: Array) -> None:
        if values.size:
            self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))

    def count(self, values: Array) -> None:
        if self.high > self.low:
            self.counts += np.histogram(values.astype(np.float64), BINS, (self.low, self.high))[0]


def ranges_of(
    run: Run, names: Sequence[str], batches: Sequence[Mapping[str, Array]], method: Method, percentile: float
) -> dict[str, Range]:
    """The range of each of the tensors that ``run`` gives, 0 among its values.

    Raises:
        InputError: a tensor has NaN or infinities.
    """
    found = {name: Histogram() for name in names}
    for number, batch in enumerate(batches):
        for name, values in _taken(run(batch), names, number).items():
            found[name].widen(values)
    if method != "minmax":
        for number, batch in enumerate(batches):
            for name, values in _taken(run(batch), names, number).items():
                found[name].count(values)
    choose: dict[str, Callable[[Histogram], Range]] = {
        "minmax": lambda each: (each.low, each.high),
        "percentile": lambda each: _percentile(each, percentile),
        "entropy": _entropy,
        "mse": _least_error,
    }
    return {name: choose[method](each) if each.high > each.low else (0.0, 0.0) for name, each in found.items()}


def _taken(outputs: Mapping[str, Array], names: Sequence[str], number: int) -> dict[str, Array]:
    for name in names:
        if not np.isfinite(outputs[name].astype(np.float32)).all():
            message = f"Tensor '{name}' has NaN or infinities in batch {number} of the calibration data"
            raise InputError(message, hint="Give other data, or leave its layers in f32: --exclude NODE")
    return {name: outputs[name] for name in names}


def _percentile(histogram: Histogram, share: float) -> Range:
    """The range that leaves out as many values on both sides."""
    cumulated = np.cumsum(histogram.counts) / histogram.counts.sum()
    cut = (1 - share / 100) / 2
    low = histogram.edges[int(np.searchsorted(cumulated, cut))]
    high = histogram.edges[min(int(np.searchsorted(cumulated, 1 - cut)) + 1, BINS)]
    return min(float(low), 0.0), max(float(high), 0.0)


def _entropy(histogram: Histogram) -> Range:
    """The range whose 256 levels lose least of the distribution (Kullback–Leibler divergence, as TensorRT has it)."""
    widest = max(-histogram.low, histogram.high)
    limits = [widest * fraction for fraction in np.linspace(1 / 16, 1, 121)]
    ranges = [(max(histogram.low, -limit), min(histogram.high, limit)) for limit in limits]
    return min(ranges, key=lambda each: _divergence(histogram, each))


def _divergence(histogram: Histogram, within: Range) -> float:
    """Of the distribution clipped to a range from the same in 256 levels."""
    first, last = np.searchsorted(histogram.centers, within)
    inside = histogram.counts[first:last]
    if len(inside) < 1:
        return np.inf
    clipped = inside.copy()
    clipped[0] += histogram.counts[:first].sum()
    clipped[-1] += histogram.counts[last:].sum()
    level = np.minimum(np.arange(len(inside)) * LEVELS // len(inside), LEVELS - 1)
    sums, filled = np.bincount(level, inside, LEVELS), np.bincount(level, inside > 0, LEVELS)
    spread = np.where(inside > 0, (sums / np.maximum(filled, 1))[level], 0)
    p, q = clipped / clipped.sum(), (spread + 1e-9) / (spread + 1e-9).sum()
    seen = p > 0
    return float((p[seen] * np.log(p[seen] / q[seen])).sum())


def _least_error(histogram: Histogram) -> Range:
    """The range whose 256 levels have the least squared error: of both ends, then of each end alone."""
    fractions = np.linspace(1 / CANDIDATES, 1, CANDIDATES)
    low, high = histogram.low, histogram.high
    both = min(((low * f, high * f) for f in fractions), key=lambda each: _squared(histogram, each))
    left = min(((low * f, both[1]) for f in fractions), key=lambda each: _squared(histogram, each))
    best = min(((left[0], high * f) for f in fractions), key=lambda each: _squared(histogram, each))
    return min(best, both, (low, high), key=lambda each: _squared(histogram, each))


def _squared(histogram: Histogram, within: Range) -> float:
    """The squared error of the histogram's values: half a bin of rounding, and what is clipped."""
    step = (within[1] - within[0]) / (LEVELS - 1)
    if step <= 0:
        return np.inf
    centers = histogram.centers
    zero = np.rint(-within[0] / step)
    levels = np.clip(np.rint(centers / step) + zero, 0, LEVELS - 1)
    return float((histogram.counts * ((levels - zero) * step - centers) ** 2).sum())
