"""RoiAlign (He et al., Mask R-CNN, 2017): bins of regions of images, from bilinear samples. ONNX RoiAlign 22."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.tensors import Tensor


def roi_align(
    build: Builder,
    x: Tensor,
    rois: Tensor,
    batch: Tensor,
    bins: tuple[int, int],
    samples: int,
    scale: float,
    half_pixel: bool,
    mode: str = "avg",
) -> Tensor:
    """[regions, C, *bins] of images ``x`` [N, C, H, W]: means (avg) or maxima (max) of bilinear samples of each bin.

    ``rois`` [regions, 4]: x and y of two corners, which ``scale`` maps to pixels of ``x``; ``batch`` [regions] of i64:
    their images. ``samples`` along each side of a bin; 0: as many as it is long. ``half_pixel``: pixel n is centred at
    n + 0.5.
    """
    element = "f64" if "f64" in (x.element, rois.element) else "f32"
    wide, rois = build.cast(x, element), build.cast(rois, element)
    regions = [_extent(n, literal(scale), half_pixel) for n in (1, 0)]
    sides = list(zip(bins, x.shape[2:], regions, strict=True))
    if samples <= 0:
        rows, columns = (_Side(build, rois, *side) for side in sides)
        adaptive = _adaptive_max if mode == "max" else _adaptive_mean
        return build.cast(adaptive(build, wide, batch, rows, columns), x.element)
    down, along = (_taps(build, rois, samples, *side) for side in sides)
    return build.cast(_sampled(build, wide, batch, down, along, "max" if mode == "max" else "add"), x.element)


def _taps(
    build: Builder, rois: Tensor, samples: int, bins: int, extent: DimLike, region: tuple[str, str]
) -> tuple[Tensor, Tensor]:
    """[regions, bins, 2 * samples]: both neighbours of each sample of a bin along an axis, and their weights."""
    (first, size), element = region, rois.element
    at = f"({first} + {size} * ({element}(i1) + ({element}(i2 // 2) + 0.5) / {float(samples)}) / {float(bins)})"
    low, far = _bilinear(at, f"{element}({extent})")
    shape = (rois.shape[0], bins, 2 * samples)
    pixels = build.compute(f"min(i64({low}) + i2 % 2, {extent} - 1)", [rois], shape)
    weight = f"where(i2 % 2 == 0, 1 - {far}, {far})"
    return pixels, build.compute(f"where(({at} >= -1) & ({at} <= {element}({extent})), {weight}, 0)", [rois], shape)


def _sampled(
    build: Builder, x: Tensor, batch: Tensor, rows: tuple[Tensor, Tensor], columns: tuple[Tensor, Tensor], fn: str
) -> Tensor:
    """Mean or maximum of the weighted neighbours of a bin's samples: along the columns, where whole rows are read,
    then along the rows, which as weights are not negative gives the maximum too."""
    (regions, height, taps), channels, width = rows[0].shape, x.shape[1], columns[0].shape[1]
    text, shape = "x0[x1[i0], i1, x2[i0, i2, r0], i3] * x3[i0, i2, r0]", (regions, channels, height, x.shape[3])
    tall = build.compute(text, [x, batch, *rows], shape, (taps,), fn)
    text, shape = "x0[i0, i1, i2, x1[i0, i3, r0]] * x2[i0, i3, r0]", (regions, channels, height, width)
    y = build.compute(text, [tall, *columns], shape, (taps,), fn)
    return build.map(f"x0 * {literal(4 / taps**2)}", y) if fn == "add" else y  # type: ignore[operator]


def _bilinear(at: str, size: str) -> tuple[str, str]:
    """(lower neighbour, distance to it) of a coordinate clamped to the image."""
    inside = f"min(max({at}, 0), {size} - 1)"
    return f"floor({inside})", f"({inside} - floor({inside}))"


def _extent(n: int, scale: str, half: bool) -> tuple[str, str]:
    """The begin and the length of a region of x0 along an axis (1: rows)."""
    start, end = f"x0[i0, {n}] * {scale}", f"x0[i0, {n + 2}] * {scale}"
    return f"({start} - 0.5)" if half else f"({start})", f"({end} - {start})" if half else f"max({end} - {start}, 1)"


class _Side:
    """The samples of bins along an axis for sampling_ratio 0: as many as the bin is long, rounded up.

    Samples are over half a pixel from each other: of all there may be at most ``most`` are inside of the image. Sample
    r0 of bin i1 of region i0 counts from the first of these.
    """

    def __init__(self, build: Builder, rois: Tensor, bins: int, extent: DimLike, region: tuple[str, str]) -> None:
        first, size = region
        regions, self.bins, self.extent, self.most = rois.shape[0], bins, extent, 2 * extent + 4
        self.element, self.size = rois.element, f"{rois.element}({extent})"
        length = f"({size}) / {float(bins)}"
        start = build.compute(f"{first} + {self.element}(i1) * ({length})", [rois], (regions, bins))
        count = build.compute(f"max(ceil({length}), 0)", [rois], (regions,))
        step = build.compute(f"{length} / max(x1[i0], 1)", [rois, count], (regions,))
        skipped = "max(ceil((-1 - x0[i0, i1]) / max(x1[i0], 1e-30) - 0.5) - 1, 0)"
        begin = build.compute(skipped, [start, step], (regions, bins))
        self.tensors = [start, step, count, begin]

    def at(self, number: str, bin_: str, first: int = 0) -> str:
        """The coordinate of a sample. ``first`` is the operand number of the first of this side's tensors."""
        start, step = f"x{first}[i0, {bin_}]", f"x{first + 1}[i0]"
        return f"({start} + ({number} + 0.5) * {step})"

    def sample(self, bin_: str, first: int = 0) -> tuple[str, str]:
        """The coordinate of sample r0, and whether the sample exists and lies inside the image."""
        number = f"(x{first + 3}[i0, {bin_}] + {self.element}(r0))"
        at = self.at(number, bin_, first)
        return at, f"({number} < x{first + 2}[i0]) & ({at} >= -1) & ({at} <= {self.size})"

    def weights(self, build: Builder) -> Tensor:
        """[regions, bins, extent]: the weight of a pixel in the mean of a bin."""
        at, counts = self.sample("i1")
        near = f"max(1 - abs(min(max({at}, 0), {self.size} - 1) - {self.element}(i2)), 0)"
        shape = (self.tensors[0].shape[0], self.bins, self.extent)
        total = build.compute(f"where({counts}, {near}, 0)", self.tensors, shape, (self.most,), "add")
        return build.compute("x0[i0, i1, i2] / max(x1[i0], 1)", [total, self.tensors[2]], shape)

    def outside(self, build: Builder) -> Tensor:
        """[regions, bins]: 0 where some sample lies outside the image (it counts with the value 0), else minus
        infinity.
        """
        first, last = self.at("0", "i1"), self.at("(x2[i0] - 1)", "i1")
        text = f"where((x2[i0] == 0) | ({first} < -1) | ({last} > {self.size}), {self.element}(0), -inf)"
        return build.compute(text, self.tensors, self.tensors[0].shape)


