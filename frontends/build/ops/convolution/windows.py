"""Sliding windows of convolutions and pools: kernel, strides, dilations and padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlc.dialects.semantics.dims import DimLike, ceildiv, floordiv
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import at_least, larger, smaller
from mlc.frontends.build.tensors import Tensor

Pads = tuple[list[DimLike], list[DimLike]]  # elements before and after, by spatial dimension


@dataclass(frozen=True)
class Window:
    """A window and its padding: ``low`` and ``high`` ends, and ``extra`` that completes a last, partial window."""

    kernel: tuple[int, ...]
    strides: list[int]
    dilations: list[int]
    low: list[DimLike]
    high: list[DimLike]
    extra: list[DimLike]

    @staticmethod
    def over(
        build: Builder,
        spatial: Sequence[DimLike],
        kernel: Sequence[DimLike],
        strides: list[int],
        dilations: list[int],
        pads: Pads,
        partial: bool = False,
    ) -> Window:
        """A window over ``spatial`` extents; ``partial``: a last window that begins inside of them counts.

        Raises:
            NotSupported: no window fits.
        """
        low, high = pads
        size = window_sizes(kernel, dilations)
        extra: list[DimLike] = [0] * len(spatial)
        if partial:
            extra = [_completing(*args) for args in zip(spatial, size, strides, low, high, strict=True)]
        for d, k, a, b, e in zip(spatial, size, low, high, extra, strict=True):
            _check_fits(build, k, d + a + b + e)
        return Window(tuple(kernel), strides, dilations, low, high, extra)  # type: ignore[arg-type]

    def padded(self, build: Builder, x: Tensor, value: str) -> Tensor:
        """``x`` surrounded with ``value``, as far as a window reaches."""
        high = [self._reached(n, extent) for n, extent in enumerate(x.shape[2:])]
        return build.pad(x, [0, 0, *self.low], [0, 0, *high], value)

    def _reached(self, n: int, extent: DimLike) -> DimLike:
        """The high padding less the elements that no window reaches."""
        high = self.high[n] + self.extra[n]
        left = (extent + self.low[n] + high - self.dilations[n] * (self.kernel[n] - 1) - 1) % self.strides[n]
        return high - min(high, left) if isinstance(left, int) and isinstance(high, int) else high


def window_sizes(kernel: Sequence[DimLike], dilations: Sequence[int]) -> list[DimLike]:
    """How many elements a dilated window spans."""
    return [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]


def same_pads(
    spatial: Sequence[DimLike], kernel: Sequence[DimLike], strides: Sequence[int], dilations: Sequence[int], upper: bool
) -> Pads:
    """Padding that gives one window a stride; an odd element is after the input if ``upper``, else before it."""
    sizes = window_sizes(kernel, dilations)
    total = [larger((ceildiv(d, s) - 1) * s + k - d, 0) for d, k, s in zip(spatial, sizes, strides, strict=True)]
    small, big = [floordiv(t, 2) for t in total], [t - floordiv(t, 2) for t in total]
    return (small, big) if upper else (big, small)


def _check_fits(build: Builder, size: DimLike, extent: DimLike) -> None:
    """Require that at least one window fits into the padded extent: by a guard, where the extent is symbolic."""
    if at_least(size, extent + 1):
        raise NotSupported(f"a window of {size} elements in {extent}, padding included")
    build.require(extent, size)


def _completing(extent: DimLike, size: DimLike, stride: int, low: DimLike, high: DimLike) -> DimLike:
    """Padding that rounds the number of windows up; no window may start after the input and its low padding."""
    free = extent + low + high - size
    windows = smaller(ceildiv(free, stride) + 1, ceildiv(extent + low, stride))
    return larger((windows - 1) * stride - free, 0)
