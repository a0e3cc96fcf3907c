"""Non-maximum suppression: the best box of each class, without those that overlap it, and so on. Source: ONNX 11.

A runtime library function does it for each image and class. How many boxes there are is known at run time
(``Builder.nonzero``).
"""

from __future__ import annotations

import numpy as np

from mlc.dialects.graph import NonMaxSuppressionOp
from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import with_shape

KINDS = ("f32", "f32", "i64", "f32", "f32")  # of boxes, scores and limits


def non_max_suppression(
    build: Builder,
    boxes: Tensor,
    scores: Tensor,
    most: Tensor,
    overlap: Tensor | None,
    least: Tensor | None,
    bound: DimLike,
    centers: bool,
) -> Tensor:
    """[count, 3] of i64: image, class and box of each box selected, the best first within a class.

    ``boxes`` [N, boxes, 4]: two opposite corners, or with ``centers`` a center and extents; ``scores`` [N, classes,
    boxes]. Scalars: ``most`` boxes of a class (i64), which is at most ``bound``; the ``overlap`` (intersection over
    union) above which a box is suppressed, by default 0; the ``least`` score.
    """
    images, classes, count = scores.shape
    operands = (boxes, scores, most, overlap, least)
    kinds = [kind if x is None else x.element for x, kind in zip(operands, KINDS, strict=True)]
    if kinds != list(KINDS):
        raise NotSupported(f"boxes, scores and limits of {', '.join(kinds)}; cast them to {', '.join(KINDS)}")
    boxes = with_shape(build, boxes, (images, count, 4))
    if boxes.shape != (images, count, 4):
        raise NotSupported(f"boxes {boxes.shape} for scores {scores.shape}")
    if wrong := [x for x in operands[2:] if x is not None and not _may_be_one_number(x)]:
        raise NotSupported(f"a limit {wrong[0]}; each is one number")
    if 0 in (bound, images, classes, count):
        return Tensor.from_known(np.zeros((0, 3), np.int64))
    rows = build.reshape(scores, (images * classes, count))
    corners = _corners(build, boxes, centers)
    overlap = build.constant(0, "f32") if overlap is None else overlap
    least = build.constant(-np.inf, "f32") if least is None else least
    limits = [build.reshape(x, ()) for x in (most, overlap, least)]
    picks = build.emit(NonMaxSuppressionOp(build.values(corners, rows, *limits), bound))
    picks = build.slice(picks, [0, 0], [rows.shape[0], bound])
    return _selected(build, build.reshape(picks, (images, classes, bound)))


def _may_be_one_number(limit: Tensor) -> bool:
    """Whether a tensor has one element, or has an open extent that may be 1, which a guard then requires."""
    return limit.rank < 2 and not any(isinstance(extent, int) and extent != 1 for extent in limit.shape)


def _selected(build: Builder, picks: Tensor) -> Tensor:
    """Rows (image, class, box) of the selected boxes: the entries of [images, classes, steps] that are not negative."""
    total = product(picks.shape)
    _, classes, steps = picks.shape
    flat = build.reshape(picks, (total,))
    at = build.nonzero(build.map("x0 >= 0", flat))
    image, kind = f"x0[i0] // ({classes * steps})", f"x0[i0] // ({steps}) % ({classes})"
    text = f"where(i1 == 0, {image}, where(i1 == 1, {kind}, x1[x0[i0]]))"
    return build.compute(text, [at, flat], (*at.shape, 3))


def _corners(build: Builder, boxes: Tensor, center: bool) -> Tensor:
    """[images, boxes, 4]: the least and the greatest corner, from two opposite ones or from centers and extents."""
    sign, least, most = "where(i2 < 2, -1, 1)", "x0[i0, i1, i2 % 2]", "x0[i0, i1, i2 % 2 + 2]"
    text = f"where(i2 < 2, min({least}, {most}), max({least}, {most}))"
    if center:
        text = f"{least} + {most} / (2 * {sign})"
    return build.compute(text, [boxes], (*boxes.shape[:2], 4))
