"""Images of other sizes: nearest and linear interpolation, channels as points. Source: torch.nn."""

from __future__ import annotations

from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.nn.module import Module, static

MODES = ("nearest", "linear", "bilinear", "trilinear")


class Upsample(Module):
    """Each dimension from the third on ``scale_factor`` times as long, by the nearest element or between neighbours
    (``linear``, ``bilinear``, ``trilinear``; corners are not aligned)."""

    scale_factor: int = static(default=2)
    mode: str = static(default="nearest")

    def __call__(self, x: Any) -> Array:
        """
        Raises:
            InputError: a factor that is no whole number from 1 on, another mode, or an open size between neighbours.
        """
        given, factor = as_array(x), self.scale_factor
        if not isinstance(factor, int) or factor < 1 or self.mode not in MODES:
            what = f"Upsample cannot resize by {factor!r} with the mode {self.mode!r}"
            raise InputError(what, hint=f"Give a whole number from 1 on, and one of {', '.join(MODES)}")
        for axis in range(2, given.ndim):
            given = (mnp.repeat(given, factor, axis=axis) if self.mode == "nearest" else
                     _between(given, factor, axis))  # fmt: skip
        return given


def _between(x: Array, factor: int, axis: int) -> Array:
    """Linear interpolation along an axis: point i of the result is at (i + 1/2) / factor - 1/2, from 0 on."""
    size = x.shape[axis]
    if not isinstance(size, int):
        hint = "Fix the size, or use mode='nearest'"
        raise InputError(f"Upsample cannot interpolate along axis {axis}, whose size {size} is open", hint=hint)
    at = np.maximum((np.arange(size * factor) + 0.5) / factor - 0.5, 0)
    low = np.floor(at).astype(np.int64)
    shape = [-1 if n == axis else 1 for n in range(x.ndim)]
    share = as_array((at - low).astype(np.float32).reshape(shape)).astype(x.dtype)
    left, right = (mnp.take(x, as_array(n), axis=axis) for n in (low, np.minimum(low + 1, size - 1)))
    return left + (right - left) * share


class PixelShuffle(Module):
    """[N, C·r², H, W] as [N, C, H·r, W·r]. Source: Shi et al., 2016."""

    upscale_factor: int = static()

    def __call__(self, x: Any) -> Array:
        """
        Raises:
            InputError: the channels are no multiple of r².
        """
        given, r = as_array(x), self.upscale_factor
        n, channels, h, w = given.shape
        if not isinstance(channels, int) or channels % (r * r):
            raise InputError(f"PixelShuffle({r}) cannot divide {channels} channels", hint=f"Give a multiple of {r * r}")
        apart = mnp.reshape(given, (n, channels // (r * r), r, r, h, w))
        return mnp.reshape(mnp.transpose(apart, (0, 1, 4, 2, 5, 3)), (n, channels // (r * r), h * r, w * r))
