"""Bulk copy of operands (``copy-by-tma``): if the schedule has ``copy=tma``, one thread copies each staged operand as
boxes of a tensor (TMA of sm_90).

    scf.for %k = 0 to %n step 64 {                        scf.for %k = 0 to %n step 64 {
      kernel.write (kernel.read %A[…%k…] valid(…)), %s      kernel.bulk_copy %A[%k, %m] to %s {extents, strides, box, …}
      kernel.write (kernel.read %B[…%k…] valid(…)), %t  →   kernel.bulk_copy %B[%n, %k] to %t {…}
      kernel.mma %acc, %s, %t }                             kernel.mma %acc, %s, %t }

Elements outside the tensor arrive as zeros, so boxes need no limits. Weights of 8 bits arrive as bytes, row by row, and
computing threads write them as halves (``widened_operands.py``). Operands that no tensor map describes (with strides
that are unknown or not multiples of 16 bytes, or offsets that are not linear in the tile's coordinates) are copied by
threads, as before, if a rule has chosen the schedule; otherwise an error gives the reason. ``specialize-warps`` then
lets other warps copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.dialects.kernel.bulk_copy import MOST_BOX
from mlc.dialects.kernel.linear_layout import LinearLayout
from mlc.dialects.poly import ScheduleError, schedule_of, thread_block_of
from mlc.dialects.types import ITEMSIZE, element_of
from mlc.passes.context import gpu_of
from mlc.passes.device.bulk.consumer_order import groups_of
from mlc.passes.device.bulk.positions import place_along, variables_of
from mlc.passes.device.distribution.block_threads import threads_of
from mlc.passes.device.distribution.tensor_box import CHUNK, ROW, TensorAxis, Variable, box_layout, refused, tensor_axes
from mlc.passes.device.distribution.warpgroup import WARPS
from mlc.passes.device.loops.argument_alignment import are_aligned
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.loops.insertion import Inserter
from mlc.passes.device.loops.pipelined_copies import copies_of
from mlc.passes.device.loops.recompute import INDEX_ARITHMETIC
from mlc.passes.device.loops.widened_operands import CASTS
from mlc.passes.schedule.apply_schedules import following
from mlc.target import GpuTarget

TMA = "tma"


@dataclass(frozen=True)
class CopyByTma(ModulePass):
    name = "copy-by-tma"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            done = any(isinstance(o, kernel.BulkCopyOp) for o in fn.walk())
            if thread_block_of(schedule_of(fn)).copy == TMA and not done:
                with following(fn):
                    _copy(fn, gpu_of(ctx))


def _copy(fn: kernel.FuncOp, target: GpuTarget) -> None:
    loop = _pipeline(fn, target)
    copies = loop if isinstance(loop, str) else _copies(fn, loop)
    if isinstance(copies, str):
        if fn.origin.given:
            raise ScheduleError(f"'copy=tma': {copies}")
        return
    for copy in copies:
        copy.replace()


def _pipeline(fn: kernel.FuncOp, target: GpuTarget) -> scf.ForOp | str:
    """Return the loop whose operands other warps copy, or the reason why there is none. It must be the sum of the only
    tile of a block, computed by warpgroups, which read shared memory in the layout that bulk copies write."""
    products = [o for o in fn.walk() if isinstance(o, kernel.MmaOp)]
    tiles = [o for o in fn.walk() if isinstance(o, scf.ParallelOp)]
    if not target.warpgroups:
        return f"'{target.name}' has no bulk copies of tensors, sm_90 has them (cuda:sm_90)"
    most = (target.most_threads // target.warp - WARPS) // groups_of(fn)
    if (threads_of(fn, target) or target.block_threads) > most * target.warp:
        return f"a block has at most {most} warps beside the {WARPS} that copy"
    if groups_of(fn) > 1 and threads_of(fn, target) != WARPS * target.warp:
        return f"with 'pingpong' a tile is that of one warpgroup, warps={WARPS}"
    if len(products) != 1 or products[0].warpgroup is None:
        return "the operands are not those of one product of warpgroups (mma=m64n…)"
    loop = products[0].parent_op()
    if len(tiles) != 1 or not isinstance(loop, scf.ForOp) or loop.parent_op() is not tiles[0]:
        return "the sum of the product is not one loop of a tile"
    if tiles[0].parent is not fn.block or any(constant_of(low) != 0 for low in (*tiles[0].lowerBound, loop.lb)):
        return "the kernel has more than one band of tiles"
    if any(isinstance(o, kernel.MultiReductionOp) or o.name == "vector.reduction" for o in fn.walk()):
        return "the kernel reduces among threads after the product"
    return loop


def _copies(fn: kernel.FuncOp, loop: scf.ForOp) -> list[_BulkCopy] | str:
    """Return the copies of a loop that contains only them, its product, and the widening of an operand in shared
    memory; or the reason why they cannot be bulk copies."""
    variables = variables_of(loop)
    copies, made = list(copies_of(fn, loop, narrow=True)), list[_BulkCopy]()
    known = {o for copy in copies for o in (copy.read, copy.write, copy.local)}
    others = [o for o in loop.body.block.ops if o not in known and not isinstance(o, _BESIDE) and not _widens(o)]
    if len(copies) != 2 or others or variables is None:
        return "the loop of the sum does more than copy two operands as they are and multiply them"
    for copy in copies:
        axes = tensor_axes(copy.read, variables) if isinstance(copy.read, kernel.ReadOp) else "an operand is gathered"
        why = axes if isinstance(axes, str) else refused(axes, ITEMSIZE[element_of(copy.read.buffer)])
        if not isinstance(axes, str):
            made.append(_BulkCopy(copy.read, copy.write, copy.local, axes, variables))
        if not why and not are_aligned(fn, fn.block.args.index(copy.read.buffer), CHUNK):
            why = f"an operand is a part of another tensor, from an offset on that is no multiple of {CHUNK} bytes"
        if why or not made[-1].fits():
            return why or "an operand has another layout in shared memory than boxes have"
    return made


_BESIDE = (*INDEX_ARITHMETIC, kernel.MmaOp, scf.YieldOp, *CASTS)


def _widens(op: Operation) -> bool:
    """Return whether an operation reads or writes shared memory."""
    return isinstance(op, kernel.ReadOp | kernel.WriteOp) and isinstance(op.buffer.owner, kernel.LocalOp)


@dataclass(frozen=True)
class _BulkCopy:
    read: kernel.ReadOp | kernel.GatherOp
    write: kernel.WriteOp
    local: kernel.LocalOp
    axes: Sequence[TensorAxis]
    variables: Mapping[SSAValue, Variable]

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and columns of the copied tile; elements are contiguous along columns."""
        (columns,) = (axis.tile for axis in self.axes if axis.stride == 1)
        return next((axis.tile for axis in self.axes if axis.stride > 1 and axis.tile > 1), 1), columns

    @property
    def itemsize(self) -> int:
        return ITEMSIZE[element_of(self.read.buffer)]

    @property
    def row(self) -> int:
        """The elements in a row of a box."""
        return self.tile[1] if self.widened else min(self.tile[1], ROW // self.itemsize)

    @property
    def widened(self) -> bool:
        """Whether threads read the local array, row by row, rather than warpgroups, in their layout."""
        return self.local.layout is None

    def fits(self) -> bool:
        """Return whether the local array has the layout that boxes have."""
        layout, (rows, columns) = self.local.layout, self.tile
        shape = self.read.result.type
        assert isinstance(shape, VectorType)
        assert isinstance(self.read, kernel.ReadOp)
        pairs = zip(shape.get_shape(), self.read.mixed_strides, self.write.mixed_strides, strict=True)
        order = {source: target for extent, source, target in pairs if extent > 1}
        plain = order.pop(1, None) == 1 and list(order.values()) == [columns] and constant_of(self.write.offset) == 0
        if self.widened:
            return plain and columns <= MOST_BOX and columns * self.itemsize % CHUNK == 0
        same = layout is not None and layout.data == box_layout(rows, columns, self.itemsize)
        return plain and same and self.row * self.itemsize % 32 == 0

    def replace(self) -> None:
        build = Inserter(self.write)
        for n in range(self.tile[1] // self.row):
            build.add(self._box(n, build))
        if self.widened:  # boxes are aligned, as arrays with a layout are
            rows, columns = self.tile
            self.local.layout = kernel.LayoutAttr(LinearLayout.identity("offset", rows * columns))
        for op in (self.write, self.read):
            Rewriter.erase_op(op)

    def _box(self, n: int, build: Inserter) -> kernel.BulkCopyOp:
        """Return the copy of the n-th box of columns."""
        rows, _ = self.tile
        more = [n * self.row if axis.stride == 1 else 0 for axis in self.axes]
        positions = [place_along(axis, self.variables, build, by) for axis, by in zip(self.axes, more, strict=True)]
        strides = tuple(axis.stride * self.itemsize for axis in self.axes[1:])
        box = tuple(self.row if axis.stride == 1 else axis.tile for axis in self.axes)
        extents = tuple(axis.extent for axis in self.axes)
        span = 0 if self.widened else self.row * self.itemsize
        made = kernel.TensorMap(self.read.buffer, extents, strides, box, span)
        return kernel.BulkCopyOp(made, positions, self.local.result, build.index(n * self.row * rows))
