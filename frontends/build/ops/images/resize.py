"""Resize: resampling along axes.

Each resized dimension is one operation: a weighted sum of ``taps`` elements around the source position,
``y[.., i, ..] = sum over t of x[.., index[t, i], ..] * weight[t, i]``. Index and weight are constants
(``interpolation.py``), or computed at run time (``runtime_resize.py``). Source: ONNX Resize 10, 11, 13, 18, 19.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mlc.dialects.semantics.dims import DimLike, floordiv
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import Array, at_least
from mlc.frontends.build.ops.images.interpolation import Axis, Interpolation, source_positions, taps
from mlc.frontends.build.tensors import Tensor


def keep_ratio(
    extents: Sequence[DimLike], sizes: Sequence[DimLike], policy: str
) -> tuple[list[float], list[DimLike]]:
    """(scales, sizes) of one scale for all axes: the largest that fits into ``sizes``, or the smallest that covers it.

    ``policy`` is not_larger or not_smaller.
    """
    if not all(isinstance(d, int) for d in (*extents, *sizes)):
        raise NotSupported("keep_aspect_ratio_policy with symbolic dimensions")
    choose = min if policy == "not_larger" else max
    scale = choose(s / d for s, d in zip(sizes, extents, strict=True))  # type: ignore[operator]
    return [scale] * len(extents), [int(math.floor(d * scale + 0.5)) for d in extents]  # type: ignore[operator]


def resize(
    build: Builder,
    x: Tensor,
    axes: Sequence[int],
    scales: Sequence[float] | None,
    sizes: Sequence[DimLike] | None,
    roi: Sequence[float] | None,
    how: Interpolation,
) -> Tensor:
    """``x`` with ``axes`` multiplied by ``scales``, or of ``sizes``. ``roi``: starts, then ends of a region, 0 to 1."""
    steps: dict[int, tuple[str, DimLike]] = {}  # the index and the length of axes that repeat or skip elements
    for n, axis in _in_order(x, axes, scales, sizes):
        extent = x.shape[axis]
        scale = scales[n] if scales is not None else None
        length = sizes[n] if sizes is not None else _scaled(extent, scale)  # type: ignore[arg-type]
        if length == extent and scale in (None, 1) and roi is None:
            continue
        if not isinstance(extent, int) or not isinstance(length, int):
            steps[axis] = f"i{axis} // {_repeats(extent, length, how)}", length
            continue
        bounds = (roi[n], roi[n + len(axes)]) if roi else (0.0, 1.0)
        along = Axis(extent, length, length / extent if scale is None else scale, bounds)
        step = None if roi else _whole_step(along, how)
        if step is None:
            x = _resampled(build, x, axis, along, how)
        else:
            steps[axis] = step.format(axis), length
    return _stepped(build, x, steps)


def _in_order(
    x: Tensor, axes: Sequence[int], scales: Sequence[float] | None, sizes: Sequence[DimLike] | None
) -> list[tuple[int, int]]:
    """Axes and which they are: the last first where the others grow, as its elements are gathered one by one."""
    lengths = zip(axes, sizes or (), strict=False)
    shrinks = [s <= 1 for s in scales or ()] if sizes is None else [at_least(x.shape[a], d) for a, d in lengths]
    return sorted(enumerate(axes), key=lambda each: each[1], reverse=not all(shrinks))


def _stepped(build: Builder, x: Tensor, steps: dict[int, tuple[str, DimLike]]) -> Tensor:
    """All of ``steps`` in one operation."""
    if not steps:
        return x
    at = ", ".join(steps[n][0] if n in steps else f"i{n}" for n in range(x.rank))
    return build.compute(f"x0[{at}]", [x], [steps[n][1] if n in steps else d for n, d in enumerate(x.shape)])


def _whole_step(along: Axis, how: Interpolation) -> str | None:
    """The index of a nearest neighbour where each element is repeated equally often, or some are skipped."""
    index, weight = taps(source_positions(along, how.transform), along, how)
    if index.shape[1] != 1 or not (weight == 1).all():
        return None
    i, up, down = np.arange(along.length), along.length // along.extent, along.extent // along.length
    if up and np.array_equal(index[:, 0], i // up):
        return f"i{{}} // {up}"
    first = int(index[0, 0])
    return f"i{{}} * {down} + {first}" if np.array_equal(index[:, 0], i * down + first) else None


def _scaled(extent: DimLike, scale: float) -> DimLike:
    if isinstance(extent, int):
        return int(math.floor(extent * scale))
    if scale == int(scale):
        return extent * int(scale)
    if scale and 1 / scale == int(1 / scale):
        return floordiv(extent, int(1 / scale))
    raise NotSupported(f"a symbolic dimension times {scale}; fix it with dims={{name: size}}")


def _repeats(extent: DimLike, length: DimLike, how: Interpolation) -> int:
    """How often each element of a symbolic dimension is in the result: nearest neighbour, by a whole factor."""
    factor = floordiv(length, extent)
    simple = {("asymmetric", "floor"), ("half_pixel", "round_prefer_floor"), ("half_pixel", "round_prefer_ceil")}
    if how.mode != "nearest" or not isinstance(factor, int) or (how.transform, how.nearest) not in simple:
        raise NotSupported("this interpolation of a symbolic dimension; fix it with dims={name: size}")
    return factor


def _resampled(build: Builder, x: Tensor, axis: int, along: Axis, how: Interpolation) -> Tensor:
    position = source_positions(along, how.transform)
    index, weight = taps(position, along, how)
    outside = (position < 0) | (position > along.extent - 1)
    shape = [along.length if n == axis else d for n, d in enumerate(x.shape)]
    names = [f"i{n}" for n in range(x.rank)]
    if index.shape[1] == 1 and (weight == 1).all():
        at = ", ".join(f"x1[i{n}]" if n == axis else a for n, a in enumerate(names))
        y = build.compute(f"x0[{at}]", [x, _known(index[:, 0])], shape)
    else:
        wide = build.wide(x) if x.element[0] in "fb" else build.cast(x, "f32")
        at = ", ".join(f"x1[r0, i{n}]" if n == axis else a for n, a in enumerate(names))
        weights = _known(weight.T.astype(wide.dtype))
        text = f"x0[{at}] * x2[r0, i{axis}]"
        y = build.compute(text, [wide, _known(index.T), weights], shape, [index.shape[1]], "add")
        y = build.cast(y, x.element)
    if how.transform != "tf_crop_and_resize" or not outside.any():
        return y
    mask = _known(outside.reshape([-1 if n == axis else 1 for n in range(x.rank)]))
    return build.map(f"where(x0, {how.extrapolation!r}, x1)", mask, y)


def _known(array: Array) -> Tensor:
    return Tensor.from_known(np.ascontiguousarray(array))
