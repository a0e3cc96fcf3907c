"""Blocked layout NCXc (oneDNN's aBcd16b): [N, C, X…] as [N, ⌈C/b⌉, X…, b], and the conversions in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from mlc.dialects.graph import LayoutAttr, PackOp, PadOp, SliceOp, UnpackOp, dims_of, ints_of, layout
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import Shape, shape_of
from mlc.passes.layout.blocking.padding_values import ZERO, PaddingValues, union
from mlc.passes.op_builder import OpBuilder


@dataclass(frozen=True)
class Blocked:
    """A tensor [N, C, X…] stored as ``value``: [N, ⌈C/b⌉, X…, b], or flat, [N, ⌈C/b⌉, ∏X, b] (the same buffer)."""

    value: SSAValue
    channels: int
    block: int
    spatial: Shape
    padding: PaddingValues = ZERO

    @property
    def flat(self) -> bool:
        return shape_of(self.value)[2:-1] != self.spatial

    @property
    def aligned(self) -> bool:
        """Whether the tensor has no padding channels."""
        return self.channels % self.block == 0

    @property
    def shape(self) -> Shape:
        """The shape of the plain tensor."""
        return (shape_of(self.value)[0], self.channels, *self.spatial)


def blocked(rank: int, block: int) -> LayoutAttr:
    """Return the layout of a tensor [N, C, X…] in blocks of channels: ``aBcd16b``."""
    return layout(rank, [(1, block)])


def panels(columns: int, block: int) -> LayoutAttr:
    """Return the layout of a matrix [K, N] in panels of ``block`` columns: ``Ba32b``."""
    return layout(2, [(1, block)], (1, 0), [-columns % block])


def blocked_conv(rank: int, inner: int, outer: int) -> list[LayoutAttr]:
    """Return the layouts of input, weight and result of a convolution in ``rank`` spatial dimensions, from blocks of
    ``inner`` to blocks of ``outer`` channels."""
    weight = layout(rank + 2, [(1, inner), (0, outer)])
    return [blocked(rank + 2, inner), weight, blocked(rank + 2, outer)]


class LayoutBuilder(OpBuilder):
    """A builder of operators on blocked tensors."""

    def pack(self, x: SSAValue, *tiles: tuple[int, int], order: Sequence[int] | None = None) -> SSAValue:
        """Return ``x`` packed: ``tiles`` are the dimensions that are split into tiles, with the extents of these."""
        return self.emit(PackOp(x, layout(len(shape_of(x)), tiles, order)))

    def packed_rows(self, x: SSAValue, count: int) -> SSAValue:
        """Return narrow elements [X…, k, n] as packed integers [X…, k/count, n], with ``count`` rows in each; k is
        padded with zeros."""
        rank = len(shape_of(x))
        turned = [*range(rank - 2), rank - 1, rank - 2]
        columns = self.fill(self.transpose(x, turned), rank - 1, count)
        return self.transpose(self.packed(columns), turned)

    def block(self, x: SSAValue, block: int) -> Blocked:
        """[N, C, X…] → NCXc"""
        shape = shape_of(x)
        return Blocked(self.pack(x, (1, block)), int(shape[1]), block, shape[2:])  # type: ignore[arg-type]

    def whole_block(self, x: SSAValue, block: int) -> Blocked:
        """[N, C, X…] → [N, 1, X…, b] with one block of at least C channels. Zeros are appended once channels are the
        last dimension, so that one padding can also append borders."""
        shape, channels = shape_of(x), int(shape_of(x)[1])  # type: ignore[arg-type]
        moved = self.pack(x, (1, channels))
        return Blocked(self.fill(moved, len(shape), block), channels, block, shape[2:])

    def without_padding(self, x: Blocked) -> Blocked:
        """Return ``x``, which has a single block, without its padding channels."""
        if x.aligned:
            return x
        shape = (*shape_of(x.value)[:-1], x.channels)
        own = self.emit(SliceOp(x.value, [0] * len(shape), shape, [1] * len(shape)))
        return replace(x, value=own, block=x.channels)

    def unblock(self, x: Blocked) -> SSAValue:
        """NCXc → [N, C, X…]"""
        plain = self.emit(UnpackOp(x.value, blocked(len(shape_of(x.value)) - 1, x.block)))
        return self.first_channels(self.reshape(plain, (*shape_of(plain)[:2], *x.spatial)), x.channels)

    def first_channels(self, x: SSAValue, channels: int) -> SSAValue:
        shape = shape_of(x)
        if shape[1] == channels:
            return x
        return self.emit(SliceOp(x, [0] * len(shape), (shape[0], channels, *shape[2:]), [1] * len(shape)))

    def flattened(self, x: Blocked) -> SSAValue:
        """Return the value with all spatial dimensions merged into one."""
        shape = shape_of(x.value)
        return self.reshape(x.value, (*shape[:2], product(x.spatial), x.block))

    def unflattened(self, x: Blocked) -> SSAValue:
        """Return the value with separate spatial dimensions."""
        shape = shape_of(x.value)
        return self.reshape(x.value, (*shape[:2], *x.spatial, x.block))


def spares_channels(op: PadOp) -> bool:
    return dims_of(op.low)[1] == dims_of(op.high)[1] == ints_of(op.interior)[1] == 0


def padded(op: PadOp, x: Blocked, builder: LayoutBuilder) -> Blocked:
    """Return the blocked form of the padding ``op``, whose operand is ``x``."""
    low, high, interior = dims_of(op.low), dims_of(op.high), ints_of(op.interior)
    new = PadOp(builder.unflattened(x), [*low, 0], [*high, 0], op.value.data, [*interior, 0])
    values = union([x.padding, frozenset([op.number])])
    return Blocked(builder.emit(new), x.channels, x.block, shape_of(op.result)[2:], values)
