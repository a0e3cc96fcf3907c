"""Operators that are no loop nests: what they compute is a routine in C (``runtime/c/mlc_routines.h``).

Each becomes a kernel of its own that calls the routine, so it is launched, planned, timed and shared out among threads
as every other kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import BoolAttr, StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dims import DimLike, evaluate, parse_dim, product
from mlc.dialects.evaluate import Array
from mlc.dialects.graph.base import GraphOp
from mlc.dialects.types import element_of, shape_of, tensor

ORDERED = ("f32", "f64", "i32", "i64", "ui64")
FEW = 8  # a count of at most this part of the elements is selected by a heap, a greater one sorted


class RoutineOp(GraphOp, ABC):
    """Calls ``routine`` on the operands, the result, and ``integers``."""

    @property
    @abstractmethod
    def routine(self) -> str:
        """The name of the C function, without its prefix ``mlc_``."""

    @property
    @abstractmethod
    def integers(self) -> Sequence[DimLike]:
        """What it is told beside the buffers: sizes and choices."""

    @abstractmethod
    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """The result as NumPy computes it; what the routine leaves unspecified is 0."""


def _matrix(name: str, x: SSAValue, rank: int) -> None:
    if len(shape_of(x)) != rank or element_of(x) not in ORDERED:
        raise VerifyException(f"{name}: it takes a tensor of rank {rank} of {', '.join(ORDERED)}, not {x.type}")


@irdl_op_definition
class OrderOp(RoutineOp):
    """The places of the first ``count`` elements of each row, the least first, or the greatest if ``descending``.

    ``%p = graph.order(%x) {count = "5", descending = true} : tensor<2x100x1xf32> -> tensor<2x5xi64>``

    An element of a row is a vector (the last dimension), compared from its first number on. Of equal ones the first
    comes first; NaN is greater than all others. Where many are wanted, all are sorted: then a row of the result has
    room for twice as many as there are, and what stands behind the first ``count`` is unspecified.
    """

    name = "graph.order"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    count = prop_def(StringAttr)
    descending = prop_def(BoolAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` type($input) `->` type($result)"

    def __init__(self, input: SSAValue, count: DimLike, descending: bool):
        properties = {"count": StringAttr(str(count)), "descending": BoolAttr.from_bool(descending)}
        rows, size, _ = shape_of(input)
        result = tensor("i64", [rows, _room(size, count)])
        super().__init__(operands=[input], properties=properties, result_types=[result])

    @property
    def routine(self) -> str:
        return f"order_{element_of(self.input)}"

    @property
    def integers(self) -> Sequence[DimLike]:
        count = parse_dim(self.count.data)
        return (*shape_of(self.input), count, shape_of(self.result)[1], int(bool(self.descending)))

    def infer(self) -> TensorType:
        _matrix(self.name, self.input, 3)
        rows, size, _ = shape_of(self.input)
        return tensor("i64", [rows, _room(size, parse_dim(self.count.data))])

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        x, (rows, room) = operands[0], (int(evaluate(d, symbols or {})) for d in shape_of(self.result))
        count = int(evaluate(parse_dim(self.count.data), symbols or {}))
        ranks = np.stack([_ranks(x[..., n], bool(self.descending)) for n in range(x.shape[2])])
        found = np.zeros((rows, room), np.int64)
        found[:, :count] = np.lexsort(ranks[::-1], axis=-1)[:, :count]
        return found


def _room(size: DimLike, count: DimLike) -> DimLike:
    few = isinstance(size, int) and isinstance(count, int) and count * FEW <= size
    return count if few else 2 * size


def _ranks(x: Array, descending: bool) -> Array:
    """Numbers that order as ``x`` does."""
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape)
    return -ranks if descending else ranks


@irdl_op_definition
class ScanOp(RoutineOp):
    """Running sums (or products) along the middle dimension, from its end where ``reverse``.

    ``%y = graph.scan "add"(%x) {exclusive = false, reverse = false} : tensor<4x100x8xf32> -> tensor<4x100x8xf32>``

    ``exclusive``: without the element itself.
    """

    name = "graph.scan"
    monoid = prop_def(StringAttr)
    input = operand_def(TensorType)
    result = result_def(TensorType)
    exclusive = prop_def(BoolAttr)
    reverse = prop_def(BoolAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$monoid `(` $input `)` attr-dict `:` type($input) `->` type($result)"

    def __init__(self, monoid: str, input: SSAValue, exclusive: bool, reverse: bool):
        flags = {"exclusive": BoolAttr.from_bool(exclusive), "reverse": BoolAttr.from_bool(reverse)}
        properties = {"monoid": StringAttr(monoid), **flags}
        super().__init__(operands=[input], properties=properties, result_types=[input.type])

    @property
    def routine(self) -> str:
        return f"scan_{self.monoid.data}_{element_of(self.input)}"

    @property
    def integers(self) -> Sequence[DimLike]:
        return (*shape_of(self.input), int(bool(self.exclusive)), int(bool(self.reverse)))

    def infer(self) -> TensorType:
        _matrix(self.name, self.input, 3)
        if self.monoid.data not in ("add", "mul"):
            raise VerifyException(f"graph.scan: there are running sums and products, not {self.monoid.data!r}")
        return tensor(element_of(self.input), shape_of(self.input))

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        function, first = (np.cumsum, 0) if self.monoid.data == "add" else (np.cumprod, 1)
        x = operands[0][:, ::-1] if self.reverse else operands[0]
        y = function(x, axis=1, dtype=x.dtype)
        if self.exclusive:
            y = np.concatenate([np.full_like(y[:, :1], first), y[:, :-1]], axis=1)
        return np.ascontiguousarray(y[:, ::-1] if self.reverse else y)


@irdl_op_definition
class SuppressOp(RoutineOp):
    """The boxes of each row of ``scores`` that are taken, the best first; -1 behind the last.

    ``%p = graph.suppress(%boxes, %scores, %most, %overlap, %least) {limit = "10"} : … -> tensor<6x110xi64>``

    ``boxes`` [images, boxes, 4]: least and greatest corner; ``scores`` [images · classes, boxes]. Of the boxes that
    score over ``least`` the best is taken, unless its intersection with a taken one is over ``overlap`` of their union;
    and so on, ``most`` times and at most ``limit`` times. What stands behind the first ``limit`` is unspecified.
    """

    name = "graph.suppress"
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
        rows, count = shape_of(operands[1])
        result = tensor("i64", [rows, limit + 2 * count])
        super().__init__(operands=operands, properties={"limit": StringAttr(str(limit))}, result_types=[result])

    @property
    def routine(self) -> str:
        return "suppress"

    @property
    def integers(self) -> Sequence[DimLike]:
        images, count, _ = shape_of(self.boxes)
        return (shape_of(self.scores)[0], images, count, parse_dim(self.limit.data))

    def infer(self) -> TensorType:
        images, count, corners = shape_of(self.boxes)
        rows, scored = shape_of(self.scores)
        if corners != 4 or scored != count or any(element_of(v) != "f32" for v in (self.boxes, self.scores)):
            raise VerifyException(f"graph.suppress: boxes {self.boxes.type} and scores {self.scores.type} do not fit")
        return tensor("i64", [rows, parse_dim(self.limit.data) + 2 * count])

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        boxes, scores, most, overlap, least = operands
        limit = int(evaluate(parse_dim(self.limit.data), symbols or {}))
        found = np.zeros((len(scores), limit + 2 * scores.shape[1]), np.int64)
        found[:, :limit] = -1
        for row, values in enumerate(scores):
            image = boxes[row * len(boxes) // max(len(scores), 1)]
            taken = _taken(image, values, min(limit, int(most.item())), overlap.item(), least.item())
            found[row, : len(taken)] = taken
        return found


def _taken(boxes: Array, scores: Array, most: int, overlap: float, least: float) -> list[int]:
    taken: list[int] = []
    for box in np.argsort(-scores, kind="stable"):
        if len(taken) >= most or not scores[box] > least:
            break
        if all(_share(boxes[box], boxes[other]) <= overlap for other in taken):
            taken.append(int(box))
    return taken


def _share(a: Array, b: Array) -> float:
    """Intersection over union; 0 where they do not meet."""
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    if (sides <= 0).any():
        return 0.0
    common = product(sides)
    return common / (product(a[2:] - a[:2]) + product(b[2:] - b[:2]) - common)
