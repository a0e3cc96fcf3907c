"""RoiAlign, with a given number of samples in each bin of a region, or as many as the bin has pixels."""

from __future__ import annotations

from mlc.dialects.dims import DimLike
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.literals import literal
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.tensors import Tensor


@onnx_op("RoiAlign", since=10)
def roi_align(node: Node) -> Tensor:
    """Averages (or maxima) of bilinear samples on a regular grid in each bin of each region."""
    build, batch = node.build, node[2]
    x, rois = build.cast(node[0], "f32"), build.cast(node[1], "f32")
    height, width = node.attr("output_height", 1), node.attr("output_width", 1)
    samples = node.attr("sampling_ratio", 0)
    scale, mode = literal(node.attr("spatial_scale", 1.0)), node.attr("mode", "avg")
    half = node.opset >= 16 and node.attr("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    sides = [(n, bins, d) for n, bins, d in zip((1, 0), (height, width), x.shape[2:], strict=True)]
    if samples <= 0:
        rows, columns = (_Side(build, rois, bins, d, _extent(n, scale, half)) for n, bins, d in sides)
        return build.cast((_greatest if mode == "max" else _averaged)(build, x, batch, rows, columns), node[0].element)
    down, along = (_taps(build, rois, bins, samples, d, _extent(n, scale, half)) for n, bins, d in sides)
    return build.cast(_sampled(build, x, batch, down, along, "max" if mode == "max" else "add"), node[0].element)


def _taps(
    build: Builder, rois: Tensor, bins: int, samples: int, extent: DimLike, region: tuple[str, str]
) -> tuple[Tensor, Tensor]:
    """[regions, bins, 2 * samples]: both neighbours of each sample of a bin along an axis, and their weights."""
    first, size = region
    at = f"({first} + {size} * (f32(i1) + (f32(i2 // 2) + 0.5) / {float(samples)}) / {float(bins)})"
    low, far = _bilinear(at, extent)
    shape = (rois.shape[0], bins, 2 * samples)
    places = build.compute(f"min(i64({low}) + i2 % 2, {extent} - 1)", [rois], shape)
    weight = f"where(i2 % 2 == 0, 1 - {far}, {far})"
    return places, build.compute(f"where(({at} >= -1) & ({at} <= f32({extent})), {weight}, 0)", [rois], shape)


def _sampled(
    build: Builder, x: Tensor, batch: Tensor, rows: tuple[Tensor, Tensor], columns: tuple[Tensor, Tensor], fn: str
) -> Tensor:
    """Mean or greatest of the weighted neighbours of a bin's samples: along the columns, where whole rows are read,
    then along the rows. As weights are not negative, this goes for the greatest as well."""
    (regions, height, taps), channels, width = rows[0].shape, x.shape[1], columns[0].shape[1]
    text, shape = "x0[x1[i0], i1, x2[i0, i2, r0], i3] * x3[i0, i2, r0]", (regions, channels, height, x.shape[3])
    tall = build.compute(text, [x, batch, *rows], shape, (taps,), fn)
    text, shape = "x0[i0, i1, i2, x1[i0, i3, r0]] * x2[i0, i3, r0]", (regions, channels, height, width)
    y = build.compute(text, [tall, *columns], shape, (taps,), fn)
    return build.map(f"x0 * {literal(4 / taps**2)}", y) if fn == "add" else y  # type: ignore[operator]


def _bilinear(at: str, extent: DimLike) -> tuple[str, str]:
    """(lower neighbour, distance to it) of a coordinate clamped to the image."""
    inside = f"min(max({at}, 0), f32({extent}) - 1)"
    return f"floor({inside})", f"({inside} - floor({inside}))"


def _extent(n: int, scale: str, half: bool) -> tuple[str, str]:
    """Where a region of x0 begins along an axis, 1 for rows, and how long it is."""
    start, end = f"x0[i0, {n}] * {scale}", f"x0[i0, {n + 2}] * {scale}"
    return f"({start} - 0.5)" if half else f"({start})", f"({end} - {start})" if half else f"max({end} - {start}, 1)"


class _Side:
    """Samples of the bins along an axis, as many as a bin is long, rounded up: sampling_ratio 0.

    They are more than half a pixel apart, so of all there may be at most ``most`` are inside of the image. Sample r0 of
    bin i1 of region i0 counts from the first of these.
    """

    def __init__(self, build: Builder, rois: Tensor, bins: int, extent: DimLike, region: tuple[str, str]) -> None:
        first, size = region
        regions, self.bins, self.extent, self.most = rois.shape[0], bins, extent, 2 * extent + 4
        length = f"({size}) / {float(bins)}"
        start = build.compute(f"{first} + f32(i1) * ({length})", [rois], (regions, bins))
        count = build.compute(f"max(ceil({length}), 0)", [rois], (regions,))
        step = build.compute(f"{length} / max(x1[i0], 1)", [rois, count], (regions,))
        skipped = "max(ceil((-1 - x0[i0, i1]) / max(x1[i0], 1e-30) - 0.5) - 1, 0)"
        begin = build.compute(skipped, [start, step], (regions, bins))
        self.tensors = [start, step, count, begin]

    def at(self, number: str, bin_: str, first: int = 0) -> str:
        """The coordinate of a sample; ``first``: number of the first of the tensors among the operands."""
        start, step = f"x{first}[i0, {bin_}]", f"x{first + 1}[i0]"
        return f"({start} + ({number} + 0.5) * {step})"

    def sample(self, bin_: str, first: int = 0) -> tuple[str, str]:
        """The coordinate of sample r0, and whether it is there and inside of the image."""
        number = f"(x{first + 3}[i0, {bin_}] + f32(r0))"
        at = self.at(number, bin_, first)
        return at, f"({number} < x{first + 2}[i0]) & ({at} >= -1) & ({at} <= f32({self.extent}))"

    def weights(self, build: Builder) -> Tensor:
        """[regions, bins, extent]: how much a pixel counts in the mean of a bin."""
        at, counts = self.sample("i1")
        near = f"max(1 - abs(min(max({at}, 0), f32({self.extent}) - 1) - f32(i2)), 0)"
        shape = (self.tensors[0].shape[0], self.bins, self.extent)
        total = build.compute(f"where({counts}, {near}, 0)", self.tensors, shape, (self.most,), "add")
        return build.compute("x0[i0, i1, i2] / max(x1[i0], 1)", [total, self.tensors[2]], shape)

    def outside(self, build: Builder) -> Tensor:
        """[regions, bins]: 0 where a sample is outside of the image, which is one like others; else minus infinity."""
        first, last = self.at("0", "i1"), self.at("(x2[i0] - 1)", "i1")
        text = f"where((x2[i0] == 0) | ({first} < -1) | ({last} > f32({self.extent})), f32(0), -inf)"
        return build.compute(text, self.tensors, self.tensors[0].shape)


def _averaged(build: Builder, x: Tensor, batch: Tensor, rows: _Side, columns: _Side) -> Tensor:
    """Weights of rows and of columns are apart, so a mean is two small products."""
    regions, (_, channels, height, width) = batch.shape[0], x.shape
    text, shape = "x0[i0, i2, r0] * x1[x2[i0], i1, r0, i3]", (regions, channels, rows.bins, width)
    tall = build.compute(text, [rows.weights(build), x, batch], shape, (height,), "add")
    text, shape = "x0[i0, i1, i2, r0] * x1[i0, i3, r0]", (regions, channels, rows.bins, columns.bins)
    return build.compute(text, [tall, columns.weights(build)], shape, (width,), "add")


def _greatest(build: Builder, x: Tensor, batch: Tensor, rows: _Side, columns: _Side) -> Tensor:
    """The greatest of all samples' four weighted neighbours: along the columns first, as weights are not negative."""
    at, counts = rows.sample("i2", 2)
    regions, (_, channels, _, width) = batch.shape[0], x.shape
    text = _greater(at, counts, "x0[x1[i0], i1, i64({place}), i3]", rows.extent)
    tall = build.compute(text, [x, batch, *rows.tensors], (regions, channels, rows.bins, width), (rows.most,), "max")
    tall = build.compute("max(x0[i0, i1, i2, i3], x1[i0, i2])", [tall, rows.outside(build)], tall.shape)
    at, counts = columns.sample("i3", 1)
    text, shape = _greater(at, counts, "x0[i0, i1, i2, i64({place})]", columns.extent), (*tall.shape[:3], columns.bins)
    y = build.compute(text, [tall, *columns.tensors], shape, (columns.most,), "max")
    return build.compute("max(x0[i0, i1, i2, i3], x1[i0, i3])", [y, columns.outside(build)], shape)


def _greater(at: str, counts: str, read: str, extent: DimLike) -> str:
    """The greater one of the two weighted neighbours of a sample that counts."""
    low, far = _bilinear(at, extent)
    high = f"min({low} + 1, f32({extent}) - 1)"
    return f"where({counts}, max({read.format(place=low)} * (1 - {far}), {read.format(place=high)} * {far}), -inf)"
