"""Whole tiles: the padding of an image so that Winograd's tiles cover it."""

from __future__ import annotations

from xdsl.ir import SSAValue

from mlc.dialects.graph import PadOp, dims_of, ints_of, source_nodes
from mlc.dialects.types import shape_of
from mlc.passes.graph.patterns.constants import sole_user
from mlc.passes.op_builder import OpBuilder


def whole_tiles(x: SSAValue, extents: tuple[int, int], m: int, builder: OpBuilder) -> SSAValue:
    """Return ``x`` [N, C, H, W] or [N, C, H, W, b] with zeros appended so that tiles of m x m cover ``extents``. If
    ``x`` is a padding by zeros without other readers, that padding is extended."""
    more = [0, 0, *(-extent % m for extent in extents), *[0] * (len(shape_of(x)) - 4)]
    if not any(more):
        return x
    rank, owner = len(more), x.owner
    zeros = isinstance(owner, PadOp) and owner.number == 0 and not any(ints_of(owner.interior))
    if zeros and isinstance(owner, PadOp) and sole_user(x):
        high = [a + b for a, b in zip(dims_of(owner.high), more, strict=True)]
        padding = OpBuilder(builder.anchor, source_nodes(owner))
        return padding.emit(PadOp(owner.input, dims_of(owner.low), high, owner.value.data))
    return builder.emit(PadOp(x, [0] * rank, more))
