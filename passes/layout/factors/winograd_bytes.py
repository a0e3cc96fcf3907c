"""Winograd convolution of bytes (``winograd-bytes``): a 3x3 convolution of stride 1 computes tiles of 2x2 outputs from
4/9 of the products, each of two i16, exactly.

    %i = graph.bitcast(%x) : 1x8x58x58x8xui8 → 1x8x58x58x2xi32
    %y = graph.conv(%i, %w) {product = "dot4(x0, x1)"} : 1x8x56x56x8xi32
    %z = graph.map "f32(x1) * x0"(%scale, %y)

  → %t = graph.winograd_rows(%x) {m = 2} : 1x8x28x4x58x8xi16
    %v = graph.winograd_input(%t) {m = 2} : 1x128x28x28x8xi16
    %i = graph.bitcast(%v) : 1x128x28x28x4xi32
    %u = 4 G w Gᵀ of each byte of %w, two i16 in an i32 : 128x8x1x1x4x8xi32
    %q = graph.conv(%i, %u) {groups = 16, product = "dot2_i16(x0, x1)"} : 1x128x28x28x8xi32
    %s = graph.winograd_sums(%q) {m = 2, extents = [56, 56]} : 1x8x28x2x28x4x8xi32
    %z = graph.winograd_output "f32(x0) * x1"(%s, %scale) {m = 2, extents = [56, 56]}

Points of a tile are 4·255 and those of a filter 9·128 at most, so i16 hold them. Sums wrap in 32 bits; their outputs
are exact where 4 times the largest sum fits in 31. The pass applies where an instruction multiplies pairs of i16 and
none multiplies four bytes exactly (AVX2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import (
    BitcastOp,
    ConcatOp,
    ConstantOp,
    ContractOp,
    ConvOp,
    MapOp,
    WinogradInputOp,
    WinogradOutputOp,
    WinogradRowsOp,
    WinogradSumsOp,
    ints_of,
    source_nodes,
)
from mlc.dialects.graph.minimal_filtering import TAPS, WHOLE_TILE, matrices
from mlc.dialects.semantics.expr import Load, substitute
from mlc.dialects.types import shape_of
from mlc.passes.context import target_of
from mlc.passes.cost.winograd_bytes_time import row_fits, tiles_are_faster
from mlc.passes.graph.patterns.constants import constant_values, sole_user
from mlc.passes.graph.patterns.quantized import DOT4, WORD
from mlc.passes.layout.blocking.blocked_layout import blocked_conv
from mlc.passes.layout.blocking.packed_products import DOT2_I16, PAIR
from mlc.passes.layout.blocking.whole_tiles import whole_tiles
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused

LARGEST = 255 * 128 * TAPS**2 * (TAPS - 1) ** 2  # 4 times the sum of the products of a channel's window


@dataclass(frozen=True)
class WinogradBytes(ModulePass):
    """Replace 3x3 convolutions of bytes with constant weights by Winograd convolutions of i16. ``gain``: the least
    estimated speedup for which one is replaced."""

    name = "winograd-bytes"
    gain: float = 1.0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = target_of(ctx)
        if not target.multiplies_byte_pairs:
            return
        for body in bodies(op):
            constants = constant_values(body)
            for conv in [o for o in body.ops if isinstance(o, ConvOp)]:
                if _applies(conv, constants) and tiles_are_faster(conv, target, self.gain):
                    _replace(conv, row_fits(conv, target))


def _applies(conv: ConvOp, constants: set[SSAValue]) -> bool:
    weight, out = shape_of(conv.weight), shape_of(conv.result)
    plain = ints_of(conv.strides) == ints_of(conv.dilations) == (1, 1) and conv.groups.value.data == 1
    if conv.product != DOT4 or conv.weight not in constants or not plain or not isinstance(conv.input.owner, BitcastOp):
        return False
    if conv.data_layouts is None or weight[2:-2] != (TAPS, TAPS) or not all(isinstance(d, int) and d for d in out[1:]):
        return False
    return int(weight[1]) * int(weight[-2]) * WORD * LARGEST < 2**31  # type: ignore[arg-type]


def _replace(conv: ConvOp, by_rows: bool) -> None:
    user = sole_user(conv.result)
    fuses = isinstance(user, MapOp) and shape_of(user.result) == shape_of(conv.result)
    last: ConvOp | MapOp = user if fuses and isinstance(user, MapOp) else conv
    builder = OpBuilder(last, (*source_nodes(conv), *(source_nodes(last) if fuses else ())))
    height, width = (int(d) for d in shape_of(conv.result)[2:4])  # type: ignore[arg-type]
    assert isinstance(conv.input.owner, BitcastOp)
    image = whole_tiles(conv.input.owner.input, (height, width), WHOLE_TILE, builder)
    tiles = builder.emit(WinogradInputOp(builder.emit(WinogradRowsOp(image, WHOLE_TILE)), WHOLE_TILE))
    products = _products(tiles, conv.weight, by_rows, builder)
    sums = builder.emit(WinogradSumsOp(products, WHOLE_TILE, (height, width)))
    expr, others = _epilogue(last, conv.result)
    out = builder.emit(WinogradOutputOp(expr, [sums, *others], WHOLE_TILE, (height, width)))
    last.result.replace_all_uses_with(out)
    erase_unused([last])


def _products(tiles: SSAValue, weight: SSAValue, by_rows: bool, builder: OpBuilder) -> SSAValue:
    """Return the products at each point of the tiles. ``by_rows``: of one row of tiles at a time, in one kernel with
    the transform of the outputs; otherwise all tiles form one row."""
    (n, points, th, tw, inner), outer = shape_of(tiles), shape_of(weight)[-1]
    ones = [1, 1] if by_rows else [1]
    read = builder.packed(tiles if by_rows else builder.reshape(tiles, (n, points, th * tw, inner)))
    filters, layouts = _filters(weight, ones, builder), blocked_conv(len(ones), int(inner) // PAIR, int(outer))  # type: ignore[arg-type]
    products = builder.emit(ConvOp(read, filters, ones, ones, (WHOLE_TILE + TAPS - 1) ** 2, DOT2_I16, layouts))
    return products if by_rows else builder.reshape(products, (n, shape_of(products)[1], th, tw, outer))


def _epilogue(last: ConvOp | MapOp, value: SSAValue) -> tuple[str, Sequence[SSAValue]]:
    """Return the expression that reads ``value`` first, and the other operands."""
    if isinstance(last, ConvOp):
        return "x0", ()
    others = [v for v in dict.fromkeys(last.args) if v is not value]
    place = {n: Load(0 if v is value else others.index(v) + 1) for n, v in enumerate(last.args)}
    return str(substitute(last.scalar, lambda load: place[load.operand])), others


def _filters(weight: SSAValue, ones: Sequence[int], builder: OpBuilder) -> SSAValue:
    """Return the points of filters of bytes, four in an i32, as i16, two in an i32: [F, C, 3, 3, w, b] → [a*a*F, C,
    *ones, 2*w, b]."""
    g = builder.emit(ConstantOp(np.asarray(matrices(WHOLE_TILE, whole=True)[1], np.int32)))
    points = [_points(g, _byte(weight, n, builder), builder) for n in range(WORD)]
    pairs = [builder.emit(MapOp("(x0 & 65535) | (x1 << 16)", points[n : n + PAIR])) for n in range(0, WORD, PAIR)]
    a, _, f, c, words, outer = shape_of(points[0])
    placed = [builder.reshape(x, (a, a, f, c, words, 1, outer)) for x in pairs]
    both = builder.emit(ConcatOp(placed, 5))
    return builder.reshape(both, (a * a * f, c, *ones, len(pairs) * words, outer))


def _byte(words: SSAValue, n: int, builder: OpBuilder) -> SSAValue:
    """Return byte ``n`` of each word, signed, as an i32."""
    return builder.emit(MapOp(f"(x0 << {8 * (WORD - 1 - n)}) >> {8 * (WORD - 1)}", [words]))


def _points(g: SSAValue, taps: SSAValue, builder: OpBuilder) -> SSAValue:
    """Return G w Gᵀ: [F, C, 3, 3, w, b] → [a, a, F, C, w, b]."""
    rows: Operation = ContractOp("ai,FCijwf->FCajwf", g, taps)
    return builder.emit(ContractOp("bj,FCajwf->abFCwf", g, builder.emit(rows)))
