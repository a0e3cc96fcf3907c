"""Resize and Upsample: resampling along axes.

Each resized dimension is one operation: a weighted sum of ``taps`` elements around the source position,
``y[.., i, ..] = sum over t of x[.., index[t, i], ..] * weight[t, i]``. Index and weight are constants made here.
Source: ONNX Resize (opset 10, 11, 13, 18, 19).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.dialects.dims import DimLike, floordiv
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import Array, at_least
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.ops.resize_at_run_time import Settings, one_ratio, open_axis, resampled
from mlc.frontends.onnx.tensors import Tensor


@dataclass(frozen=True)
class Axis:
    """How one dimension is resampled."""

    extent: int
    length: int
    scale: float
    roi: tuple[float, float]


@onnx_op("Upsample")
def upsample(node: Node) -> Tensor:
    mode = node.attr("mode", "nearest")
    settings = Settings(mode, "asymmetric", "floor" if mode == "nearest" else "", -0.75, False, False, 0.0)
    if node.opset >= 9 and node[1].known is None:
        return _open(node, list(range(node[0].rank)), {"scales": node[1]}, settings)
    scales = node.attr("scales") if node.opset < 9 else node.floats(1)
    return _resized(node.build, node[0], list(range(node[0].rank)), scales, None, None, settings)


@onnx_op("Resize", since=10)
def resize_10(node: Node) -> Tensor:
    settings = Settings(node.attr("mode", "nearest"), "asymmetric", "floor", -0.75, False, False, 0.0)
    if node[1].known is None:
        return _open(node, list(range(node[0].rank)), {"scales": node[1]}, settings)
    scales = node.floats(1)
    return _resized(node.build, node[0], list(range(node[0].rank)), scales, None, None, settings)


@onnx_op("Resize", since=11)
def resize_11(node: Node) -> Tensor:
    x = node[0]
    axes = [normalise_axis(a, x.rank) for a in node.attr("axes", None) or range(x.rank)]
    settings = Settings(
        node.attr("mode", "nearest"),
        node.attr("coordinate_transformation_mode", "half_pixel"),
        node.attr("nearest_mode", "round_prefer_floor"),
        node.attr("cubic_coeff_a", -0.75),
        bool(node.attr("exclude_outside", 0)),
        bool(node.attr("antialias", 0)),
        node.attr("extrapolation_value", 0.0),
    )
    if _absent(node, 2) == _absent(node, 3):
        raise NotSupported("exactly one of scales and sizes must be given")
    places = {"roi": 1, "scales": 2, "sizes": 3}
    used = {name: node[n] for name, n in places.items() if not _absent(node, n)}
    if settings.transform != "tf_crop_and_resize":
        used.pop("roi", None)
    if any(given.known is None for given in used.values()):
        return _open(node, axes, used, settings)
    scales = None if _absent(node, 2) else node.floats(2)
    sizes = None if _absent(node, 3) else node.dims(3)
    roi = node.floats(1) if settings.transform == "tf_crop_and_resize" else None
    if sizes is not None and (policy := node.attr("keep_aspect_ratio_policy", "stretch")) != "stretch":
        scales, sizes = _kept_ratio([x.shape[a] for a in axes], sizes, policy)
    return _resized(node.build, x, axes, scales, sizes, roi, settings)


def _open(node: Node, axes: list[int], given: dict[str, Tensor], settings: Settings) -> Tensor:
    """Scales, sizes or a region are computed at run time."""
    x, policy = node[0], node.attr("keep_aspect_ratio_policy", "stretch")
    ratio = one_ratio(node, x, axes, given["sizes"], policy) if policy != "stretch" and "sizes" in given else None
    for how in [open_axis(node, x, axis, n, given, ratio) for n, axis in enumerate(axes)]:
        x = resampled(node.build, x, how, settings)
    return x


def _absent(node: Node, n: int) -> bool:
    x = node.get(n)
    return x is None or x.shape == (0,)


def _kept_ratio(extents: list[DimLike], sizes: list[DimLike], policy: str) -> tuple[list[float], list[DimLike]]:
    """One scale for all axes: the largest that fits into (or the smallest that covers) ``sizes``."""
    if not all(isinstance(d, int) for d in (*extents, *sizes)):
        raise NotSupported("keep_aspect_ratio_policy with symbolic dimensions")
    choose = min if policy == "not_larger" else max
    scale = choose(s / d for s, d in zip(sizes, extents, strict=True))  # type: ignore[operator]
    return [scale] * len(extents), [int(math.floor(d * scale + 0.5)) for d in extents]  # type: ignore[operator]


def _resized(
    build: Builder,
    x: Tensor,
    axes: list[int],
    scales: list[float] | None,
    sizes: list[DimLike] | None,
    roi: list[float] | None,
    settings: Settings,
) -> Tensor:
    steps: dict[int, tuple[str, DimLike]] = {}  # the index and the length of axes that repeat or skip elements
    for n, axis in _in_order(x, axes, scales, sizes):
        extent = x.shape[axis]
        scale = scales[n] if scales is not None else None
        length = sizes[n] if sizes is not None else _scaled(extent, scale)  # type: ignore[arg-type]
        if length == extent and scale in (None, 1) and roi is None:
            continue
        if not isinstance(extent, int) or not isinstance(length, int):
            steps[axis] = f"i{axis} // {_factor(extent, length, settings)}", length
            continue
        bounds = (roi[n], roi[n + len(axes)]) if roi else (0.0, 1.0)
        how = Axis(extent, length, length / extent if scale is None else scale, bounds)
        step = None if roi else _whole_step(how, settings)
        if step is None:
            x = _resampled(build, x, axis, how, settings)
        else:
            steps[axis] = step.format(axis), length
    return _stepped(build, x, steps)


def _in_order(
    x: Tensor, axes: list[int], scales: list[float] | None, sizes: list[DimLike] | None
) -> list[tuple[int, int]]:
    """Axes and which they are: the last first where the others grow, as its elements are gathered lane by lane."""
    lengths = zip(axes, sizes or (), strict=False)
    shrinks = [s <= 1 for s in scales or ()] if sizes is None else [at_least(x.shape[a], d) for a, d in lengths]
    return sorted(enumerate(axes), key=lambda each: each[1], reverse=not all(shrinks))


def _stepped(build: Builder, x: Tensor, steps: dict[int, tuple[str, DimLike]]) -> Tensor:
    """All of ``steps`` in one operation."""
    if not steps:
        return x
    at = ", ".join(steps[n][0] if n in steps else f"i{n}" for n in range(x.rank))
    return build.compute(f"x0[{at}]", [x], [steps[n][1] if n in steps else d for n, d in enumerate(x.shape)])


def _whole_step(how: Axis, settings: Settings) -> str | None:
    """The index of a nearest neighbour where each element is repeated equally often, or some are skipped."""
    index, weight = taps(source_positions(how, settings.transform), how, settings)
    if index.shape[1] != 1 or not (weight == 1).all():
        return None
    i, up, down = np.arange(how.length), how.length // how.extent, how.extent // how.length
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


def _factor(extent: DimLike, length: DimLike, settings: Settings) -> int:
    """How often each element of a symbolic dimension stands in the result: nearest neighbour, by a whole factor."""
    factor = floordiv(length, extent)
    simple = {("asymmetric", "floor"), ("half_pixel", "round_prefer_floor"), ("half_pixel", "round_prefer_ceil")}
    if (
        settings.mode != "nearest"
        or not isinstance(factor, int)
        or (settings.transform, settings.nearest) not in simple
    ):
        raise NotSupported("this interpolation of a symbolic dimension; fix it with dims={name: size}")
    return factor


def _resampled(build: Builder, x: Tensor, axis: int, how: Axis, settings: Settings) -> Tensor:
    position = source_positions(how, settings.transform)
    index, weight = taps(position, how, settings)
    outside = (position < 0) | (position > how.extent - 1)
    shape = [how.length if n == axis else d for n, d in enumerate(x.shape)]
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
    if settings.transform != "tf_crop_and_resize" or not outside.any():
        return y
    mask = _known(outside.reshape([-1 if n == axis else 1 for n in range(x.rank)]))
    return build.map(f"where(x0, {settings.extrapolation!r}, x1)", mask, y)


def _known(array: Array) -> Tensor:
    return Tensor.from_known(np.ascontiguousarray(array))


def source_positions(how: Axis, transform: str) -> Array:
    """Where in the input each output element lies."""
    i, length, extent = np.arange(how.length, dtype=np.float64), how.length, how.extent
    start, end = how.roi
    exact = how.scale * extent  # the length before it was rounded down
    formulas: dict[str, Any] = {
        "asymmetric": lambda: i / how.scale,
        "half_pixel": lambda: (i + 0.5) / how.scale - 0.5,
        "half_pixel_symmetric": lambda: extent / 2 * (1 - length / exact) + (i + 0.5) / how.scale - 0.5,
        "pytorch_half_pixel": lambda: (i + 0.5) / how.scale - 0.5 if length > 1 else i * 0.0,
        "align_corners": lambda: i * (extent - 1) / (exact - 1) if length > 1 and exact != 1 else i * 0.0,
        "tf_half_pixel_for_nn": lambda: (i + 0.5) / how.scale,
        "tf_crop_and_resize": lambda: (
            start * (extent - 1) + i * (end - start) * (extent - 1) / (length - 1)
            if length > 1
            else 0.5 * (start + end) * (extent - 1) + i
        ),
    }
    if transform not in formulas:
        raise NotSupported(f"coordinate_transformation_mode '{transform}'")
    return formulas[transform]()


def taps(position: Array, how: Axis, settings: Settings) -> tuple[Array, Array]:
    """(index [out, taps] inside the input, weight [out, taps]) of an interpolation at source positions."""
    if settings.mode == "nearest":
        nearest = {
            "round_prefer_floor": np.ceil(position - 0.5),
            "round_prefer_ceil": np.floor(position + 0.5),
            "floor": np.floor(position),
            "ceil": np.ceil(position),
        }[settings.nearest]
        index = np.clip(nearest, 0, how.extent - 1).astype(np.int64)[:, None]
        return index, np.ones(index.shape)
    stretch = min(how.scale, 1.0) if settings.antialias else 1.0
    radius = (1 if settings.mode == "linear" else 2) / stretch
    first = np.floor(position - radius).astype(np.int64) + 1
    index = first[:, None] + np.arange(int(math.ceil(2 * radius)) + 1)
    distance = (position[:, None] - index) * stretch
    weight = np.maximum(0, 1 - np.abs(distance)) if settings.mode == "linear" else cubic(distance, settings.cubic)
    inside = (index >= 0) & (index < how.extent)
    if settings.exclude_outside:
        weight = weight * inside
    weight = weight / weight.sum(1, keepdims=True)
    used = (weight != 0).any(0)
    return np.clip(index, 0, how.extent - 1)[:, used], weight[:, used]


def cubic(distance: Array, a: float) -> Array:
    """Keys' cubic convolution kernel."""
    d = np.abs(distance)
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))
