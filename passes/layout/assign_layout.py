"""Blocked layouts (``assign-layout``): convolutions and the operators between them work on blocks of channels,
NCHWc.

    %y = graph.conv(%x, %w) {layout = "NCX"} : (1x64x58x58, 128x64x3x3)
    %z = graph.map "max(x0 + x1, 0)"(%y, %bias) : (1x128x56x56, 128x1x1)

    %b = (reshape and transpose of %x) : 1x4x58x58x16         %v = (reshape and transpose of %w) : 8x4x3x3x16x16
  → %c = graph.conv(%b, %v) {layout = "NCXc"} : 1x8x56x56x16
    %d = graph.map "max(x0 + x1, 0)"(%c, %bias blocked) : 1x8x56x56x16
    %z = (transpose and reshape of %d)

On a GPU only images of halves are blocked, also in training. Their one block has all channels, 1x1x58x58x64, which is
NHWC: a thread copies 16 bytes of a pixel's neighbouring channels at a time (``blocking/block_sizes.py``).

Bytes are multiplied four input channels at a time: %b of 1x4x58x58x16 bytes is read as 1x4x58x58x4 packed integers.
On CPUs bf16 are multiplied two channels at a time.

A value is blocked from the convolution that computes it to the first operator that needs the plain layout, so no pack
follows an unpack. A convolution is blocked if its weights are constant or are read at many positions, and if it is
dense, or its groups are whole blocks, or it is depthwise and its image is narrow or blocked already. A 1x1 convolution
treats all positions as one dimension, unless a padding reads its result, whose rows then have gaps between them. Fewer
input channels than a block make one short block. Padding channels have zero weights and finite values
(``blocking/padding_values.py``).
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

from mlc.dialects.graph import ConvOp, ConvTransposeOp, MapOp, PadOp, ints_of, layout, source_nodes
from mlc.dialects.types import element_of, is_float, shape_of
from mlc.passes.context import machine_of, target_of
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.graph.patterns.constants import constant_values
from mlc.passes.layout.blocking.block_sizes import BlockSizes, VectorBlocks, WholeChannels
from mlc.passes.layout.blocking.blocked_layout import (
    Blocked,
    LayoutBuilder,
    blocked,
    blocked_conv,
    padded,
    spares_channels,
)
from mlc.passes.layout.blocking.blocked_ops import HANDLERS
from mlc.passes.layout.blocking.packed_products import packing
from mlc.passes.layout.blocking.plain_results import PLAIN_RESULTS
from mlc.passes.rewriter import bodies, erase_unused


@dataclass(frozen=True)
class AssignLayout(ModulePass):
    """Assign blocked layouts to convolutions and their readers: blocks of a vector of channels on CPUs, of all channels
    on GPUs."""

    name = "assign-layout"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            LayoutAssignment(_sizes(ctx, constant_values(body))).run(body)
        eliminate_dead(op)


def _sizes(ctx: Context, constants: set[SSAValue]) -> BlockSizes:
    if machine_of(ctx).thread_blocks:
        return WholeChannels(constants)
    return VectorBlocks(constants, target_of(ctx).lanes)


class LayoutAssignment:
    """The state of one walk over a block. ``views`` maps each value that has a blocked form to this form."""

    def __init__(self, sizes: BlockSizes) -> None:
        self.sizes = sizes
        self.views: dict[SSAValue, Blocked] = {}
        self._plain: dict[SSAValue, SSAValue] = {}
        self._blocked: dict[tuple[SSAValue, int], Blocked] = {}

    def run(self, body: Block) -> None:
        for op in list(body.ops):
            plain = self._plain_result(op)
            if plain is not None:
                op.results[0].replace_all_uses_with(plain)
                erase_unused([op])
                continue
            view = self._blocked_form(op)
            if view is not None:
                self.views[op.results[0]] = view
                continue
            for n, operand in enumerate(op.operands):
                if operand in self.views:
                    op.operands[n] = self.plain(operand, LayoutBuilder(op))

    def _plain_result(self, op: Operation) -> SSAValue | None:
        """Return the plain result of an operator that reads blocked operands (``plain_results.py``); None for other
        operators."""
        handler = PLAIN_RESULTS.get(type(op))
        return handler(op, self, LayoutBuilder(op)) if handler else None

    def _blocked_form(self, op: Operation) -> Blocked | None:
        if isinstance(op, ConvOp):
            return self._conv(op, LayoutBuilder(op))
        if isinstance(op, ConvTransposeOp):
            return self._transposed(op, LayoutBuilder(op))
        handler: Callable[[Any, LayoutAssignment, LayoutBuilder], Blocked | None] | None = HANDLERS.get(type(op))
        blocked = handler is not None and any(v in self.views for v in op.operands)
        return handler(op, self, LayoutBuilder(op)) if handler and blocked else None

    def plain(self, value: SSAValue, builder: LayoutBuilder) -> SSAValue:
        """Return ``value`` in the plain layout."""
        if value not in self.views:
            return value
        if value not in self._plain:
            maker = LayoutBuilder(builder.anchor, source_nodes(value.owner))  # type: ignore[arg-type]
            view = self.views[value]
            self._plain[value] = maker.unblock(maker.without_padding(view) if self.sizes.whole else view)
        return self._plain[value]

    def blocked(self, value: SSAValue, block: int, builder: LayoutBuilder) -> Blocked:
        """Return ``value`` in blocks of ``block`` channels."""
        view = self.views.get(value)
        if view is not None and view.block == block:
            return view
        key = (value, block)
        if key not in self._blocked:
            make = builder.whole_block if self.sizes.whole else builder.block
            self._blocked[key] = self._padded(value, block, builder) or make(self.plain(value, builder), block)
        return self._blocked[key]

    def _padded(self, value: SSAValue, block: int, builder: LayoutBuilder) -> Blocked | None:
        """If ``value`` is a padding that only convolutions read, return its blocked form, padded after packing: then
        the kernel that packs also writes the padding. Return None otherwise."""
        pad = value.owner
        if not isinstance(pad, PadOp) or value in self.views or not spares_channels(pad):
            return None
        if pad.number != 0 and is_float(element_of(value)):
            return None
        alone = all(isinstance(use.operation, ConvOp) for use in value.uses)
        return padded(pad, self.blocked(pad.input, block, builder), builder) if alone else None

    def _conv(self, op: ConvOp, builder: LayoutBuilder) -> Blocked | None:
        block, groups = self.sizes.of_filters(op), op.groups.value.data
        channels, weight = shape_of(op.input)[1], shape_of(op.weight)
        if block is None or not isinstance(channels, int) or not all(isinstance(d, int) for d in weight):
            return None
        if groups > 1 and channels == groups and weight[0] == groups:
            return self._depthwise(op, builder, block) if op.input in self.views or _narrow(op, block) else None
        if groups > 1 and (weight[1] % block or weight[0] % (groups * block)):
            return None
        return self._dense(op, builder, block)

    def _operands(
        self, op: ConvOp | ConvTransposeOp, builder: LayoutBuilder, block: int, filters: int
    ) -> tuple[Blocked, SSAValue]:
        """Return the blocked input of ``op``, and its weight [P…, F, C, K…] packed as [P…, F/b', C/b, K…, b, b'];
        ``filters`` is the axis F."""
        held = self._safe(op.input)
        words = packing(op) if isinstance(op, ConvOp) and not self.sizes.whole else None
        if held is None or words and held.block % words.count:
            held = self.blocked(op.input, self.sizes.of_image(op, block), builder)
        return held, builder.pack(op.weight, (filters + 1, held.block), (filters, block))

    def _dense(self, op: ConvOp, builder: LayoutBuilder, block: int) -> Blocked:
        x, weight = self._operands(op, builder, block, 0)
        words = None if self.sizes.whole else packing(op)
        read, product = (builder.packed, words.product) if words else (_identity, op.product)
        weight = builder.packed_rows(weight, words.count) if words else weight
        rank, strides = len(op.strides), list(ints_of(op.strides))
        pointwise = all(d == 1 for d in (*shape_of(weight)[2:-2], *strides))
        if pointwise and rank > 1 and not _padded(op.result):
            shape = shape_of(weight)
            weight = builder.reshape(weight, (*shape[:2], 1, *shape[-2:]))
            strides, dilations, held = [1], [1], builder.flattened(x)
        else:
            dilations, held = list(ints_of(op.dilations)), builder.unflattened(x)
        image, (inner, outer) = read(held), shape_of(weight)[-2:]
        layouts = blocked_conv(len(strides), int(inner), int(outer))  # type: ignore[arg-type]
        new = ConvOp(image, weight, strides, dilations, op.groups.value.data, product, layouts)
        return Blocked(builder.emit(new), int(shape_of(op.weight)[0]), block, shape_of(op.result)[2:])  # type: ignore[arg-type]

    def _transposed(self, op: ConvTransposeOp, builder: LayoutBuilder) -> Blocked | None:
        block, rank = self.sizes.of_filters(op), len(op.strides)
        if block is None:
            return None
        x, weight = self._operands(op, builder, block, rank)
        weights = layout(2 * rank + 2, [(rank + 1, x.block), (rank, block)])
        layouts = [blocked(rank + 2, x.block), weights, blocked(rank + 2, block)]
        new = ConvTransposeOp(builder.unflattened(x), weight, ints_of(op.strides), ints_of(op.low), layouts)
        return Blocked(builder.emit(new), int(shape_of(op.weight)[rank]), block, shape_of(op.result)[2:])  # type: ignore[arg-type]

    def _safe(self, value: SSAValue) -> Blocked | None:
        """Return the blocked form of ``value`` if its padding values are finite, so that zero weights cancel them; None
        otherwise."""
        view = self.views.get(value)
        if view is None or not (view.aligned or view.padding is None or all(map(math.isfinite, view.padding))):
            return None
        return view

    def _depthwise(self, op: ConvOp, builder: LayoutBuilder, block: int) -> Blocked:
        x = self.blocked(op.input, block, builder)
        rank, channels = len(op.strides) + 2, int(shape_of(op.weight)[0])  # type: ignore[arg-type]
        weight = builder.pack(op.weight, (0, block))
        layouts = [blocked(rank, block), layout(rank, [(0, block)]), blocked(rank, block)]
        whole = -(-channels // block) * block
        new = ConvOp(builder.unflattened(x), weight, *op.window, whole, op.product, layouts)
        return Blocked(builder.emit(new), channels, block, shape_of(op.result)[2:])


def _narrow(op: ConvOp, block: int) -> bool:
    """Return whether the result has rows of less than half a vector, and channels that fill whole vectors."""
    width = shape_of(op.result)[-1]
    return isinstance(width, int) and 2 * width <= block and op.groups.value.data % block == 0


def _identity(x: SSAValue) -> SSAValue:
    return x


def _padded(value: SSAValue) -> bool:
    """Return whether a padding reads ``value``, directly or through elementwise operators of the same shape."""
    reached = [value]
    for each in reached:
        for reader in {use.operation for use in each.uses}:
            if isinstance(reader, PadOp):
                return True
            same = isinstance(reader, MapOp) and shape_of(reader.result) == shape_of(value)
            if same and reader.results[0] not in reached:
                reached.append(reader.results[0])
    return False
