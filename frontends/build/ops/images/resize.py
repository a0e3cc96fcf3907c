"""Resize: resampling along axes.

Each resized dimension is one operation: a weighted sum of ``taps`` elements around the source position,
``y[.., i, ..] = sum over t of x[.., index[t, i], ..] * weight[t, i]``. Index and weight are constants
(``interpolation.py``), or computed at run time (``runtime_resize.py``). Source: ONNX Resize 10, 11, 13, 18, 19.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mlc.dialects.semantics.dims import DimLike, floordiv
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.ops.images.interpolation import Axis, Interpolation, source_positions, taps
from mlc.frontends.build.ops.images.runtime_resize import interpolated_in, resampled, stored_as, symbolic_axis
from mlc.frontends.build.tensors import Tensor

MAX_DENOMINATOR = 1000  # of scales as fractions, such as 1/300
CHECKED_SIZES = 1 << 16  # for which products by a fraction and in f32 are compared


def keep_ratio(extents: Sequence[int], sizes: Sequence[int], policy: str) -> tuple[list[float], list[DimLike]]:
    """(scales, sizes) of one scale for all axes: the largest that fits into ``sizes``, or the smallest that covers it.

    ``policy`` is not_larger or not_smaller.
    """
    choose = min if policy == "not_larger" else max
    scale = choose(s / d for s, d in zip(sizes, extents, strict=True))
    return [scale] * len(extents), [int(math.floor(d * scale + 0.5)) for d in extents]


def resize(
    build: Builder,
    x: Tensor,
    axes: Sequence[int],
    scales: Sequence[float] | None,
    sizes: Sequence[DimLike] | None,
    roi: Sequence[float] | None,
    how: Interpolation,
) -> Tensor:
    """``x`` with ``axes`` multiplied by ``scales``, or of ``sizes``. ``roi``: starts, then ends of a region, 0 to 1.

    Raises:
        NotSupported: an axis without elements gets some.
    """
    element = x.element  # to which what is interpolated is rounded once, after the last axis
    steps: dict[int, tuple[str, DimLike]] = {}  # the index and the length of axes that repeat or skip elements
    for n, axis in _in_order(x, axes, scales, sizes):
        extent = x.shape[axis]
        scale = scales[n] if scales is not None else None
        length = sizes[n] if sizes is not None else resize_length(build, extent, scale)  # type: ignore[arg-type]
        if length == extent and (length == 0 or (scale in (None, 1) and roi is None)):
            continue
        build.require_elements(extent, length)
        bounds = (roi[n], roi[n + len(axes)]) if roi else (0.0, 1.0)
        if not isinstance(extent, int) or not isinstance(length, int):
            repeated = None if roi else _repeats(extent, length, how)
            if repeated is None:
                x = resampled(build, x, symbolic_axis(build, axis, extent, length, scale, bounds if roi else None), how)
            else:
                steps[axis] = f"i{axis} // {repeated}", length
            continue
        along = Axis(extent, length, float(np.float32(length) / np.float32(extent)) if scale is None else scale, bounds)
        step = None if roi else _whole_step(along, how)
        if step is None:
            x = _resampled(build, x, axis, along, how)
        else:
            steps[axis] = step.format(axis), length
    return stored_as(build, _stepped(build, x, steps), element)


def _in_order(
    x: Tensor, axes: Sequence[int], scales: Sequence[float] | None, sizes: Sequence[DimLike] | None
) -> list[tuple[int, int]]:
    """The axes in the order of their resampling, with their numbers. The last axis comes first where the others grow,
    since its elements are gathered one by one.
    """
    lengths = zip(axes, sizes or (), strict=False)
    shrinks = [s <= 1 for s in scales or ()] if sizes is None else [at_least(x.shape[a], d) for a, d in lengths]
    return sorted(enumerate(axes), key=lambda each: each[1], reverse=not all(shrinks))


def _stepped(build: Builder, x: Tensor, steps: dict[int, tuple[str, DimLike]]) -> Tensor:
    """``x`` with all of ``steps`` applied by one operation."""
    if not steps:
        return x
    at = ", ".join(steps[n][0] if n in steps else f"i{n}" for n in range(x.rank))
    return build.compute(f"x0[{at}]", [x], [steps[n][1] if n in steps else d for n, d in enumerate(x.shape)])


def _whole_step(along: Axis, how: Interpolation) -> str | None:
    """The index of the nearest neighbour where every element is repeated equally often, or where some are skipped."""
    index, weight = taps(source_positions(along, how.transform), along, how)
    if index.shape[1] != 1 or not (weight == 1).all():
        return None
    i, up, down = np.arange(along.length), along.length // along.extent, along.extent // along.length
    if up and np.array_equal(index[:, 0], i // up):
        return f"i{{}} // {up}"
    first = int(index[0, 0])
    return f"i{{}} * {down} + {first}" if np.array_equal(index[:, 0], i * down + first) else None


def resize_length(build: Builder, extent: DimLike, scale: float) -> DimLike:
    """The length of ``extent`` elements times ``scale``, a product in f32 as onnxruntime's: 0.7 * 10 is 7.

    Of a symbolic extent it is that of a fraction, (7*n)//10, where both agree; else a run-time dimension.
    """
    if isinstance(extent, int):
        return int(np.float32(extent) * np.float32(scale))
    ratio = Fraction(scale).limit_denominator(MAX_DENOMINATOR)
    sizes = np.arange(CHECKED_SIZES)
    products = (sizes.astype(np.float32) * np.float32(scale)).astype(np.int64)
    if np.array_equal(products, sizes * ratio.numerator // ratio.denominator):
        return floordiv(extent * ratio.numerator, ratio.denominator)
    count = build.compute(f"i64(f32({extent}) * {float(np.float32(scale))!r})", [], ())
    return build.dim(build.scalars.of(count).item(), f"{extent} times {scale}", extent * math.ceil(scale))


def _repeats(extent: DimLike, length: DimLike, how: Interpolation) -> int | None:
    """How often nearest-neighbour resizing by a whole factor repeats each element of a symbolic dimension."""
    factor = floordiv(length, extent)
    simple = {("asymmetric", "floor"), ("half_pixel", "round_prefer_floor"), ("half_pixel", "round_prefer_ceil")}
    repeats = how.mode == "nearest" and isinstance(factor, int) and factor * extent == length
    return factor if repeats and (how.transform, how.nearest) in simple else None  # type: ignore[return-value]


def _resampled(build: Builder, x: Tensor, axis: int, along: Axis, how: Interpolation) -> Tensor:
    """``x`` resampled along one axis, in the element in which elements are interpolated."""
    position = source_positions(along, how.transform)
    index, weight = taps(position, along, how)
    outside = (position < 0) | (position > along.extent - 1)
    shape = [along.length if n == axis else d for n, d in enumerate(x.shape)]
    names = [f"i{n}" for n in range(x.rank)]
    if index.shape[1] == 1 and (weight == 1).all():
        at = ", ".join(f"x1[i{n}]" if n == axis else a for n, a in enumerate(names))
        y = build.compute(f"x0[{at}]", [x, _known(index[:, 0])], shape)
    else:
        wide = interpolated_in(build, x)
        at = ", ".join(f"x1[r0, i{n}]" if n == axis else a for n, a in enumerate(names))
        weights = _known(weight.T.astype(wide.dtype))
        text = f"x0[{at}] * x2[r0, i{axis}]"
        y = build.compute(text, [wide, _known(index.T), weights], shape, [index.shape[1]], "add")
    if how.transform != "tf_crop_and_resize" or not outside.any():
        return y
    mask = _known(outside.reshape([-1 if n == axis else 1 for n in range(x.rank)]))
    return build.map(f"where(x0, {how.extrapolation!r}, x1)", mask, y)


def _known(array: Array) -> Tensor:
    return Tensor.from_known(np.ascontiguousarray(array))
