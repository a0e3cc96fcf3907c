"""NonMaxSuppression: the best box of each class, without those that overlap it, and so on.

A function in C does it for each image and class. How many boxes there are the model finds out when it runs
(``Builder.positions``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.dialects.dims import DimLike, product
from mlc.dialects.graph import SuppressOp
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import smaller
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.tensors import Tensor

KINDS = ("f32", "f32", "i64", "f32", "f32")  # of boxes, scores and limits


@onnx_op("NonMaxSuppression", since=10)
def non_max_suppression(node: Node) -> Tensor:
    """[count, 3]: image, class and box of each box taken, the best first within a class. ONNX opset 10, 11.

    Without a number of boxes none is taken; one that is computed when the model runs is bounded by that of all boxes.
    """
    build, scores, most = node.build, node[1], node.get(2)
    images, classes, count = scores.shape
    kinds = [kind if (x := node.get(at)) is None else x.element for at, kind in enumerate(KINDS)]
    if kinds != list(KINDS):
        raise NotSupported(f"boxes, scores and limits of {', '.join(kinds)}; cast them to {', '.join(KINDS)}")
    if node[0].shape != (images, count, 4):
        raise NotSupported(f"boxes {node[0].shape} for scores {scores.shape}")
    limit: DimLike = count
    if most is None or most.known is not None:
        limit = smaller(count, max(node.scalar(2, 0), 0))
    if limit == 0:
        return Tensor.from_known(np.zeros((0, 3), np.int64))
    rows = build.reshape(scores, (images * classes, count))
    boxes = _corners(build, node[0], node.flag("center_point_box", 0))
    limits = [_or(build, x, default) for x, default in ((most, 0), (node.get(3), np.float32(0)), (node.get(4), None))]
    picks = build.emit(SuppressOp(build.values(boxes, rows, *limits), limit))
    picks = build.slice(picks, [0, 0], [rows.shape[0], limit])
    return _taken(build, build.reshape(picks, (images, classes, limit)))


def _or(build: Builder, x: Tensor | None, default: Any) -> Tensor:
    """A scalar, or what stands for an absent one; without a least score any but -inf is enough."""
    if x is None:
        return build.constant(-np.inf, "f32") if default is None else Tensor.from_known(np.asarray(default))
    return build.reshape(x, ())


def _taken(build: Builder, picks: Tensor) -> Tensor:
    """Rows (image, class, box) of the boxes [images, classes, steps] that are there."""
    total = product(picks.shape)
    _, classes, steps = picks.shape
    flat = build.reshape(picks, (total,))
    at = build.positions(build.map("x0 >= 0", flat))
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
