"""``assign-layout``: convolutions, and what stands between them, work on blocks of channels.

    %y = graph.conv(%x, %w) {layout = "NCX"} : (1x64x58x58, 128x64x3x3)
    %z = graph.map "max(x0 + x1, 0)"(%y, %bias) : (1x128x56x56, 128x1x1)

    %b = (reshape and transpose of %x) : 1x4x58x58x16         %v = (reshape and transpose of %w) : 8x4x3x3x16x16
  → %c = graph.conv(%b, %v) {layout = "NCXc"} : 1x8x56x56x16
    %d = graph.map "max(x0 + x1, 0)"(%c, %bias blocked) : 1x8x56x56x16
    %z = (transpose and reshape of %d)

Bytes are multiplied four input channels at a time: %b of 1x4x58x58x16 bytes is read as 1x4x58x58x4 words.

A value is held blocked from the convolution that makes it until an operator needs it plain, so no blocking follows an
unblocking. Only convolutions with constant weights are blocked: dense ones, grouped ones whose groups are whole
blocks, and depthwise ones of narrow images or of a value that is held blocked already. A 1x1 convolution works on all
positions as one dimension, unless it writes into a padding, which has gaps between the rows. Fewer input channels than
a block make one short block. Padding channels have zero weights and always hold finite numbers (see ``lanes``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ConvOp, ConvTransposeOp, MapOp, PadOp, ints_of, source_nodes
from mlc.dialects.types import ITEMSIZE, element_of, is_float, shape_of
from mlc.passes.graph.blocked_ops import HANDLERS
from mlc.passes.graph.cleanup import eliminate_dead
from mlc.passes.graph.constants import constant_values
from mlc.passes.graph.layout import Blocked, Emitter, padded, spares_channels
from mlc.passes.graph.quantized import DOT4, PRODUCT, WORD
from mlc.passes.rewriter import bodies


@dataclass(frozen=True)
class AssignLayout(ModulePass):
    """Give convolutions the blocked layout. ``block``: channels in a block of 4-byte elements (8 bytes: half)."""

    name = "assign-layout"
    block: int = 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            Layout(self.block, constant_values(body)).run(body)
        eliminate_dead(op)


class Layout:
    """One walk over a block in order; ``views`` says which values are held blocked instead of plain."""

    def __init__(self, block: int, constants: set[SSAValue]) -> None:
        self.constants = constants
        self.size = block
        self.views: dict[SSAValue, Blocked] = {}
        self._plain: dict[SSAValue, SSAValue] = {}
        self._blocked: dict[tuple[SSAValue, int], Blocked] = {}

    def run(self, body: Block) -> None:
        for op in list(body.ops):
            view = self._blocked_form(op)
            if view is not None:
                self.views[op.results[0]] = view
                continue
            for n, operand in enumerate(op.operands):
                if operand in self.views:
                    op.operands[n] = self.plain(operand, Emitter(op))

    def _blocked_form(self, op: Operation) -> Blocked | None:
        if isinstance(op, ConvOp):
            return self._conv(op, Emitter(op))
        if isinstance(op, ConvTransposeOp):
            return self._transposed(op, Emitter(op))
        handler: Callable[[Any, Layout, Emitter], Blocked | None] | None = HANDLERS.get(type(op))
        blocked = handler is not None and any(v in self.views for v in op.operands)
        return handler(op, self, Emitter(op)) if handler and blocked else None

    def plain(self, value: SSAValue, emitter: Emitter) -> SSAValue:
        """``value`` in the plain layout."""
        if value not in self.views:
            return value
        if value not in self._plain:
            maker = Emitter(emitter.anchor, source_nodes(value.owner))  # type: ignore[arg-type]
            self._plain[value] = maker.unblock(self.views[value])
        return self._plain[value]

    def blocked(self, value: SSAValue, block: int, emitter: Emitter) -> Blocked:
        """``value`` in blocks of ``block`` channels."""
        view = self.views.get(value)
        if view is not None and view.block == block:
            return view
        key = (value, block)
        if key not in self._blocked:
            self._blocked[key] = self._padded(value, block, emitter) or emitter.block(self.plain(value, emitter), block)
        return self._blocked[key]

    def _padded(self, value: SSAValue, block: int, emitter: Emitter) -> Blocked | None:
        """A padding that convolutions alone read, behind the blocking: the kernel that transposes writes it as well."""
        pad = value.owner
        if not isinstance(pad, PadOp) or value in self.views or not spares_channels(pad):
            return None
        if pad.number != 0 and is_float(element_of(value)):
            return None
        alone = all(isinstance(use.operation, ConvOp) for use in value.uses)
        return padded(pad, self.blocked(pad.input, block, emitter), emitter) if alone else None

    def _conv(self, op: ConvOp, emitter: Emitter) -> Blocked | None:
        block, groups = self._block(op), op.groups.value.data
        channels, weight = shape_of(op.input)[1], shape_of(op.weight)
        if block is None or not isinstance(channels, int) or not all(isinstance(d, int) for d in weight):
            return None
        if groups > 1 and channels == groups and weight[0] == groups:
            return self._depthwise(op, emitter, block) if op.input in self.views or _narrow(op, block) else None
        if groups > 1 and (weight[1] % block or weight[0] % (groups * block)):
            return None
        return self._dense(op, emitter, block)

    def _block(self, op: ConvOp | ConvTransposeOp) -> int | None:
        """Channels in a block; None for a convolution that stays plain, or is blocked."""
        element = element_of(op.result)
        plain = is_float(element) or isinstance(op, ConvOp) and op.product == PRODUCT
        if op.layout.data != "NCX" or not plain or ITEMSIZE[element] < 4 or op.weight not in self.constants:
            return None
        return self.size * 4 // ITEMSIZE[element]

    def _operands(
        self, op: ConvOp | ConvTransposeOp, emitter: Emitter, block: int, filters: int
    ) -> tuple[Blocked, SSAValue]:
        """The input, and the weight [P…, F, C, K…], F being axis ``filters``, as [P…, F/b', C/b, K…, b, b']."""
        channels = int(shape_of(op.input)[1])  # type: ignore[arg-type]
        by = WORD if isinstance(op, ConvOp) and op.product else 1
        held = self._safe(op.input)
        if held is None or held.block % by:
            held = self.blocked(op.input, min(block, -(-channels // by) * by), emitter)
        parts = emitter.split(emitter.split(op.weight, filters + 1, held.block), filters, block)
        window = range(filters + 4, len(shape_of(parts)))
        order = [*range(filters + 1), filters + 2, *window, filters + 3, filters + 1]
        return held, emitter.transpose(parts, order)

    def _dense(self, op: ConvOp, emitter: Emitter, block: int) -> Blocked:
        x, weight = self._operands(op, emitter, block, 0)
        read, product = (emitter.words, DOT4) if op.product else (_same, None)
        weight = emitter.by_fours(weight) if op.product else weight
        rank, strides = len(op.strides), list(ints_of(op.strides))
        pointwise = all(d == 1 for d in (*shape_of(weight)[2:-2], *strides))
        if pointwise and rank > 1 and not _padded(op.result):
            shape = shape_of(weight)
            weight = emitter.reshape(weight, (*shape[:2], 1, *shape[-2:]))
            strides, dilations, held = [1], [1], emitter.flat(x)
        else:
            dilations, held = list(ints_of(op.dilations)), emitter.deep(x)
        new = ConvOp(read(held), weight, strides, dilations, op.groups.value.data, "NCXc", product)
        return Blocked(emitter.emit(new), int(shape_of(op.weight)[0]), block, shape_of(op.result)[2:])  # type: ignore[arg-type]

    def _transposed(self, op: ConvTransposeOp, emitter: Emitter) -> Blocked | None:
        block, rank = self._block(op), len(op.strides)
        if block is None:
            return None
        x, weight = self._operands(op, emitter, block, rank)
        new = ConvTransposeOp(emitter.deep(x), weight, ints_of(op.strides), ints_of(op.low), "NCXc")
        return Blocked(emitter.emit(new), int(shape_of(op.weight)[rank]), block, shape_of(op.result)[2:])  # type: ignore[arg-type]

    def _safe(self, value: SSAValue) -> Blocked | None:
        """The blocked form that is there, if zero weights make its padding lanes vanish."""
        view = self.views.get(value)
        if view is None or not (view.aligned or view.lanes is None or all(map(math.isfinite, view.lanes))):
            return None
        return view

    def _depthwise(self, op: ConvOp, emitter: Emitter, block: int) -> Blocked:
        x = self.blocked(op.input, block, emitter)
        rank, shape = len(op.strides), shape_of(op.weight)
        weight = emitter.split(emitter.reshape(op.weight, (shape[0], *shape[2:])), 0, block)  # [C/b, b, K…]
        weight = emitter.transpose(weight, [0, *range(2, rank + 2), 1])
        window, groups = (ints_of(op.strides), ints_of(op.dilations)), op.groups.value.data
        new = ConvOp(emitter.deep(x), weight, *window, groups, "NCXc_depthwise", op.product)
        return Blocked(emitter.emit(new), int(shape[0]), block, shape_of(op.result)[2:])  # type: ignore[arg-type]


def _narrow(op: ConvOp, block: int) -> bool:
    """Whether the rows of the result would leave half of a vector empty, and its channels fill vectors."""
    width = shape_of(op.result)[-1]
    return isinstance(width, int) and 2 * width <= block and op.groups.value.data % block == 0


def _same(x: SSAValue) -> SSAValue:
    return x


def _padded(value: SSAValue) -> bool:
    """Whether a padding reads ``value``, or what elementwise operators of its shape make of it."""
    reached = [value]
    for each in reached:
        for reader in {use.operation for use in each.uses}:
            if isinstance(reader, PadOp):
                return True
            same = isinstance(reader, MapOp) and shape_of(reader.result) == shape_of(value)
            if same and reader.results[0] not in reached:
                reached.append(reader.results[0])
    return False
