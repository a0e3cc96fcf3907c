"""Non-maximum suppression: of overlapping boxes, only the one with the highest score is selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.library import LibraryOp, whole_numbers
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import element_of, shape_of, tensor


@irdl_op_definition
class NonMaxSuppressionOp(LibraryOp):
    """Non-maximum suppression: the indices of the boxes selected in each row of ``scores``, the best first, then -1.

    ``%p = graph.non_max_suppression(%boxes, %scores, %most, %overlap, %least) {limit = "10"} : … -> tensor<6x60xi64>``

    ``boxes`` [images, boxes, 4]: least and greatest corner; ``scores`` [images · classes, boxes]. Boxes with scores
    above ``least`` are visited by descending score. A box is selected unless its intersection over union with a
    selected box is above ``overlap``; at most ``most`` and ``limit`` boxes. Elements after the first ``limit`` are
    unspecified.
    """

    name = "graph.non_max_suppression"
    boxes = operand_def(TensorType)
    scores = operand_def(TensorType)
    most = operand_def(TensorType)
    overlap = operand_def(TensorType)
    least = operand_def(TensorType)
    result = result_def(TensorType)
    limit = prop_def(StringAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "`(` $boxes `,` $scores `,` $most `,` $overlap `,` $least `)` attr-dict `:` type($boxes) `,` type($scores) `,`"
        "type($most) `,` type($overlap) `,` type($least) `->` type($result)"
    )

    def __init__(self, operands: Sequence[SSAValue], limit: DimLike):
        properties = {"limit": StringAttr(str(limit))}
        super().__init__(operands=operands, properties=properties, result_types=[_picks(operands[1], limit)])

    @property
    def function(self) -> str:
        return "non_max_suppression"

    @property
    def integers(self) -> Sequence[DimLike]:
        images, count, _ = shape_of(self.boxes)
        return (shape_of(self.scores)[0], images, count, parse_dim(self.limit.data))

    def infer(self) -> TensorType:
        images, count, corners = shape_of(self.boxes)
        _, scored = shape_of(self.scores)
        if corners != 4 or scored != count or any(element_of(v) != "f32" for v in (self.boxes, self.scores)):
            raise VerifyException(f"{self.name}: boxes {self.boxes.type} and scores {self.scores.type} do not fit")
        return _picks(self.scores, parse_dim(self.limit.data))

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        boxes, scores, most, overlap, least = operands
        (limit,) = whole_numbers([parse_dim(self.limit.data)], symbols)
        found = np.zeros((len(scores), limit + scores.shape[1]), np.int64)
        found[:, :limit] = -1
        for row, values in enumerate(scores):
            image = boxes[row * len(boxes) // max(len(scores), 1)]
            selected = _selected(image, values, min(limit, int(most.item())), overlap.item(), least.item())
            found[row, : len(selected)] = selected
        return found


def _picks(scores: SSAValue, limit: DimLike) -> TensorType:
    rows, count = shape_of(scores)
    return tensor("i64", [rows, limit + count])


def _selected(boxes: Array, scores: Array, most: int, overlap: float, least: float) -> list[int]:
    selected: list[int] = []
    for box in np.argsort(-scores, kind="stable"):
        if len(selected) >= most or not scores[box] > least:
            break
        if all(_share(boxes[box], boxes[other]) <= overlap for other in selected):
            selected.append(int(box))
    return selected


def _share(a: Array, b: Array) -> float:
    """Return the intersection over union of two boxes; 0 for disjoint boxes."""
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    if (sides <= 0).any():
        return 0.0
    common, areas = np.prod(sides), np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2])
    return float(common / (areas - common))
