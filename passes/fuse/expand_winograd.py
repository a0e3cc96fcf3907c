"""Winograd convolution on GPUs (``expand-winograd``): a 3x3 convolution of stride 1, of images whose layout is NCHW.

    %y = graph.conv(%x, %w) : (32x64x58x58, 64x64x3x3)
    %z = graph.map "max(x0 + x1, 0)"(%y, %bias)

  → %t = graph.winograd_rows(%x) {m = 4} : 32x64x14x6x58x1
    %v = graph.winograd_input(%t) {m = 4} : 32x2304x14x14x1
    %u = G w Gᵀ : 2304x64x1
    %q = graph.conv(%v, %u) {groups = 36} : 32x2304x196
    %s = graph.winograd_sums(%q) {m = 4, extents = [56, 56]} : 32x64x14x4x14x6x1
    %z = graph.winograd_output "max(x0 + x1, 0)"(%s, %bias) {m = 4, extents = [56, 56]}

The transforms are those of ``winograd``, with blocks of one channel. Each is a kernel whose threads compute
neighbouring elements. The products are matrix products whose columns are the tiles of all images. The pass applies if
the weights are constant and its estimate is faster. The estimate is the time of thread blocks plus that of the bytes
that the transforms move.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import (
    ConstantOp,
    ContractOp,
    ConvOp,
    MapOp,
    ReshapeOp,
    WinogradInputOp,
    WinogradOutputOp,
    WinogradRowsOp,
    WinogradSumsOp,
    ints_of,
    source_nodes,
)
from mlc.dialects.graph.minimal_filtering import TAPS, matrices
from mlc.dialects.semantics.expr import Expr, parse, substitute
from mlc.dialects.types import element_of, shape_of
from mlc.passes.context import gpu_of
from mlc.passes.cost.block_time import FLOAT, BlockTime, SplitSum
from mlc.passes.graph.patterns.constants import constant_values, sole_user
from mlc.passes.layout.blocking.whole_tiles import whole_tiles
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused
from mlc.target import GpuTarget

SHAPES = ((128, 128), (64, 64), (32, 32))  # rows and columns of a tile of a product, as schedules have


@dataclass(frozen=True)
class ExpandWinograd(ModulePass):
    """Replace 3x3 convolutions by Winograd convolutions. ``gain``: the least estimated speedup for which one is
    replaced."""

    name = "expand-winograd"
    gain: float = 1.5

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants = constant_values(body)
            for conv in [o for o in body.ops if isinstance(o, ConvOp) and o.weight in constants and _applies(o)]:
                if m := self._tile(conv, gpu_of(ctx)):
                    _replace(conv, m)

    def _tile(self, conv: ConvOp, target: GpuTarget) -> int:
        """Return the tile size m with the least estimated time; 0 if the plain convolution is fastest."""
        times = {m: _cycles(conv, m, target) * (self.gain if m else 1) for m in (0, 2, 4)}
        return min(times, key=times.__getitem__)


def _cycles(conv: ConvOp, m: int, target: GpuTarget) -> float:
    """Return the estimated cycles with tiles of size ``m`` (0: the plain convolution).

    The estimate is the larger of the time of the products' thread blocks and the time to read the weights from memory,
    plus the time of four transforms. These read and write in L2 if the largest array fits in half of it, otherwise in
    memory.
    """
    (n, filters, h, w), (_, channels, *_) = _extents(conv.result), _extents(conv.weight)
    side = m + TAPS - 1
    groups, columns = (side**2, n * -(-h // m) * -(-w // m)) if m else (1, n * h * w)
    counts = ((shape, groups * -(-filters // shape[0]) * -(-columns // shape[1])) for shape in SHAPES)
    tiles = [BlockTime.of_threads(*shape, blocks, target) for shape, blocks in counts]
    terms, results = channels * (1 if m else TAPS**2), groups * columns * filters
    split, memory = SplitSum(tiles, terms, results, target), target.memory_bytes / target.clock
    weights = FLOAT * filters * channels * (groups if m else TAPS**2)
    products = max(split.cycles(split.parts()), weights / memory)
    if not m:
        return products
    largest = FLOAT * groups * columns * max(channels, filters)
    rate = memory * (2 if largest <= target.l2_bytes // 2 else 1)
    moved = FLOAT * (m + side) ** 2 * columns * (channels + filters)
    return products + moved / rate + 4 * target.launch_cycles


def _applies(conv: ConvOp) -> bool:
    plain = ints_of(conv.strides) == ints_of(conv.dilations) == (1, 1) and conv.groups.value.data == 1
    known = all(isinstance(d, int) for d in (*shape_of(conv.result), *shape_of(conv.weight)))
    whole = conv.data_layouts is None and shape_of(conv.weight)[2:] == (TAPS, TAPS) and conv.product is None
    return plain and known and whole and element_of(conv.result) == element_of(conv.input) == "f32"


def _extents(x: SSAValue) -> tuple[int, ...]:
    """The extents of a value, which are constants."""
    return tuple(d for d in shape_of(x) if isinstance(d, int))


def _replace(conv: ConvOp, m: int) -> None:
    last = _epilogue(conv) or conv
    builder = OpBuilder(last, (*source_nodes(conv), *(source_nodes(last) if last is not conv else ())))
    (n, f, h, w), points = _extents(conv.result), (m + TAPS - 1) ** 2
    rows = builder.emit(WinogradRowsOp(_blocks(whole_tiles(conv.input, (h, w), m, builder), builder), m))
    tiles = builder.emit(WinogradInputOp(_in_separate_kernel(rows, builder), m))
    *_, channels, th, tw, _ = _extents(tiles)
    flat = builder.reshape(tiles, (n, channels, th * tw))
    products = builder.emit(ConvOp(flat, _filters(conv.weight, m, builder), [1], [1], points))
    back = builder.reshape(products, (n, points * f, th, tw, 1))
    sums = _in_separate_kernel(builder.emit(WinogradSumsOp(back, m, (h, w))), builder)
    expr, others = _value(last, conv) if isinstance(last, MapOp) else ("x0", [])
    out = builder.emit(WinogradOutputOp(expr, [sums, *(_blocks(x, builder) for x in others)], m, (h, w)))
    last.result.replace_all_uses_with(builder.reshape(out, (n, f, h, w)))
    erase_unused([last])


def _epilogue(conv: ConvOp) -> MapOp | None:
    """Return the map that is the only reader of a convolution; None if there is none."""
    user = sole_user(conv.result)
    return user if isinstance(user, MapOp) and user.result.type == conv.result.type else None


def _value(op: MapOp, conv: ConvOp) -> tuple[Expr, list[SSAValue]]:
    """Return the expression of a map with the convolution as x0, and its other operands, x1, x2, …."""
    others = [x for x in op.args if x is not conv.result]
    numbers = iter(range(1, len(op.args)))
    number = [0 if x is conv.result else next(numbers) for x in op.args]
    return substitute(parse(op.expr.data), lambda load: replace(load, operand=number[load.operand])), others


def _blocks(x: SSAValue, builder: OpBuilder) -> SSAValue:
    """Return an image, or an operand that a map broadcasts to it, in blocks of one channel."""
    return builder.reshape(x, (*[1] * (4 - len(shape_of(x))), *shape_of(x), 1))


def _in_separate_kernel(x: SSAValue, builder: OpBuilder) -> SSAValue:
    """Insert a barrier after ``x``, so that a separate kernel computes it, with one thread for each of its elements."""
    return builder.emit(ReshapeOp(x, shape_of(x), barrier=True))


def _filters(weight: SSAValue, m: int, builder: OpBuilder) -> SSAValue:
    """G w Gᵀ of each filter: [F, C, 3, 3] → [a*a*F, C, 1]."""
    g = builder.emit(ConstantOp(np.asarray(matrices(m)[1], np.float32)))
    rows = builder.emit(ContractOp("ai,FCij->FCaj", g, weight))
    both = builder.emit(ContractOp("bj,FCaj->abFC", g, rows))
    a, b, f, c = _extents(both)
    return builder.reshape(both, (a * b * f, c, 1))
