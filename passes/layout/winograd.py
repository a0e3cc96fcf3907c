"""Winograd convolution (``winograd``): a 3x3 convolution of stride 1 computes tiles of outputs from fewer products.

    %y = graph.conv(%x, %w) {layouts = blocks of 16 channels} : (1x4x58x58x16, 4x4x3x3x16x16)
    %z = graph.map "max(x0 + x1, 0)"(%y, %bias)

  → %t = graph.winograd_rows(%x) {m = 4} : 1x4x14x6x58x16
    %v = graph.winograd_input(%t) {m = 4} : 1x144x14x14x16
    %f = graph.reshape(%v) : 1x144x196x16
    %u = G w Gᵀ (a weight where %w is one) : 144x4x1x16x16
    %q = graph.conv(%f, %u) {groups = 36, layouts = blocks of 16 channels} : 1x144x196x16
    %p = graph.reshape(%q) : 1x144x14x14x16
    %s = graph.winograd_sums(%p) {m = 4, extents = [56, 56]} : 1x4x14x4x14x6x16
    %z = graph.winograd_output "max(x0 + x1, 0)"(%s, %bias) {m = 4, extents = [56, 56]}

Without the two reshapes, where a row of tiles fits in L2, all five operators fuse and run a row of tiles at a time.

F(4, 3) needs a quarter of the products and 4 times the weights, F(2, 3) 4/9 of the products and 1.8 times the weights;
both need two transforms. The pass applies where its estimate is faster. The error of F(4, 3) is 4 to 5 times that of
the plain sum, so ``numerics = "strict"`` omits the pass.
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
from mlc.dialects.graph.minimal_filtering import TAPS, matrices
from mlc.dialects.types import element_of, shape_of
from mlc.passes.context import target_of
from mlc.passes.cost.winograd_time import best_tile, fits_in_l2
from mlc.passes.graph.patterns.constants import constant_values, sole_user
from mlc.passes.layout.blocking.blocked_layout import blocked_conv
from mlc.passes.layout.blocking.reversed_axes import before_reversal
from mlc.passes.layout.blocking.whole_tiles import whole_tiles
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused
from mlc.target import CpuTarget


@dataclass(frozen=True)
class Winograd(ModulePass):
    """Replace 3x3 convolutions by Winograd convolutions. ``gain``: the least estimated speedup for which one is
    replaced."""

    name = "winograd"
    gain: float = 1.15

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants = constant_values(body)
            for conv in [o for o in body.ops if isinstance(o, ConvOp)]:
                constant = conv.weight in constants
                if _applies(conv) and (m := self._tile(conv, constant, target_of(ctx))):
                    _replace(conv, m, fits_in_l2(conv, m, target_of(ctx)))

    def _tile(self, conv: ConvOp, constant: bool, target: CpuTarget) -> int:
        """Return the tile size m with the least estimated time; 0 if the plain convolution is fastest."""
        return best_tile(conv, constant, target, self.gain)


def _applies(conv: ConvOp) -> bool:
    weight, out = shape_of(conv.weight), shape_of(conv.result)
    plain = ints_of(conv.strides) == ints_of(conv.dilations) == (1, 1) and conv.groups.value.data == 1
    held = conv.data_layouts is not None and len(conv.data_layouts[1].tiles) == 2
    blocked = held and weight[2:-2] == (TAPS, TAPS) and weight[-2] == weight[-1]
    return plain and blocked and element_of(conv.result) == "f32" and all(isinstance(d, int) and d for d in out[1:])


def _replace(conv: ConvOp, m: int, by_rows: bool) -> None:
    user = sole_user(conv.result)
    fuses = isinstance(user, MapOp) and user.args[0] is conv.result and user.result.type == conv.result.type
    last: ConvOp | MapOp = user if fuses and isinstance(user, MapOp) else conv
    builder = OpBuilder(last, (*source_nodes(conv), *(source_nodes(last) if fuses else ())))
    height, width = (int(d) for d in shape_of(conv.result)[2:4])  # type: ignore[arg-type]
    rows = builder.emit(WinogradRowsOp(whole_tiles(conv.input, (height, width), m, builder), m))
    tiles = builder.emit(WinogradInputOp(rows, m))
    products = _products(tiles, conv.weight, m, by_rows, builder)
    expr, others = (last.expr.data, last.args[1:]) if isinstance(last, MapOp) else ("x0", ())
    sums = builder.emit(WinogradSumsOp(products, m, (height, width)))
    out = builder.emit(WinogradOutputOp(expr, [sums, *others], m, (height, width)))
    last.result.replace_all_uses_with(out)
    erase_unused([last])


def _products(tiles: SSAValue, weight: SSAValue, m: int, by_rows: bool, builder: OpBuilder) -> SSAValue:
    """Return the products at each point of the tiles, in the tiles' shape. ``by_rows``: one row of tiles at a time, in
    one kernel with the transforms; otherwise all tiles form one row."""
    (n, _, th, tw, _), (inner, outer) = shape_of(tiles), (int(d) for d in shape_of(weight)[-2:])  # type: ignore[arg-type]
    ones = [1, 1] if by_rows else [1]
    read = tiles if by_rows else builder.reshape(tiles, (n, shape_of(tiles)[1], th * tw, inner))
    filters, layouts = _filters(weight, m, ones, builder), blocked_conv(len(ones), inner, outer)
    products = builder.emit(ConvOp(read, filters, ones, ones, (m + TAPS - 1) ** 2, layouts=layouts))
    return builder.reshape(products, (n, shape_of(products)[1], th, tw, outer))


def _filters(weight: SSAValue, m: int, ones: Sequence[int], builder: OpBuilder) -> SSAValue:
    """Return G w Gᵀ of each filter: [F, C, 3, 3, b, b'] → [a*a*F, C, *ones, b, b']. If the filters are reversed, as in
    the derivative by the image, G is reversed instead."""
    straight = before_reversal(weight, (2, 3), builder)
    matrix = np.asarray(matrices(m)[1], np.float32)
    g = builder.emit(ConstantOp(np.ascontiguousarray(matrix[:, ::-1]) if straight else matrix))
    rows: Operation = ContractOp("ai,FCijcf->FCajcf", g, straight or weight)
    both = builder.emit(ContractOp("bj,FCajcf->abFCcf", g, builder.emit(rows)))
    a, _, f, c, *blocks = shape_of(both)
    return builder.reshape(both, (a * a * f, c, *ones, *blocks))