def _adaptive_mean(build: Builder, x: Tensor, batch: Tensor, rows: _Side, columns: _Side) -> Tensor:
    """Weights of rows and of columns are separable, so a mean is two small products."""
    regions, (_, channels, height, width) = batch.shape[0], x.shape
    text, shape = "x0[i0, i2, r0] * x1[x2[i0], i1, r0, i3]", (regions, channels, rows.bins, width)
    tall = build.compute(text, [rows.weights(build), x, batch], shape, (height,), "add")
    text, shape = "x0[i0, i1, i2, r0] * x1[i0, i3, r0]", (regions, channels, rows.bins, columns.bins)
    return build.compute(text, [tall, columns.weights(build)], shape, (width,), "add")


def _adaptive_max(build: Builder, x: Tensor, batch: Tensor, rows: _Side, columns: _Side) -> Tensor:
    """The maximum of all samples' weighted neighbours: along the columns first, as weights are not negative."""
    at, counts = rows.sample("i2", 2)
    regions, (_, channels, _, width) = batch.shape[0], x.shape
    text = _larger(at, counts, "x0[x1[i0], i1, i64({pixel}), i3]", rows.size)
    tall = build.compute(text, [x, batch, *rows.tensors], (regions, channels, rows.bins, width), (rows.most,), "max")
    tall = build.compute("max(x0[i0, i1, i2, i3], x1[i0, i2])", [tall, rows.outside(build)], tall.shape)
    at, counts = columns.sample("i3", 1)
    text, shape = _larger(at, counts, "x0[i0, i1, i2, i64({pixel})]", columns.size), (*tall.shape[:3], columns.bins)
    y = build.compute(text, [tall, *columns.tensors], shape, (columns.most,), "max")
    return build.compute("max(x0[i0, i1, i2, i3], x1[i0, i3])", [y, columns.outside(build)], shape)


def _larger(at: str, counts: str, read: str, size: str) -> str:
    """The larger of the two weighted neighbours of a sample that exists."""
    low, far = _bilinear(at, size)
    high = f"min({low} + 1, {size} - 1)"
    return f"where({counts}, max({read.format(pixel=low)} * (1 - {far}), {read.format(pixel=high)} * {far}), -inf)"
