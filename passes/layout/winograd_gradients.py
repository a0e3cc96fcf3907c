"""Winograd convolution of gradients (``winograd-gradients``): the derivative of a 3x3 convolution of stride 1 by its
filters, a convolution over the batch, is computed from fewer products.

    %g = graph.conv(%x, %y) {layouts = [bAcd16a, bAcd16a, ABcd16a16b]} : (8x4x34x34x16, 8x2x32x32x16) -> 4x2x3x3x16x16

  → %v = graph.winograd_points(graph.winograd_rows(%x)) {m = 4} : 36x4x8x8x8x16
    %u = graph.winograd_points(graph.winograd_rows(%y)) {m = 4, adjoint} : 36x2x8x8x8x16
    %q = graph.contract "pCkc,pFkf->CFpcf"(%v reshaped, %u reshaped) : 4x2x36x16x16
    %g = graph.winograd_taps(graph.winograd_tap_rows(%q)) {m = 4} : 4x2x3x3x16x16

A tile of m x m adjoints and (m + 2) x (m + 2) data gives its part of all taps by (m + 2)² products in place of 9·m².
The parts of all tiles and images are summed before the last transform. The error is 1 to 5 times that of the plain sum.
The pass applies where its estimate is faster; ``numerics = "strict"`` omits it.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import (
    ContractOp,
    ConvOp,
    ReshapeOp,
    WinogradPointsOp,
    WinogradRowsOp,
    WinogradTapRowsOp,
    WinogradTapsOp,
    source_nodes,
)
from mlc.dialects.graph.minimal_filtering import TAPS
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import element_of, shape_of
from mlc.passes.context import target_of
from mlc.passes.layout.blocking.whole_tiles import whole_tiles
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused
from mlc.target import CpuTarget

FLOAT = 4  # bytes


@dataclass(frozen=True)
class WinogradGradients(ModulePass):
    """Replace derivatives by filters by Winograd convolutions. ``gain``: the least estimated speedup for which one is
    replaced."""

    name = "winograd-gradients"
    gain: float = 1.15

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            for conv in [o for o in body.ops if isinstance(o, ConvOp) and _applies(o)]:
                if m := self._tile(conv, target_of(ctx)):
                    _replace(conv, m)

    def _tile(self, conv: ConvOp, target: CpuTarget) -> int:
        """Return the tile size m with the least estimated time; 0 if the plain convolution is fastest."""
        best, least = 0, _seconds(conv, 0, target)
        for m in (2, 4):
            if (cost := _seconds(conv, m, target)) * self.gain <= least:
                best, least = m, cost
        return best


def _applies(conv: ConvOp) -> bool:
    """Return whether ``conv`` has stride 1 and a 3x3 result, and sums over the batch, which is the second dimension of
    its operands in memory."""
    plain = conv.window == ((1, 1), (1, 1)) and conv.groups.value.data == 1 and not conv.product
    layouts, out = conv.data_layouts, shape_of(conv.result)
    if not plain or layouts is None or element_of(conv.result) != "f32" or len(out) != 6:
        return False
    by_batch = all(each.order[:2] == (1, 0) and len(each.tiles) == 1 for each in layouts[:2])
    return by_batch and out[2:4] == (TAPS, TAPS) and all(isinstance(d, int) for d in shape_of(conv.input))


def _sizes(conv: ConvOp) -> tuple[int, int, int, int, int]:
    """Return the images, the channels, the filters, and the height and width of the adjoint."""
    (n, f, h, w, b), (_, c, *_, block) = shape_of(conv.weight), shape_of(conv.input)
    return n, c * block, f * b, h, w  # type: ignore[return-value]


def _seconds(conv: ConvOp, m: int, target: CpuTarget) -> float:
    """Return the estimated time on one CPU with tiles of size ``m`` (0: the plain convolution): the products, and the
    transforms, which write and read the points of tiles and of taps."""
    n, channels, filters, h, w = _sizes(conv)
    if not m:
        return 2.0 * TAPS**2 * channels * filters * n * h * w / target.flops
    points, tiles = (m + TAPS - 1) ** 2, n * -(-h // m) * -(-w // m)
    moved = FLOAT * points * (tiles * (channels + filters) + channels * filters)
    rates = target.rates
    near = rates.l3_write_bytes, rates.l3_bytes
    far = rates.memory_bytes, rates.memory_bytes
    seconds = 2.0 * points * channels * filters * tiles / target.flops
    return seconds + moved * sum(1 / rate for rate in (far if moved > target.l3.size // 2 else near))


def _replace(conv: ConvOp, m: int) -> None:
    """Replace ``conv``. The image is read through a barrier, so that its tiles are computed again: otherwise common
    subexpression elimination would keep the tiles of the forward convolution in memory."""
    builder, (_, _, _, h, w) = OpBuilder(conv, source_nodes(conv)), _sizes(conv)
    image = builder.emit(ReshapeOp(conv.input, shape_of(conv.input), barrier=True))
    operands = _points(image, (h, w), m, False, builder), _points(conv.weight, (h, w), m, True, builder)
    sums = builder.emit(ContractOp("pCkc,pFkf->CFpcf", *operands))
    taps = builder.emit(WinogradTapsOp(builder.emit(WinogradTapRowsOp(sums, m)), m))
    conv.result.replace_all_uses_with(taps)
    erase_unused([conv])


def _points(x: SSAValue, extents: tuple[int, int], m: int, adjoint: bool, builder: OpBuilder) -> SSAValue:
    """Return the points of the tiles of ``x``, with all tiles in one dimension: [a*a, C, tiles, b]."""
    rows = builder.emit(WinogradRowsOp(whole_tiles(x, extents, m, builder), m, adjoint))
    points = builder.emit(WinogradPointsOp(rows, m, adjoint))
    p, c, *tiles, b = shape_of(points)
    return builder.reshape(points, (p, c, product(tiles), b))
