"""Copies shared by the blocks of a cluster: each block copies a part of an operand, which arrives in all blocks that
need it (multicast).

With ``cluster=2x2`` the blocks 0 to 3 have the tiles (0, 0), (1, 0), (0, 1) and (1, 1): the blocks of a row of the
cluster share the left operand, those of a column the right one. Sets of blocks are masks, with one bit for each block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.loops.index import Index
from mlc.passes.device.loops.insertion import Inserter

BLOCKS = (2, 4)  # of a cluster
SWIZZLED = 1024  # bytes in which the swizzle of boxes repeats: a part begins at a multiple


Variables = tuple[SSAValue | None, SSAValue | None]
"""The loop variables of the rows and of the columns of tiles; None if there is one row, or one column."""


def tile_variables(tiles: scf.ParallelOp, left: kernel.BulkCopyOp) -> Variables:
    """Return the variables of the last two loops over tiles. A single loop is that of the rows if the ``left`` operand
    depends on it."""
    *outer, last = tiles.body.block.args
    if outer:
        return outer[-1], last
    return (last, None) if any(_depends(value, last) for value in left.coordinates) else (None, last)


def check_cluster(cluster: tuple[int, ...], tiles: scf.ParallelOp, variables: Variables) -> tuple[int, int]:
    """Return the rows and columns of tiles of a cluster. Raises ScheduleError if the tiles do not form whole
    clusters."""
    text = "x".join(map(str, cluster))
    if len(cluster) != 2 or prod(cluster) not in BLOCKS:
        raise ScheduleError(f"'cluster={text}': a cluster has 2 or 4 blocks: 2x1, 1x2, 2x2, 4x1 or 1x4")
    rows, columns = cluster
    trips = map(constant_of, tiles.upperBound)
    bounds: dict[SSAValue, int | None] = dict(zip(tiles.body.block.args, trips, strict=True))
    counts = [1 if variable is None else bounds[variable] for variable in variables]
    for name, count, each in (("rows", counts[0], rows), ("columns", counts[1], columns)):
        if count is None or count % each:
            more = f"the {name} of tiles are no multiple of {each}, known when the model is compiled"
            raise ScheduleError(f"'cluster={text}': {more}")
    return rows, columns


@dataclass(frozen=True)
class Sharing:
    """The blocks that need the same box: their number, the number of this block among them, and their mask."""

    parts: int
    own: SSAValue
    mask: SSAValue


class ClusterCopies:
    """The position of this block in its cluster, computed before ``place``. ``variables``: the variables of its
    tile."""

    def __init__(self, rows: int, columns: int, variables: Variables, place: Operation):
        build = Inserter(place)
        zero, rank = (Index(v, build.add) for v in (build.index(0), build.add(kernel.ClusterRankOp()).results[0]))
        both = rows > 1 and columns > 1
        row = rank % rows if both else rank if rows > 1 else zero
        column = rank // rows if both else rank if columns > 1 else zero
        first = column * rows
        in_row = zero.constant(sum(2 ** (rows * n) for n in range(columns))).shifted_left(row)
        in_column = zero.constant(2**rows - 1).shifted_left(first)
        self.peers = (in_row | in_column).value
        """The blocks to which this one copies: those whose products say when a buffer is free."""
        self.writers = rows + columns - 1
        """How many blocks copy to one, itself included."""
        self.variables = variables
        self.along_row = Sharing(columns, column.value, in_row.value)
        self.along_column = Sharing(rows, row.value, in_column.value)

    def sharing(self, copy: kernel.BulkCopyOp) -> Sharing | None:
        """Return the blocks that need the box of ``copy``, those with tiles in the same column, or row; None if no
        other block does."""
        for variable, found in zip(self.variables, (self.along_column, self.along_row), strict=True):
            shared = found.parts > 1 and variable is not None
            if shared and not any(_depends(value, variable) for value in copy.coordinates):
                return found
        return None


def _depends(value: SSAValue, variable: SSAValue | None) -> bool:
    op = value.owner
    return value is variable or (isinstance(op, Operation) and any(_depends(v, variable) for v in op.operands))


def shared_copy(
    copy: kernel.BulkCopyOp,
    coordinates: list[SSAValue],
    target: SSAValue,
    at: SSAValue,
    barrier: tuple[SSAValue, SSAValue],
    sharing: Sharing,
    add: Callable[[Operation], object],
) -> kernel.BulkCopyOp:
    """Return the copy of this block's part of a box to all blocks that need the box. Raises ScheduleError if the box
    has no equal parts."""
    map_, parts = copy.map, sharing.parts
    axis = next((n for n, extent in enumerate(map_.box) if n and extent > 1), 0)
    size = map_.box[axis] // parts
    if not axis or map_.box[axis] % parts or copy.bytes // parts % SWIZZLED:
        raise ScheduleError(f"'cluster=': a box of {' x '.join(map(str, map_.box))} has no {parts} equal parts")

    def moved(start: SSAValue, by: int) -> SSAValue:
        return (Index(start, add) + Index(sharing.own, add) * by).value

    box = tuple(size if n == axis else extent for n, extent in enumerate(map_.box))
    own = [moved(c, size) if n == axis else c for n, c in enumerate(coordinates)]
    return kernel.BulkCopyOp(replace(map_, box=box), own, target, moved(at, size * map_.box[0]), barrier, sharing.mask)
