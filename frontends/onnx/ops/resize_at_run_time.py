"""Resize where an extent, length, scale or region is known only when the model runs.

Index and weight of each tap are computed as the constants of ``resize.py`` are, by the same formulas.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlc.dialects.dims import DimLike
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node
from mlc.frontends.onnx.tensors import Tensor

LENGTH = "the length of axis {} of the result"


@dataclass(frozen=True)
class Settings:
    """Attributes of Resize."""

    mode: str
    transform: str
    nearest: str
    cubic: float
    exclude_outside: bool
    antialias: bool
    extrapolation: float


@dataclass(frozen=True)
class OpenAxis:
    """How one dimension is resampled: ``scale`` and the ends of the region are scalars of f64."""

    axis: int
    extent: DimLike
    length: DimLike
    scale: Tensor
    roi: tuple[Tensor, Tensor] | None


POSITIONS = {  # of element i0, from its scale x0, in the input; d and n: the extents
    "asymmetric": "f64(i0) / x0[()]",
    "half_pixel": "(f64(i0) + 0.5) / x0[()] - 0.5",
    "half_pixel_symmetric": "{d} / 2 * (1 - {n} / (x0[()] * {d})) + (f64(i0) + 0.5) / x0[()] - 0.5",
    "pytorch_half_pixel": "where({n} > 1, (f64(i0) + 0.5) / x0[()] - 0.5, 0)",
    "align_corners": "where(({n} > 1) & (x0[()] * {d} != 1), f64(i0) * ({d} - 1) / (x0[()] * {d} - 1), 0)",
    "tf_half_pixel_for_nn": "(f64(i0) + 0.5) / x0[()]",
    "tf_crop_and_resize": "where({n} > 1, x1[()] * ({d} - 1) + f64(i0) * (x2[()] - x1[()]) * ({d} - 1) / ({n} - 1), "
    "0.5 * (x1[()] + x2[()]) * ({d} - 1) + f64(i0))",
}
NEAREST = {
    "round_prefer_floor": "ceil(x0[i1] - 0.5)",
    "round_prefer_ceil": "floor(x0[i1] + 0.5)",
    "floor": "floor(x0[i1])",
    "ceil": "ceil(x0[i1])",
}


def open_axis(node: Node, x: Tensor, axis: int, n: int, given: dict[str, Tensor], ratio: Tensor | None) -> OpenAxis:
    """The ``n``-th of the axes that ``given`` scales, sizes and roi are about; ``ratio``: a scale for all."""
    build, extent = node.build, x.shape[axis]
    if ratio is not None or "scales" in given:
        scale = ratio or build.compute(f"f64(x0[{n}])", [given["scales"]], ())
        half = 0.0 if ratio is None else 0.5
        count = build.compute(f"i64(floor(f64({extent}) * x0[()] + {half}))", [scale], ())
        length = node.size(build.numbers.of(count).item(), LENGTH.format(axis))
    else:
        length = node.size(build.numbers.of(given["sizes"]).item(n), LENGTH.format(axis))
        scale = build.compute(f"f64({length}) / f64({extent})", [], ())
    roi = given.get("roi")
    ends = None if roi is None else [build.compute(f"f64(x0[{n + k}])", [roi], ()) for k in (0, _half(roi))]
    return OpenAxis(axis, extent, length, scale, None if ends is None else (ends[0], ends[1]))


def _half(x: Tensor) -> int:
    """Of a vector of pairs, starts before ends, how many there are."""
    if not isinstance(x.shape[0], int):
        raise NotSupported(f"a region of the shape {x.shape}")
    return x.shape[0] // 2


def one_ratio(node: Node, x: Tensor, axes: list[int], sizes: Tensor, policy: str) -> Tensor:
    """The scale of all axes: the largest that fits into (or the smallest that covers) ``sizes``."""
    text, choose = "", "min" if policy == "not_larger" else "max"
    for n, axis in enumerate(axes):
        each = f"f64(x0[{n}]) / f64({x.shape[axis]})"
        text = f"{choose}({text}, {each})" if text else each
    return node.build.compute(text, [sizes], ())


def resampled(build: Builder, x: Tensor, how: OpenAxis, settings: Settings) -> Tensor:
    """``x`` resampled along one axis."""
    at = _positions(build, how, settings.transform)
    index, weight = _taps(build, at, how, settings)
    shape = [how.length if n == how.axis else d for n, d in enumerate(x.shape)]
    tap = 0 if weight is None else "r0"
    reads = ", ".join(f"x1[{tap}, i{n}]" if n == how.axis else f"i{n}" for n in range(x.rank))
    if weight is None:
        y = build.compute(f"x0[{reads}]", [x, index], shape)
    else:
        wide = build.wide(x) if x.element[0] in "fb" else build.cast(x, "f32")
        xs = [wide, index, build.cast(weight, wide.element)]
        y = build.compute(f"x0[{reads}] * x2[r0, i{how.axis}]", xs, shape, [index.shape[0]], "add")
        y = build.cast(y, x.element)
    if settings.transform != "tf_crop_and_resize":
        return y
    inside = f"(x0[i0] >= 0) & (x0[i0] <= f64({how.extent}) - 1)"
    mask = build.reshape(build.compute(inside, [at], at.shape), [how.length, *[1] * (x.rank - 1 - how.axis)])
    return build.map("where(x0, x1, x2)", mask, y, build.constant(settings.extrapolation, y.element))


def _positions(build: Builder, how: OpenAxis, transform: str) -> Tensor:
    """[length]: where in the input each element lies."""
    if transform not in POSITIONS:
        raise NotSupported(f"coordinate_transformation_mode '{transform}'")
    text = POSITIONS[transform].format(d=f"f64({how.extent})", n=f"f64({how.length})")
    roi = how.roi if transform == "tf_crop_and_resize" and how.roi is not None else ()
    return build.compute(text, [how.scale, *roi], (how.length,))


def _taps(build: Builder, at: Tensor, how: OpenAxis, settings: Settings) -> tuple[Tensor, Tensor | None]:
    """(index [taps, length] inside the input, weight [taps, length]) of an interpolation; None: the one weight is 1."""
    mode, last = settings.mode, f"({how.extent}) - 1"
    if mode == "nearest":
        nearest = NEAREST[settings.nearest]
        return build.compute(f"min(max(i64({nearest}), 0), {last})", [at], (1, how.length)), None
    radius, stretch = 1 if mode == "linear" else 2, "1.0"
    taps: DimLike = 2 * radius
    if settings.antialias:
        stretch = "min(x1[()], 1.0)"
        count = build.compute(f"i64(ceil({2 * radius} / min(x0[()], 1.0))) + 1", [how.scale], ())
        taps = build.numbers.size(build.numbers.of(count).item(), f"Node '{build.node}': too many taps")
    tap = f"(floor(x0[i1] - {radius} / {stretch}) + 1 + f64(i0))"
    distance = f"(abs(x0[i1] - {tap}) * {stretch})"
    weight = f"max(1 - {distance}, 0)" if mode == "linear" else _cubic(distance, settings.cubic)
    if settings.exclude_outside:
        weight = f"where(({tap} >= 0) & ({tap} <= f64({last})), {weight}, 0)"
    shape = (taps, how.length)
    raw = build.compute(weight, [at, how.scale], shape)
    index = build.compute(f"min(max(i64({tap}), 0), {last})", [at, how.scale], shape)
    return index, build.map("x0 / x1", raw, build.reduce("add", raw, [0], keepdims=True))


def _cubic(distance: str, a: float) -> str:
    """Keys' cubic convolution kernel."""
    near = f"((({a + 2}) * {distance} - ({a + 3})) * {distance} * {distance} + 1)"
    far = f"(((({a}) * {distance} - ({5 * a})) * {distance} + ({8 * a})) * {distance} - ({4 * a}))"
    return f"where({distance} <= 1, {near}, where({distance} < 2, {far}, 0))"
