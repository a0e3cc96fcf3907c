"""Raster order (``raster-tiles``): thread blocks that run at the same time get tiles of few rows and columns, whose
operands fit in L2.

    scf.parallel (%b, %i, %j) = 0 to (B, M, N)   →   scf.parallel (%b, %t) = 0 to (B, M * N) {
                                                       %i, %j = the t-th tile of groups of 8 rows, column by column

The schedule gives the number of rows, as in ``raster=8``; without it tiles follow each other row by row (CUTLASS:
raster order and swizzle; Triton: grouped ordering). The last group has the rows that are left. The blocks of a cluster
follow each other, column by column, and clusters are ordered like single tiles.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError, schedule_of, thread_block_of
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.loops.index import Index
from mlc.passes.device.loops.insertion import Inserter
from mlc.passes.schedule.apply_schedules import following


@dataclass(frozen=True)
class RasterTiles(ModulePass):
    name = "raster-tiles"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            cluster = fn.launch.cluster
            if rows := thread_block_of(schedule_of(fn)).raster or (cluster[0] if cluster != (1, 1) else None):
                with following(fn):
                    _order(fn, rows)


def _order(fn: kernel.FuncOp, rows: int) -> None:
    loops = [o for o in fn.walk() if isinstance(o, scf.ParallelOp)]
    plain = all(constant_of(low) == 0 for o in loops for low in o.lowerBound)
    cluster = fn.launch.cluster
    if rows % cluster[0]:
        raise ScheduleError(f"'raster={rows}': a cluster has {cluster[0]} rows of tiles, write a multiple of that")
    if not plain and fn.origin.given:
        raise ScheduleError(f"'raster={rows}': the kernel has tiles of several sizes")
    for loop in loops:
        if plain and len(loop.lowerBound) > 1:  # a single row has one order
            _replace(loop, rows, cluster)


def _replace(old: scf.ParallelOp, rows: int, cluster: tuple[int, int]) -> None:
    """Replace the last two loops by one, whose iterations are the tiles in groups of ``rows``."""
    build = Inserter(old)
    *outer, high, width = old.upperBound
    count = build.add(arith.MuliOp(high, width)).results[0]
    zero, one = build.index(0), build.index(1)
    block = Block(arg_types=[IndexType()] * (len(outer) + 1))
    *before, tile = (Index(arg, block.add_op) for arg in block.args)
    new = [*before, *_tile(tile, Index(high, block.add_op), Index(width, block.add_op), rows, cluster)]
    body = old.body.block
    for arg, value in zip(body.args, new, strict=True):
        arg.replace_all_uses_with(value.value)
    for op in list(body.ops):
        op.detach()
        block.add_op(op)
    number = len(outer) + 1
    build.add(scf.ParallelOp([zero] * number, [*outer, count], [one] * number, Region(block)))
    Rewriter.erase_op(old)


def _tile(tile: Index, high: Index, width: Index, rows: int, cluster: tuple[int, int]) -> tuple[Index, Index]:
    """Return the row and the column of the ``tile``-th of ``high`` × ``width`` tiles; the columns of a group follow
    each other."""
    down, across = cluster
    if across > 1:  # of the clusters, then the tile within one
        size = tile.constant(down * across)
        rank, number = tile % size, tile // size
        row, column = _tile(number, high // down, width // across, rows // down, (1, 1))
        own_row, own_column = rank % down, rank // down
        first_row, first_column = row * down, column * across
        return first_row + own_row, first_column + own_column
    most = tile.constant(rows)
    whole = most * width
    first = tile // whole * most
    size = most.at_most(high - first)
    inside = tile % whole
    return first + inside % size, inside // size
