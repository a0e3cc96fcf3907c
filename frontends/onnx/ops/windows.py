"""Sliding windows of convolutions and pools: kernel, strides, dilations, pads of ONNX's attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlc.dialects.dims import DimLike, ceildiv, floordiv
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import at_least, larger, smaller
from mlc.frontends.onnx.node import Node
from mlc.frontends.onnx.tensors import Tensor


@dataclass(frozen=True)
class Window:
    """A window and its padding: ``low`` and ``high`` ends, and ``extra`` that completes a window (ceil_mode)."""

    kernel: tuple[int, ...]
    strides: list[int]
    dilations: list[int]
    low: list[DimLike]
    high: list[DimLike]
    extra: list[DimLike]

    @staticmethod
    def of(node: Node, spatial: Sequence[DimLike], kernel: Sequence[DimLike]) -> Window:
        """Read the attributes; pads that auto_pad asks for depend on the input's extents."""
        rank = len(spatial)
        strides, dilations = counts(node, "strides", rank), counts(node, "dilations", rank)
        size = [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]
        low, high = _pads(node, spatial, size, strides)
        extra: list[DimLike] = [0] * rank
        if node.flag("ceil_mode", 0):
            extra = [_ceil(*args) for args in zip(spatial, size, strides, low, high, strict=True)]
        for d, k, a, b in zip(spatial, size, low, high, strict=True):
            _check_fits(node, k, d + a + b)
        return Window(tuple(kernel), strides, dilations, low, high, extra)  # type: ignore[arg-type]

    def padded(self, build: Builder, x: Tensor, value: str) -> Tensor:
        """``x`` surrounded with ``value``, as far as a window reaches."""
        high = [self._reached(n, extent) for n, extent in enumerate(x.shape[2:])]
        return build.pad(x, [0, 0, *self.low], [0, 0, *high], value)

    def _reached(self, n: int, extent: DimLike) -> DimLike:
        """The high padding without what the last window, whole strides from the first, leaves behind it."""
        high = self.high[n] + self.extra[n]
        left = (extent + self.low[n] + high - self.dilations[n] * (self.kernel[n] - 1) - 1) % self.strides[n]
        return high - min(high, left) if isinstance(left, int) and isinstance(high, int) else high


def counts(node: Node, name: str, rank: int | None = None) -> list[int]:
    """An attribute of numbers from 1; all are 1 where one of ``rank`` numbers is missing."""
    values: list[int] = node.attr(name) if rank is None else node.attr(name, None) or [1] * rank
    if any(value < 1 for value in values):
        raise NotSupported(f"{name} of {', '.join(map(str, values))}: numbers from 1 are meant")
    return values


def _check_fits(node: Node, size: DimLike, extent: DimLike) -> None:
    """There is a window: at least one fits into the padded extent (where that is symbolic, when the model runs)."""
    if at_least(size, extent + 1):
        raise NotSupported(f"a window of {size} elements in {extent}, padding included")
    node.build.require(extent, size)


def _pads(
    node: Node, spatial: Sequence[DimLike], size: Sequence[DimLike], strides: Sequence[int]
) -> tuple[list[DimLike], list[DimLike]]:
    auto = node.attr("auto_pad", "NOTSET")
    if auto.startswith("SAME"):
        total = [larger((ceildiv(d, s) - 1) * s + k - d, 0) for d, k, s in zip(spatial, size, strides, strict=True)]
        small, big = [floordiv(t, 2) for t in total], [t - floordiv(t, 2) for t in total]
        return (small, big) if auto == "SAME_UPPER" else (big, small)
    pads = node.attr("pads", None) if auto == "NOTSET" else None
    pads = pads or [0] * (2 * len(spatial))
    return list(pads[: len(spatial)]), list(pads[len(spatial) :])


def _ceil(extent: DimLike, size: DimLike, stride: int, low: DimLike, high: DimLike) -> DimLike:
    """Padding that rounds the number of windows up; no window may start behind the input and its low padding."""
    free = extent + low + high - size
    windows = smaller(ceildiv(free, stride) + 1, ceildiv(extent + low, stride))
    return larger((windows - 1) * stride - free, 0)
