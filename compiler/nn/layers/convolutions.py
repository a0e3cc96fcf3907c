"""Convolutions of one to three dimensions, and transposed ones. Source: torch.nn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.nn.convolutions import conv, conv_transpose
from mlc.nn import init
from mlc.nn.module import Module, static

Ints = int | Sequence[int]


class _Convolution(Module):
    """What both kinds have: a weight, a bias and a window."""

    dimensions: ClassVar[int]
    weight: Array
    bias: Array | None
    stride: tuple[int, ...] = static()
    padding: Any = static()
    dilation: tuple[int, ...] = static()
    groups: int = static()

    def _set(self, stride: Ints, padding: Any, dilation: Ints, groups: int, channels: tuple[int, int]) -> None:
        if groups < 1 or any(n % groups for n in channels):
            what = f"{type(self).__name__}: {groups} groups do not divide {channels[0]} and {channels[1]} channels"
            raise InputError(what, hint="Give groups that divide both")
        self.stride, self.dilation = self._each(stride), self._each(dilation)
        self.padding = padding if isinstance(padding, str) else self._each(padding)
        self.groups = groups

    def _each(self, value: Ints) -> tuple[int, ...]:
        return (value,) * self.dimensions if isinstance(value, int) else tuple(value)

    def _draw(self, shape: tuple[int, ...], channels: int, bias: bool, rng: np.random.Generator | None) -> None:
        inputs = math.prod(shape[1:])
        self.weight = init.by_inputs(shape, inputs, rng)
        self.bias = init.by_inputs((channels,), inputs, rng) if bias else None


class _Conv(_Convolution):
    """Cross-correlation of images [N, C, X…] with ``weight`` [out, in/groups, K…], plus ``bias`` [out].

    ``padding`` by zeros: a number, one for each dimension, ``"same"`` or ``"valid"``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Ints | str = 0,
        dilation: Ints = 1,
        groups: int = 1,
        bias: bool = True,
        rng: np.random.Generator | None = None,
    ) -> None:
        self._set(stride, padding, dilation, groups, (in_channels, out_channels))
        self._draw((out_channels, in_channels // groups, *self._each(kernel_size)), out_channels, bias, rng)

    def __call__(self, x: Any) -> Array:
        return conv(
            x,
            self.weight,
            self.bias,
            strides=self.stride,
            padding=self.padding,
            dilations=self.dilation,
            groups=self.groups,
        )


class _ConvTranspose(_Convolution):
    """Transposed convolution of images [N, C, X…] with ``weight`` [in, out/groups, K…], plus ``bias`` [out].

    The extents are (X - 1)·stride - 2·padding + dilation·(K - 1) + output_padding + 1.
    """

    output_padding: tuple[int, ...] = static()

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Ints = 0,
        output_padding: Ints = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Ints = 1,
        rng: np.random.Generator | None = None,
    ) -> None:
        self._set(stride, padding, dilation, groups, (in_channels, out_channels))
        self.output_padding = self._each(output_padding)
        self._draw((in_channels, out_channels // groups, *self._each(kernel_size)), out_channels, bias, rng)

    def __call__(self, x: Any) -> Array:
        pads = [(p, p - more) for p, more in zip(self.padding, self.output_padding, strict=True)]
        return conv_transpose(
            x,
            self.weight,
            self.bias,
            strides=self.stride,
            padding=pads,
            dilations=self.dilation,
            groups=self.groups,
        )


class Conv1d(_Conv):
    __doc__, dimensions = _Conv.__doc__, 1


class Conv2d(_Conv):
    __doc__, dimensions = _Conv.__doc__, 2


class Conv3d(_Conv):
    __doc__, dimensions = _Conv.__doc__, 3


class ConvTranspose1d(_ConvTranspose):
    __doc__, dimensions = _ConvTranspose.__doc__, 1


class ConvTranspose2d(_ConvTranspose):
    __doc__, dimensions = _ConvTranspose.__doc__, 2


class ConvTranspose3d(_ConvTranspose):
    __doc__, dimensions = _ConvTranspose.__doc__, 3
