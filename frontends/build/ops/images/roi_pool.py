"""RoI max pooling: maxima over the bins of a grid in each region (Girshick, Fast R-CNN, 2015). ONNX MaxRoiPool 22."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.tensors import Tensor


def max_roi_pool(build: Builder, x: Tensor, rois: Tensor, bins: tuple[int, int], scale: float) -> Tensor:
    """[regions, C, *bins] of images ``x`` [N, C, H, W]; 0 where a bin is empty.

    ``rois`` [regions, 5]: the image, and x and y of two corners, which ``scale`` maps to pixels of ``x``. Maxima over
    the rows of a bin come first, then over its columns.
    """
    element = "f64" if "f64" in (x.element, rois.element) else "f32"
    rois, (height, width), least = build.cast(rois, element), bins, f"{element}(-inf)"
    rows = _bin_ends(build, rois, 1, height, x.shape[2], literal(scale))
    columns = _bin_ends(build, rois, 0, width, x.shape[3], literal(scale))
    inside = "(r0 >= x1[i0, {n}, 0]) & (r0 < x1[i0, {n}, 1])"
    image = f"{element}(x0[i64(x2[i0, 0]), i1, r0, i3])"
    text = f"where({inside.format(n='i2')}, {image}, {least})"
    tall = build.compute(text, [x, rows, rois], (rois.shape[0], x.shape[1], height, x.shape[3]), [x.shape[2]], "max")
    text = f"where({inside.format(n='i3')}, x0[i0, i1, i2, r0], {least})"
    y = build.compute(text, [tall, columns], (*tall.shape[:3], width), [x.shape[3]], "max")
    return build.cast(build.map(f"where(x0 == {least}, 0, x0)", y), x.element)


def _bin_ends(build: Builder, rois: Tensor, n: int, bins: int, extent: DimLike, scale: str) -> Tensor:
    """[regions, bins, 2]: first pixel of each bin along an axis, and the one after its last; ``n`` is 1 for rows."""
    element = rois.element
    start, end = (f"floor(x0[i0, {c}] * {scale} + 0.5)" for c in (n + 1, n + 3))
    size = f"max({end} - {start} + 1, 1) / {float(bins)}"
    first, after = f"floor({element}(i1) * ({size}))", f"ceil(({element}(i1) + 1) * ({size}))"
    text = f"min(max(where(i2 == 0, {first}, {after}) + {start}, 0), {element}({extent}))"
    return build.cast(build.compute(text, [rois], (rois.shape[0], bins, 2)), "i64")
