"""Resampling of images: upsampling by factors or to sizes, and at the positions of a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.images.grid_sample import grid_sample
from mlc.frontends.build.ops.images.interpolation import Interpolation
from mlc.frontends.build.ops.images.resize import resize, resize_length
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, aten

MODES = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}
NAMES = [f"upsample_{n}" for n in ("nearest1d", "nearest2d", "nearest3d", "linear1d", "bilinear2d", "trilinear3d")]


@aten(*NAMES, "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")
@aten("_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d")
def upsample(call: Call, x: Tensor, size: Sequence[DimLike] | None, *rest: Any) -> Tensor:
    """Overload ``vec`` has the factors as a list, the other one of each dimension, perhaps None, last.

    Positions follow the factors where these are given, else the sizes; those of aligned corners always the sizes.
    """
    corners = bool(rest[0]) if "nearest" not in call.op and rest else False
    given = rest if "nearest" in call.op else rest[1:]
    factors = list(given[0]) if given and isinstance(given[0], list | tuple) else [f for f in given if f is not None]
    axes = list(range(2, x.rank))
    scales = [float(f) for f in factors] if len(factors) == len(axes) else None
    if size is None:
        assert scales is not None
        extents = [x.shape[a] for a in axes]
        size = [scaled_length(call.build, d, s) for d, s in zip(extents, scales, strict=True)]
    how = _interpolation(call.op, corners)
    if corners and how.antialias:  # torch moves no centre: only steps are those of aligned corners
        how, scales = replace(how, transform="half_pixel"), _corner_scales(x, axes, size)
    return resize(call.build, x, axes, None if corners and not how.antialias else scales, size, None, how)


def _corner_scales(x: Tensor, axes: Sequence[int], size: Sequence[DimLike]) -> list[float]:
    pairs = [(x.shape[a], d) for a, d in zip(axes, size, strict=True)]
    if not all(isinstance(each, int) for pair in pairs for each in pair):
        raise NotSupported("antialiasing of symbolic extents with aligned corners")
    return [(d - 1) / (n - 1) if n > 1 and d > 1 else math.inf for n, d in pairs]  # type: ignore[operator]


def scaled_length(build: Builder, extent: DimLike, scale: float) -> DimLike:
    """``extent`` times ``scale``, a product in f64 as torch's."""
    return int(extent * scale) if isinstance(extent, int) else resize_length(build, extent, scale)


def _interpolation(op: str, corners: bool) -> Interpolation:
    mode = next(mode for name, mode in MODES.items() if f"_{name}" in op)
    exact = "exact" in op
    transform = "align_corners" if corners else "asymmetric" if mode == "nearest" and not exact else "half_pixel"
    nearest = "round_prefer_ceil" if exact else "floor"
    smooth = "_aa" in op
    cubic = -0.5 if smooth else -0.75
    return Interpolation(mode, transform, nearest, cubic=cubic, exclude_outside=smooth, antialias=smooth)


@aten("grid_sampler_2d", "grid_sampler_3d", "grid_sampler")
def sample_grid(call: Call, x: Tensor, grid: Tensor, mode: int, padding: int, align_corners: bool) -> Tensor:
    how, border = ("linear", "nearest", "cubic")[mode], ("zeros", "border", "reflection")[padding]
    return grid_sample(call.build, x, grid, how, border, align_corners)
