"""Weights as integers: 8 bits with a scale a channel, 4 or 8 bits with a scale a block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlc.errors import InputError
from mlc.quantization.layers import Layer
from mlc.quantization.network import Array

FRACTIONS = np.linspace(0.5, 1, 26)[::-1]  # of the greatest weight, the last level of a scale that is searched


@dataclass(frozen=True)
class Quantized:
    """Integers with their scales: ``values * scales``, where scales broadcast to the values."""

    values: Array
    scales: Array

    def floats(self) -> Array:
        return self.values.astype(np.float32) * self.scales.astype(np.float32)


def checked(layer: Layer) -> Array:
    """The weight of a layer in f32. InputError where it has NaN or infinities."""
    array = layer.array().astype(np.float32)
    if not np.isfinite(array).all():
        message = f"The weight '{layer.weight}' has NaN or infinities, which no integer says"
        raise InputError(message, node=layer.name, op=layer.op, hint=f"Leave it in f32: --exclude {layer.name}")
    return array


def by_channel(array: Array, axis: int | None, levels: int, search: bool, least: Array | None = None) -> Quantized:
    """Integers of -levels to levels with a scale for each index of ``axis``, or one for all.

    ``search`` looks for the scales of the least squared error, and ``least`` is below which none may be.
    """
    others = tuple(n for n in range(array.ndim) if n != axis)
    largest = np.abs(array).max(others, keepdims=True)
    floor = np.zeros_like(largest) if least is None else least.reshape(largest.shape)

    def at(fraction: float) -> Quantized:
        scales = _positive(np.maximum(largest * fraction / levels, floor))
        return Quantized(np.clip(np.rint(array / scales), -levels, levels).astype(np.int8), scales)

    if not search:
        return at(1.0)
    scales = _searched(lambda f: at(f).scales, lambda f: _squares(array - at(f).floats(), others))
    return Quantized(np.clip(np.rint(array / scales), -levels, levels).astype(np.int8), scales)


def _squares(array: Array, axes: tuple[int, ...]) -> Array:
    found: Array = np.square(array, dtype=np.float64).sum(axes, keepdims=True)
    return found


def _searched(scales: Callable[[float], Array], errors: Callable[[float], Array]) -> Array:
    """The scales of the fraction whose error is least, for each channel or block."""
    best, lowest = scales(1.0), errors(1.0)
    for fraction in map(float, FRACTIONS[1:]):
        error = errors(fraction)
        better = error < lowest
        best, lowest = np.where(better, scales(fraction), best), np.where(better, error, lowest)
    return best


def _positive(scales: Array) -> Array:
    """Scales, 1 where every weight (and the bias) is 0 or too small to be scaled."""
    return np.where(scales > np.finfo(np.float32).tiny, scales, 1).astype(np.float32)


@dataclass(frozen=True)
class Blocks:
    """A weight [K, N] in blocks of its columns: numbers [N, blocks, size] from 0 on, scales and zero points
    [N, blocks].
    """

    values: Array
    scales: Array
    zero_points: Array
    rows: int

    def floats(self) -> Array:
        """The weight [K, N] again."""
        found = (self.values.astype(np.float32) - self.zero_points[..., None]) * self.scales[..., None]
        whole: Array = found.reshape(len(found), -1)[:, : self.rows].T
        return whole


def in_blocks(array: Array, bits: int, size: int, symmetric: bool, search: bool) -> Blocks:
    """A weight [K, N] in numbers of 4 or 8 bits: symmetric ones have the zero point in the middle."""
    rows, columns = array.shape
    blocks = np.pad(array.T, ((0, 0), (0, -rows % size))).reshape(columns, -1, size).astype(np.float32)
    low, high = np.minimum(blocks.min(-1), 0), np.maximum(blocks.max(-1), 0)

    def at(fraction: float) -> tuple[Array, Array]:
        return (_symmetric if symmetric else _asymmetric)(low * fraction, high * fraction, bits)

    def made(scales: Array, zeros: Array) -> Blocks:
        numbers = np.rint(blocks / scales[..., None]) + zeros[..., None]
        return Blocks(np.clip(numbers, 0, (1 << bits) - 1).astype(np.uint8), scales, zeros, rows)

    def error(found: Blocks) -> Array:
        floats = (found.values.astype(np.float32) - found.zero_points[..., None]) * found.scales[..., None]
        squares: Array = np.square(floats - blocks).sum(-1)
        return squares

    best = made(*at(1.0))
    lowest = error(best)
    for fraction in map(float, FRACTIONS[1:] if search else ()):
        tried = made(*at(fraction))
        better = (found := error(tried)) < lowest
        best = _chosen(better, tried, best)
        lowest = np.minimum(found, lowest)
    return best


def _chosen(better: Array, new: Blocks, old: Blocks) -> Blocks:
    """Of each block the new numbers where these are better."""
    values = np.where(better[..., None], new.values, old.values)
    scales, zeros = np.where(better, new.scales, old.scales), np.where(better, new.zero_points, old.zero_points)
    return Blocks(values, scales, zeros, old.rows)


def _symmetric(low: Array, high: Array, bits: int) -> tuple[Array, Array]:
    """Scale and zero point, where the number farthest from 0 is the lowest level: its sign may be either."""
    middle = 1 << bits - 1
    farthest = np.where(-low > high, low, high)
    scales = np.where(np.abs(farthest) > np.finfo(np.float32).tiny * middle, -farthest / middle, 1)
    return scales.astype(np.float32), np.full(low.shape, middle, np.uint8)


def _asymmetric(low: Array, high: Array, bits: int) -> tuple[Array, Array]:
    most = (1 << bits) - 1
    scales = _positive((high - low) / most)
    return scales, np.clip(np.rint(-low / scales), 0, most).astype(np.uint8)
