"""Interpolation along one axis: source positions, and the index and weight of each tap, as constants.

Nearest neighbour, linear and cubic (Keys, 1981), with or without antialiasing. Source: ONNX Resize 19.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import Array

HALF = 0.5 + 1e-6  # f32 positions so near to a tie are one, as in onnxruntime: 1 / f32(2 / 7) is 3.4999998


@dataclass(frozen=True)
class Interpolation:
    """How elements between those of the input are computed, under ONNX's names.

    ``mode`` is nearest, linear or cubic; ``transform`` maps coordinates of the result to the input; ``nearest`` rounds
    them; ``cubic`` is Keys' coefficient a. Elements outside of a cropped region are ``extrapolation``.
    """

    mode: str
    transform: str
    nearest: str = "floor"
    cubic: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False
    extrapolation: float = 0.0


@dataclass(frozen=True)
class Axis:
    """How one dimension is resampled: ``extent`` elements to ``length``; ``roi``: ends of the region, 0 to 1."""

    extent: int
    length: int
    scale: float
    roi: tuple[float, float]


def source_positions(axis: Axis, transform: str) -> Array:
    """The source position of each output element, [length], computed in f32 as onnxruntime does.

    So i / (1/3) is 3*i, which f64 rounds to less.
    """
    i, length, extent = np.arange(axis.length, dtype=np.float32), axis.length, axis.extent
    start, end = axis.roi
    scale, half = np.float32(axis.scale), np.float32(0.5)
    exact = _length(axis)
    whole, centre = np.float32(extent), np.float32(extent / 2)
    formulas: dict[str, Any] = {
        "asymmetric": lambda: i / scale,
        "half_pixel": lambda: (i + half) / scale - half,
        "half_pixel_symmetric": lambda: centre * (1 - np.float32(length) / (scale * whole)) + (i + half) / scale - half,
        "pytorch_half_pixel": lambda: (i + half) / scale - half if length > 1 else i * 0,
        "align_corners": lambda: i * np.float64(extent - 1) / (exact - 1) if length > 1 and exact != 1 else i * 0,
        "tf_half_pixel_for_nn": lambda: (i + half) / scale,
        "tf_crop_and_resize": lambda: (
            start * (extent - 1) + np.float64(end - start) * i * (extent - 1) / (length - 1)
            if length > 1
            else np.float64(0.5) * (start + end) * (extent - 1) + i
        ),
    }
    if transform not in formulas:
        raise NotSupported(f"coordinate_transformation_mode '{transform}'")
    return formulas[transform]().astype(np.float64)


def _length(axis: Axis) -> np.float64:
    """The length before rounding down. Where the scale is the ratio of both lengths, this is the length itself."""
    if np.float32(axis.scale) == np.float32(axis.length) / np.float32(axis.extent):
        return np.float64(axis.length)
    return np.float64(np.float32(axis.scale * axis.extent))


def taps(position: Array, axis: Axis, how: Interpolation) -> tuple[Array, Array]:
    """(index [out, taps] inside the input, weight [out, taps]) of an interpolation at source positions."""
    if how.mode == "nearest":
        nearest = {
            "round_prefer_floor": np.ceil(position - HALF),
            "round_prefer_ceil": np.floor(position + HALF),
            "floor": np.floor(position),
            "ceil": np.ceil(position),
        }[how.nearest]
        index = np.clip(nearest, 0, axis.extent - 1).astype(np.int64)[:, None]
        return index, np.ones(index.shape)
    stretch = min(axis.scale, 1.0) if how.antialias else 1.0
    radius = (1 if how.mode == "linear" else 2) / stretch
    first = np.floor(position - radius).astype(np.int64) + 1
    index = first[:, None] + np.arange(int(math.ceil(2 * radius)) + 1)
    distance = (position[:, None] - index) * stretch
    weight = np.maximum(0, 1 - np.abs(distance)) if how.mode == "linear" else cubic(distance, how.cubic)
    inside = (index >= 0) & (index < axis.extent)
    if how.exclude_outside:
        weight = weight * inside
    weight = weight / weight.sum(1, keepdims=True)
    used = (weight != 0).any(0)
    return np.clip(index, 0, axis.extent - 1)[:, used], weight[:, used]


def cubic(distance: Array, a: float) -> Array:
    """Keys' cubic convolution kernel."""
    d = np.abs(distance)
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))
