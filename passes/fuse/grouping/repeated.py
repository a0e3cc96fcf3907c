"""Repeated values: a reshape of a broadcast repeats the elements of a tensor along an axis; transpositions and maps may
follow.

%b = graph.broadcast(%k) : 4x1x256x64 -> 4x2x256x64
%r = graph.reshape(%b) : 8x256x64                      element (a, n, k) of %r is element (a // 2, n, k) of %k
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import BroadcastOp, MapOp, ReshapeOp, TransposeOp, ints_of, source_nodes, with_nodes
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import shape_of
from mlc.passes.rewriter import producer

Step = Callable[[SSAValue], Operation]


@dataclass(frozen=True)
class Repeated:
    """How a value repeats another. Its axis ``axis`` merges two axes of the extents ``parts``. Applying ``steps`` to
    ``source`` gives the value without repetition, which has only the axis numbered ``kept`` (0 or 1) of the two."""

    axis: int
    parts: tuple[DimLike, DimLike]
    kept: int
    source: SSAValue
    steps: tuple[Step, ...]

    def then(self, axis: int, step: Step) -> Repeated:
        """Return the same value after one more step, which moves the repetition to ``axis``."""
        return replace(self, axis=axis, steps=(*self.steps, step))

    def insert_before(self, user: Operation) -> SSAValue:
        """Insert the steps before ``user``, and return the value without repetition."""
        assert (block := user.parent) is not None
        value = self.source
        for step in self.steps:
            op = with_nodes(step(value), source_nodes(user))
            block.insert_op_before(op, user)
            value = op.results[0]
        return value


def repeated(value: SSAValue) -> Repeated | None:
    """Return how a value repeats another; None if it does not, or not along one axis."""
    match value.owner:
        case TransposeOp(input=inner, perm=perm) if found := repeated(inner):
            order = ints_of(perm)
            return found.then(order.index(found.axis), lambda x: TransposeOp(x, order))
        case MapOp(args=(inner,), scalar=scalar) if found := repeated(inner):
            return found.then(found.axis, lambda x: MapOp(scalar, [x]))
    merge = producer(value, ReshapeOp)
    stretch = merge and producer(merge.input, BroadcastOp)
    return _merged(value, stretch) if stretch else None


def _merged(value: SSAValue, stretch: BroadcastOp) -> Repeated | None:
    """Return the repetition by a reshape that merges a broadcast axis with a neighbouring axis; None for other
    reshapes."""
    before, after, merged = (shape_of(v) for v in (stretch.input, stretch.result, value))
    before = (*[1] * (len(after) - len(before)), *before)
    for axis, parts in enumerate(itertools.pairwise(after)):
        start, end = after[:axis], after[axis + 2 :]
        if merged != (*start, parts[0] * parts[1], *end):
            continue
        for kept, there in enumerate([(parts[0], 1), (1, parts[1])]):
            if before == (*start, *there, *end) and parts[1 - kept] != 1:
                return Repeated(axis, parts, kept, stretch.input, (_reshape([*start, parts[kept], *end]),))
    return None


def _reshape(shape: Sequence[DimLike]) -> Step:
    return lambda x: ReshapeOp(x, shape)
