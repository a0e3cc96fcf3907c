"""Resize where an extent, length, scale or region is known only at run time.

Index and weight of each tap are computed as the constants of ``interpolation.py`` are, by the same formulas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlc.dialects.semantics.dims import DimLike, ceildiv
from mlc.dialects.types import ITEMSIZE, is_float, numpy_dtype
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import larger
from mlc.frontends.build.ops.images.interpolation import HALF, Interpolation
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import with_extent

MAX_RADIUS = 2  # taps on each side of a position, of cubic interpolation


@dataclass(frozen=True)
class RuntimeAxis:
    """How one dimension is resampled: ``scale``, rounded to f32, and the ends of the region are scalars of f64."""

    axis: int
    extent: DimLike
    length: DimLike
    scale: Tensor
    roi: tuple[Tensor, Tensor] | None
    taps: DimLike | None = None  # at most, with antialiasing; None: computed at run time


# The length before it was rounded down: of a scale that is the ratio of both lengths, it is the length itself.
LENGTH = "where(f32({n}) / f32({d}) == f32(x0[()]), f64({n}), f64(f32(x0[()] * {d})))"
POSITIONS = {  # of element i0, from its scale x0, in the input; d and n: the extents
    "asymmetric": "f64(f32(i0) / f32(x0[()]))",
    "half_pixel": "f64((f32(i0) + 0.5) / f32(x0[()]) - 0.5)",
    "half_pixel_symmetric": "f64(f32({d}) * 0.5 * (1 - f32({n}) / (f32(x0[()]) * f32({d}))) + "
    "(f32(i0) + 0.5) / f32(x0[()]) - 0.5)",
    "pytorch_half_pixel": "where({n} > 1, f64((f32(i0) + 0.5) / f32(x0[()]) - 0.5), 0)",
    "align_corners": f"where(({{n}} > 1) & ({LENGTH} != 1), f64(i0) * ({{d}} - 1) / ({LENGTH} - 1), 0)",
    "tf_half_pixel_for_nn": "f64((f32(i0) + 0.5) / f32(x0[()]))",
    "tf_crop_and_resize": "where({n} > 1, x1[()] * ({d} - 1) + f64(i0) * (x2[()] - x1[()]) * ({d} - 1) / ({n} - 1), "
    "0.5 * (x1[()] + x2[()]) * ({d} - 1) + f64(i0))",
}
NEAREST = {
    "round_prefer_floor": f"ceil(x0[i1] - {HALF})",
    "round_prefer_ceil": f"floor(x0[i1] + {HALF})",
    "floor": "floor(x0[i1])",
    "ceil": "ceil(x0[i1])",
}


def runtime_resize(
    build: Builder,
    x: Tensor,
    axes: Sequence[int],
    scales: Tensor | None,
    sizes: Tensor | None,
    roi: Tensor | None,
    how: Interpolation,
    policy: str = "stretch",
) -> Tensor:
    """As ``resize``, with vectors computed at run time; ``policy``: how ``sizes`` keep the ratio of the extents."""
    roi = None if roi is None else with_extent(build, roi, 0, 2 * len(axes))
    ratio = _one_scale(build, x, axes, sizes, policy) if policy != "stretch" and sizes is not None else None
    given = [_runtime_axis(build, x, axis, n, scales, sizes, roi, ratio) for n, axis in enumerate(axes)]
    element = x.element
    for along in given:
        x = resampled(build, x, along, how)
    return stored_as(build, x, element)


def symbolic_axis(
    build: Builder, axis: int, extent: DimLike, length: DimLike, scale: float | None, roi: tuple[float, float] | None
) -> RuntimeAxis:
    """An axis of a symbolic ``extent`` or ``length``; ``scale`` is known, or that of the two."""
    taps: DimLike
    if scale is not None:
        factor, taps = build.constant(float(np.float32(scale)), "f64"), _most_taps(1 / min(scale, 1.0))
    else:
        factor = build.compute(f"f64(f32({length}) / f32({extent}))", [], ())
        taps = larger(ceildiv(2 * MAX_RADIUS * extent, length), 2 * MAX_RADIUS) + 2
    ends = None if roi is None else (build.constant(roi[0], "f64"), build.constant(roi[1], "f64"))
    return RuntimeAxis(axis, extent, length, factor, ends, taps)


def _most_taps(stretch: float) -> int:
    return math.ceil(2 * MAX_RADIUS * stretch) + 1


def _runtime_axis(
    build: Builder,
    x: Tensor,
    axis: int,
    n: int,
    scales: Tensor | None,
    sizes: Tensor | None,
    roi: Tensor | None,
    ratio: Tensor | None,
) -> RuntimeAxis:
    """The ``n``-th of the axes that scales, sizes and roi are about; ``ratio``: a scale for all."""
    extent, what = x.shape[axis], f"the length of axis {axis} of the result"
    if ratio is not None or scales is not None:
        scale = ratio or build.compute(f"f64(f32(x0[{n}]))", [scales], ())  # type: ignore[list-item]
        half = 0.0 if ratio is None else 0.5
        count = build.compute(f"i64(floor(f32({extent}) * f32(x0[()]) + {half}))", [scale], ())
        length = build.dim(build.scalars.of(count).item(), what)
    else:
        assert sizes is not None
        length = build.dim(build.scalars.of(sizes).item(n), what)
        scale = build.compute(f"f64(f32({length}) / f32({extent}))", [], ())
    build.require_elements(extent, length)
    length = 0 if extent == 0 else length
    ends = None if roi is None else [build.compute(f"f64(x0[{n + k}])", [roi], ()) for k in (0, _half(roi))]
    return RuntimeAxis(axis, extent, length, scale, None if ends is None else (ends[0], ends[1]))


def _half(x: Tensor) -> int:
    """How many pairs a vector has, which has starts before ends."""
    if not isinstance(x.shape[0], int):
        raise NotSupported(f"a region of the shape {x.shape}")
    return x.shape[0] // 2


def _one_scale(build: Builder, x: Tensor, axes: Sequence[int], sizes: Tensor, policy: str) -> Tensor:
    """The scale of all axes: the largest that fits into (or the smallest that covers) ``sizes``."""
    text, choose = "", "min" if policy == "not_larger" else "max"
    for n, axis in enumerate(axes):
        each = f"f64(f32(x0[{n}]) / f32({x.shape[axis]}))"
        text = f"{choose}({text}, {each})" if text else each
    return build.compute(text, [sizes], ())


def resampled(build: Builder, x: Tensor, along: RuntimeAxis, how: Interpolation) -> Tensor:
    """``x`` resampled along one axis, in the element in which elements are interpolated."""
    at = _positions(build, along, how.transform)
    index, weight = _taps(build, at, along, how)
    shape = [along.length if n == along.axis else d for n, d in enumerate(x.shape)]
    tap = 0 if weight is None else "r0"
    reads = ", ".join(f"x1[{tap}, i{n}]" if n == along.axis else f"i{n}" for n in range(x.rank))
    if weight is None:
        y = build.compute(f"x0[{reads}]", [x, index], shape)
    else:
        wide = interpolated_in(build, x)
        xs = [wide, index, build.cast(weight, wide.element)]
        y = build.compute(f"x0[{reads}] * x2[r0, i{along.axis}]", xs, shape, [index.shape[0]], "add")
    if how.transform != "tf_crop_and_resize":
        return y
    inside = f"(x0[i0] >= 0) & (x0[i0] <= f64({along.extent}) - 1)"
    mask = build.reshape(build.compute(inside, [at], at.shape), [along.length, *[1] * (x.rank - 1 - along.axis)])
    return build.map("where(x0, x1, x2)", mask, y, build.constant(how.extrapolation, y.element))


def interpolated_in(build: Builder, x: Tensor) -> Tensor:
    """``x`` in floats that hold its integers: f32, or f64 for those of 32 bits and more."""
    if is_float(x.element):
        return build.wide(x)
    return build.cast(x, "f32" if ITEMSIZE[x.element] < 4 else "f64")


def stored_as(build: Builder, x: Tensor, element: str) -> Tensor:
    """What was interpolated as ``element``; integers are cut, and clamped, as cubic weights lead beyond their range."""
    if x.element == element or is_float(element) or element == "i1":
        return build.cast(x, element)
    least, most = (float(end) for end in (np.iinfo(numpy_dtype(element)).min, np.iinfo(numpy_dtype(element)).max))
    most = np.nextafter(most, 0).item() if ITEMSIZE[element] == 8 else most  # the largest of f64 in the range
    return build.map(f"{element}(min(max(x0, {least}), {most}))", x)


def _positions(build: Builder, along: RuntimeAxis, transform: str) -> Tensor:
    """[length] of f64: the source position of each element."""
    if transform not in POSITIONS:
        raise NotSupported(f"coordinate_transformation_mode '{transform}'")
    text = POSITIONS[transform].format(d=f"f64({along.extent})", n=f"f64({along.length})")
    roi = along.roi if transform == "tf_crop_and_resize" and along.roi is not None else ()
    return build.compute(text, [along.scale, *roi], (along.length,))


def _taps(build: Builder, at: Tensor, along: RuntimeAxis, how: Interpolation) -> tuple[Tensor, Tensor | None]:
    """(index [taps, length] inside the input, weight [taps, length]) of an interpolation; None: the one weight is 1."""
    mode, last = how.mode, f"({along.extent}) - 1"
    if mode == "nearest":
        nearest = NEAREST[how.nearest]
        return build.compute(f"min(max(i64({nearest}), 0), {last})", [at], (1, along.length)), None
    radius, stretch = 1 if mode == "linear" else 2, "1.0"
    taps: DimLike = 2 * radius
    if how.antialias:
        stretch = "min(x1[()], 1.0)"
        taps = _antialiasing_taps(build, along, radius)
    tap = f"(floor(x0[i1] - {radius} / {stretch}) + 1 + f64(i0))"
    distance = f"(abs(x0[i1] - {tap}) * {stretch})"
    weight = f"max(1 - {distance}, 0)" if mode == "linear" else _cubic(distance, how.cubic)
    if how.exclude_outside:
        weight = f"where(({tap} >= 0) & ({tap} <= f64({last})), {weight}, 0)"
    shape = (taps, along.length)
    raw = build.compute(weight, [at, along.scale], shape)
    index = build.compute(f"min(max(i64({tap}), 0), {last})", [at, along.scale], shape)
    return index, build.map("x0 / x1", raw, build.reduce("add", raw, [0], keepdims=True))


def _antialiasing_taps(build: Builder, along: RuntimeAxis, radius: int) -> DimLike:
    if along.taps is not None:
        return along.taps
    count = build.compute(f"i64(ceil({2 * radius} / min(x0[()], 1.0))) + 1", [along.scale], ())
    return build.scalars.dim(build.scalars.of(count).item(), f"Node '{build.node}': too many taps")


def _cubic(distance: str, a: float) -> str:
    """Keys' cubic convolution kernel."""
    near = f"((({a + 2}) * {distance} - ({a + 3})) * {distance} * {distance} + 1)"
    far = f"(((({a}) * {distance} - ({5 * a})) * {distance} + ({8 * a})) * {distance} - ({4 * a}))"
    return f"where({distance} <= 1, {near}, where({distance} < 2, {far}, 0))"
