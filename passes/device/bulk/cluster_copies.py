"""What the blocks of a cluster share: each copies a half of an operand, which arrives in both (multicast)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError
from mlc.passes.device.loops.coefficients import constant_of

BLOCKS = 2  # of a cluster: (2, 1) rows and columns of tiles
SWIZZLED = 1024  # bytes in which the swizzle of boxes repeats: a half begins at a multiple


def check_cluster(cluster: tuple[int, ...], tiles: scf.ParallelOp) -> None:
    """Raises ScheduleError where the tiles are not whole clusters."""
    rows = constant_of(tiles.upperBound[-2]) if len(tiles.upperBound) > 1 else None
    text = "x".join(map(str, cluster))
    if cluster != (BLOCKS, 1):
        raise ScheduleError(f"'cluster={text}': a cluster has two blocks in a column, 2x1")
    if rows is None or rows % BLOCKS:
        raise ScheduleError(f"'cluster={text}': the rows of tiles are not pairs, known when the model is compiled")


def is_shared(copy: kernel.BulkCopyOp, tiles: scf.ParallelOp) -> bool:
    """Whether tiles of neighbouring rows copy the same box."""
    return not any(_depends(value, tiles.body.block.args[-2]) for value in copy.coordinates)


def _depends(value: SSAValue, variable: SSAValue) -> bool:
    op = value.owner
    return value is variable or (isinstance(op, Operation) and any(_depends(v, variable) for v in op.operands))


def shared_copy(
    copy: kernel.BulkCopyOp,
    coordinates: list[SSAValue],
    target: SSAValue,
    at: SSAValue,
    barrier: tuple[SSAValue, SSAValue],
    rank: SSAValue,
    add: Callable[[Operation], object],
) -> kernel.BulkCopyOp:
    """The copy of this block's half of a box, to all blocks of the cluster. Raises ScheduleError for a box that has no
    halves."""
    map_ = copy.map
    axis = next((n for n, extent in enumerate(map_.box) if n and extent > 1), 0)
    half = map_.box[axis] // BLOCKS
    if not axis or map_.box[axis] % BLOCKS or copy.bytes // BLOCKS % SWIZZLED:
        raise ScheduleError(f"'cluster=2x1': a box of {' x '.join(map(str, map_.box))} has no halves")

    def moved(start: SSAValue, by: int) -> SSAValue:
        add(factor := arith.ConstantOp(IntegerAttr(by, IndexType())))
        add(part := arith.MuliOp(rank, factor.result))
        add(total := arith.AddiOp(start, part.result))
        return total.result

    box = tuple(half if n == axis else extent for n, extent in enumerate(map_.box))
    own = [moved(c, half) if n == axis else c for n, c in enumerate(coordinates)]
    return kernel.BulkCopyOp(replace(map_, box=box), own, target, moved(at, half * map_.box[0]), barrier, BLOCKS)
