"""NonMaxSuppression: the best box of each class, without those that overlap it, and so on.

The steps are unrolled, as many as boxes may be taken of a class; all images and classes take them together. Which
steps found a box is a mask, and where that is true the model finds out when it runs (``Builder.positions``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlc.dialects.dims import product
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.control import MAX_STEPS
from mlc.frontends.onnx.tensors import Tensor


@onnx_op("NonMaxSuppression", since=10)
def non_max_suppression(node: Node) -> Tensor:
    """[count, 3]: image, class and box of each box taken, the best first within a class."""
    build, scores = node.build, node[1]
    most = node.scalar(2, 0)
    count = min(most, scores.shape[2]) if isinstance(scores.shape[2], int) else most
    if count <= 0:
        return Tensor.from_known(np.zeros((0, 3), np.int64))
    if count > MAX_STEPS:
        raise NotSupported(f"up to {count} boxes of a class; at most {MAX_STEPS} steps are unrolled")
    boxes = Boxes.of(build, node[0], node.flag("center_point_box", 0))
    threshold = node.get(4)
    if threshold is not None:
        scores = build.map("where(x0 > x1, x0, -inf)", scores, _scalar(build, threshold))
    overlap = _scalar(build, node.get(3) or build.constant(0.0, "f32"))
    picks, hits = [], []
    for _ in range(count):
        best = build.reduce("max", scores, [2], keepdims=True)
        text = f"where(x0[i0, i1, r0] == x1[i0, i1, 0], r0, {scores.shape[2]})"
        pick = build.compute(text, [scores, best], (*scores.shape[:2], 1), [scores.shape[2]], "min")
        picks.append(pick)
        hits.append(build.map("x0 > -inf", best))
        scores = boxes.without(build, scores, pick, overlap)
    return _taken(build, build.concat(picks, 2), build.concat(hits, 2))


def _scalar(build: Builder, x: Tensor) -> Tensor:
    return build.reshape(x, ())


def _taken(build: Builder, picks: Tensor, hits: Tensor) -> Tensor:
    """Rows (image, class, box) of the steps [images, classes, steps] that took one."""
    total = product(hits.shape)
    _, classes, steps = hits.shape
    at = build.positions(build.reshape(hits, (total,)))
    image, kind = f"x0[i0] // ({classes * steps})", f"x0[i0] // {steps} % ({classes})"
    text = f"where(i1 == 0, {image}, where(i1 == 1, {kind}, x1[x0[i0]]))"
    return build.compute(text, [at, build.reshape(picks, (total,))], (*at.shape, 3))


@dataclass(frozen=True)
class Boxes:
    """[images, boxes]: the least and the greatest corner of each in two dimensions."""

    low: tuple[Tensor, Tensor]
    high: tuple[Tensor, Tensor]

    @staticmethod
    def of(build: Builder, boxes: Tensor, center: bool) -> Boxes:
        """From two opposite corners, or from centers and extents."""
        names = [f"x0[i0, i1, {n}]" for n in range(4)]
        shape = boxes.shape[:2]

        def corner(n: int, sign: str) -> Tensor:
            text = f"{names[n]} {sign} {names[n + 2]} / 2"
            if not center:
                text = f"{'min' if sign == '-' else 'max'}({names[n]}, {names[n + 2]})"
            return build.compute(text, [boxes], shape)

        return Boxes((corner(0, "-"), corner(1, "-")), (corner(0, "+"), corner(1, "+")))

    def without(self, build: Builder, scores: Tensor, pick: Tensor, overlap: Tensor) -> Tensor:
        """``scores`` [images, classes, boxes] without the box taken, and what shares over ``overlap`` with it."""
        area = " * ".join(f"({high} - {low})" for low, high in (("{0}", "{2}"), ("{1}", "{3}")))
        here, there = ([f"x{2 + n}[i0, {at}]" for n in range(4)] for at in ("i2", "x1[i0, i1, 0]"))
        common = " * ".join(
            f"max(min({here[n + 2]}, {there[n + 2]}) - max({here[n]}, {there[n]}), 0)" for n in range(2)
        )
        total = f"({area.format(*here)} + {area.format(*there)} - {common})"
        gone = f"(i2 == x1[i0, i1, 0]) | (({common} > 0) & ({common} / {total} > x6[()]))"
        xs = [scores, pick, *self.low, *self.high, overlap]
        return build.compute(f"where({gone}, -inf, x0[i0, i1, i2])", xs, scores.shape)
