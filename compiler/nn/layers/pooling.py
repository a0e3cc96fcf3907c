"""Pooling over windows of images [N, C, X…]. Source: torch.nn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.frontends.array.array import Array
from mlc.frontends.array.nn import convolutions as functions
from mlc.nn.module import Module, static

Ints = int | Sequence[int]


def _fixed(value: Ints) -> Any:
    """A value that has a hash."""
    return value if isinstance(value, int) else tuple(value)


class MaxPool(Module):
    """The largest element of each window; ``stride`` is by default the window."""

    kernel_size: Any = static()
    stride: Any = static()
    padding: Any = static()

    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0) -> None:
        self.kernel_size, self.padding = _fixed(kernel_size), _fixed(padding)
        self.stride = self.kernel_size if stride is None else _fixed(stride)

    def __call__(self, x: Any) -> Array:
        return functions.max_pool(x, self.kernel_size, strides=self.stride, padding=self.padding)


class AvgPool(Module):
    """The mean of each window; ``count_include_pad``: with the zeros of the padding among its elements."""

    kernel_size: Any = static()
    stride: Any = static()
    padding: Any = static()
    count_include_pad: bool = static()

    def __init__(
        self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, count_include_pad: bool = True
    ) -> None:
        self.kernel_size, self.padding = _fixed(kernel_size), _fixed(padding)
        self.stride = self.kernel_size if stride is None else _fixed(stride)
        self.count_include_pad = count_include_pad

    def __call__(self, x: Any) -> Array:
        counted = self.count_include_pad
        return functions.avg_pool(
            x, self.kernel_size, strides=self.stride, padding=self.padding, count_padding=counted
        )


MaxPool1d = MaxPool2d = MaxPool3d = MaxPool
AvgPool1d = AvgPool2d = AvgPool3d = AvgPool
