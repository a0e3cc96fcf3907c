"""The blocked layout NCXc: [N, C, X…] as [N, ⌈C/b⌉, X…, b], and what it takes to go there and back."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from mlc.dialects.dims import ceildiv, product
from mlc.dialects.graph import (
    BitcastOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
    dims_of,
    ints_of,
    source_nodes,
    with_nodes,
)
from mlc.dialects.types import Shape, shape_of
from mlc.passes.graph.lanes import ZERO, Lanes, union


@dataclass(frozen=True)
class Blocked:
    """A tensor [N, C, X…] held as ``value``: [N, ⌈C/b⌉, X…, b], or flat, [N, ⌈C/b⌉, ∏X, b] (the same buffer)."""

    value: SSAValue
    channels: int
    block: int
    spatial: Shape
    lanes: Lanes = ZERO

    @property
    def flat(self) -> bool:
        return shape_of(self.value)[2:-1] != self.spatial

    @property
    def aligned(self) -> bool:
        """No padding lanes."""
        return self.channels % self.block == 0

    @property
    def shape(self) -> Shape:
        """Of the plain tensor."""
        return (shape_of(self.value)[0], self.channels, *self.spatial)


class Emitter:
    """Inserts operations before ``anchor``, as coming from the source nodes ``nodes`` (else from the anchor's)."""

    def __init__(self, anchor: Operation, nodes: tuple[str, ...] = ()) -> None:
        self.anchor = anchor
        self.nodes = nodes or source_nodes(anchor)

    def emit(self, op: Operation) -> SSAValue:
        block = self.anchor.parent
        assert block is not None
        block.insert_op_before(with_nodes(op, self.nodes), self.anchor)
        return op.results[0]

    def reshape(self, x: SSAValue, shape: Shape) -> SSAValue:
        return x if shape_of(x) == tuple(shape) else self.emit(ReshapeOp(x, shape))

    def transpose(self, x: SSAValue, perm: list[int]) -> SSAValue:
        return x if perm == sorted(perm) else self.emit(TransposeOp(x, perm))

    def fill(self, x: SSAValue, axis: int, multiple: int) -> SSAValue:
        """``x`` padded with zeros behind, so that the extent of ``axis`` is a multiple."""
        shape = shape_of(x)
        more = -shape[axis] % multiple
        high = [more if n == axis else 0 for n in range(len(shape))]
        return self.emit(PadOp(x, [0] * len(shape), high)) if more else x

    def split(self, x: SSAValue, axis: int, block: int) -> SSAValue:
        """Axis of extent C as two, [⌈C/b⌉, b]."""
        x = self.fill(x, axis, block)
        shape = shape_of(x)
        return self.reshape(x, (*shape[:axis], shape[axis] // block, block, *shape[axis + 1 :]))

    def words(self, x: SSAValue) -> SSAValue:
        """Bytes as i32, four along the last axis in each."""
        return self.emit(BitcastOp(x))

    def by_fours(self, x: SSAValue) -> SSAValue:
        """Bytes [X…, k, n] as words [X…, k/4, n], four rows in each; k is filled with zeros."""
        rank = len(shape_of(x))
        turned = [*range(rank - 2), rank - 1, rank - 2]
        columns = self.fill(self.transpose(x, turned), rank - 1, 4)
        return self.transpose(self.words(columns), turned)

    def block(self, x: SSAValue, block: int) -> Blocked:
        """[N, C, X…] → NCXc, by one transposition."""
        shape = shape_of(x)
        rank = len(shape)
        split = self.split(x, 1, block)
        value = self.transpose(split, [0, 1, *range(3, rank + 1), 2])
        return Blocked(value, int(shape[1]), block, shape[2:])  # type: ignore[arg-type]

    def unblock(self, x: Blocked) -> SSAValue:
        """NCXc → [N, C, X…]"""
        rank = len(shape_of(x.value))
        plain = self.transpose(x.value, [0, 1, rank - 1, *range(2, rank - 1)])
        whole = (x.shape[0], ceildiv(x.channels, x.block) * x.block, *x.spatial)
        return self.first_channels(self.reshape(plain, whole), x.channels)

    def first_channels(self, x: SSAValue, channels: int) -> SSAValue:
        shape = shape_of(x)
        if shape[1] == channels:
            return x
        return self.emit(SliceOp(x, [0] * len(shape), (shape[0], channels, *shape[2:]), [1] * len(shape)))

    def flat(self, x: Blocked) -> SSAValue:
        """The value with all positions in one dimension."""
        shape = shape_of(x.value)
        return self.reshape(x.value, (*shape[:2], product(x.spatial), x.block))

    def deep(self, x: Blocked) -> SSAValue:
        """The value with a dimension for each spatial one."""
        shape = shape_of(x.value)
        return self.reshape(x.value, (*shape[:2], *x.spatial, x.block))


def spares_channels(op: PadOp) -> bool:
    return dims_of(op.low)[1] == dims_of(op.high)[1] == ints_of(op.interior)[1] == 0


def padded(op: PadOp, x: Blocked, emitter: Emitter) -> Blocked:
    """The padding ``op`` of ``x``."""
    low, high, interior = dims_of(op.low), dims_of(op.high), ints_of(op.interior)
    new = PadOp(emitter.deep(x), [*low, 0], [*high, 0], op.value.data, [*interior, 0])
    lanes = union([x.lanes, frozenset([op.number])])
    return Blocked(emitter.emit(new), x.channels, x.block, shape_of(op.result)[2:], lanes)
