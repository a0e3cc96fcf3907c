"""Crops of images at boxes, resized to one size, corners on corners. Source: onnxruntime's CropAndResize."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.tensors import Tensor


def crop_and_resize(
    build: Builder, x: Tensor, boxes: Tensor, images: Tensor, size: list[DimLike], linear: bool, outside: float
) -> Tensor:
    """[R, C, *size] of ``x`` [N, C, H, W]: the box [R, 4] (y, x, y, x, from 0 to 1) of image ``images`` [R].

    ``linear``: interpolated, else the nearest element. ``outside``: the value of positions outside of the image.
    """
    at = [_positions(build, boxes, n, x.shape[2 + n], size[n]) for n in range(2)]
    extents = x.shape[2:]
    inside = " & ".join(f"({p} >= 0) & ({p} <= f32({d} - 1))" for p, d in zip(POSITIONS, extents, strict=True))
    image = "i64(x3[i0])"
    if linear:
        below, part = [f"floor({p})" for p in POSITIONS], [f"({p} - floor({p}))" for p in POSITIONS]
        reads = [[f"i64({b})" for b in below], [f"i64(ceil({p}))" for p in POSITIONS]]
        corner = [[f"x0[{image}, i1, {reads[a][0]}, {reads[b][1]}]" for b in range(2)] for a in range(2)]
        rows = [f"({left} + ({right} - {left}) * {part[1]})" for left, right in corner]
        value = f"{rows[0]} + ({rows[1]} - {rows[0]}) * {part[0]}"
    else:
        near = [f"i64(floor({p}) + where({p} - floor({p}) >= 0.5, 1, 0))" for p in POSITIONS]
        value = f"x0[{image}, i1, {near[0]}, {near[1]}]"
    text = f"where({inside}, {value}, {literal(outside)})"
    return build.compute(text, [x, *at, images], (boxes.shape[0], x.shape[1], *size))


POSITIONS = ("x1[i0, i2]", "x2[i0, i3]")  # of a result, in the image


def _positions(build: Builder, boxes: Tensor, n: int, extent: DimLike, size: DimLike) -> Tensor:
    """[R, size]: the positions along dimension ``n`` of the image. A size of 1 reads the middle of the box."""
    low, high, most = f"x0[i0, {n}]", f"x0[i0, {n + 2}]", f"f32({extent} - 1)"
    step = f"({high} - {low}) * {most} / f32(max(({size}) - 1, 1))"
    between = f"where(i1 == ({size}) - 1, {high} * {most}, {low} * {most} + f32(i1) * ({step}))"
    text = f"where(({size}) == 1, 0.5 * ({low} + {high}) * {most}, where(i1 == 0, {low} * {most}, {between}))"
    return build.compute(text, [boxes], (boxes.shape[0], size))
