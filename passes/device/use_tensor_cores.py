"""Tensor cores (``use-tensor-cores``): warps multiply staged operands as matrix fragments.

    %s = kernel.local : memref<16x136xf16>                 %s = kernel.local {layout = "offset…"} : memref<128x16xf16>
    kernel.write (kernel.read %A : 16x128x1), %s           kernel.write (kernel.read %A : 16x128x1), %s
    scf.for %k = 0 to 16 {                            →    kernel.mma %acc, %s, %t {steps = 16}
      %x = kernel.read %s[%k] : 128x1
      %y = kernel.read %t[%k] : 1x128
      %acc + %x·%y }

Products of halves and of floats of 8 bits are summed in f32, those of bytes in i32, which is exact. Factors of f32 are
rounded to TF32 with relaxed numerics; with default numerics a schedule may request tensor cores (``mma=m16n8k8``), and
each factor is then the sum of two TF32 numbers (3×TF32). With strict numerics tensor cores multiply bytes only. A left
factor that the kernel has computed on tensor cores itself, such as the weights of an attention, stays in registers: the
sums of m16n8 are distributed like the left factor of m16n8k16. The axis that is contiguous in memory is contiguous in
the local array too, with swizzled chunks; for bytes it must be that of the sum, because ``ldmatrix`` transposes halves
only. Steps after the last whole group form one more group, whose operands are 0 beyond the sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import FloatAttr, ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError, ThreadBlock, schedule_of, thread_block_of
from mlc.dialects.types import ITEMSIZE, memref
from mlc.passes.context import gpu_of
from mlc.passes.device.distribution.swizzle import swizzled
from mlc.passes.device.distribution.value_classes import value_classes
from mlc.passes.device.loops.staged_products import Factor, HeldFactor, StagedProduct, staged_product, strides_of
from mlc.passes.device.loops.widened_operands import copied_from, widen_operand
from mlc.passes.device.streaming.promote_locals import is_stream_of_fragments
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.schedule.gpu.tile_sizes import padded
from mlc.target import GpuTarget

BANK_PADDING = 8  # elements of f32 after a row of steps, which single loads read without conflicts


@dataclass(frozen=True)
class UseTensorCores(ModulePass):
    name = "use-tensor-cores"
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            with following(fn):
                self._use(fn, thread_block_of(schedule_of(fn)), gpu_of(ctx))

    def _use(self, fn: kernel.FuncOp, block: ThreadBlock, target: GpuTarget) -> None:
        loops = [o for o in fn.walk() if isinstance(o, scf.ForOp) and kernel.loop_of(o).unroll]
        products = [found for loop in loops if (found := staged_product(loop))]
        streamed = is_stream_of_fragments(fn)
        for product in products:
            mma = kernel.MMA_SHAPES[product.element]
            why = self._refused(product, mma, block, target, streamed) if block.mma else None
            if why and fn.origin.given:
                raise ScheduleError(f"'mma={block.mma}': {why}")
            if isinstance(product.left, HeldFactor) and not _is_distributed_alike(fn, product):
                continue
            if not why and (block.mma or self._chosen(mma)) and _is_whole(product, mma, block, target, streamed):
                _replace(product, mma, split=mma.bits == 32 and self.numerics != "relaxed")
        for made in [o for o in fn.walk() if isinstance(o, kernel.MmaOp)]:
            _accumulate(made)
        if block.mma and not products and fn.origin.given:
            raise ScheduleError(f"'mma={block.mma}': the kernel has no sum of products whose operands are staged")

    def _chosen(self, mma: kernel.MmaShape) -> bool:
        """Return whether tensor cores multiply these factors if the schedule does not give an instruction."""
        return mma.exact or self.numerics == "relaxed" or (self.numerics == "default" and mma.bits < 32)

    def _refused(
        self, product: StagedProduct, mma: kernel.MmaShape, block: ThreadBlock, target: GpuTarget, streamed: bool
    ) -> str | None:
        """Return why a product cannot have the shape that the schedule gives; None if it can."""
        asked = block.mma or ""
        if asked != str(mma) and not kernel.is_of_warpgroup(asked):
            return f"factors of {product.element} have {mma}"
        if self.numerics == "strict" and not mma.exact:
            return "strict numerics multiply and add floats one by one; leave it out"
        if not _is_whole(product, mma, block, target, streamed):
            rows, columns = product.tile
            parts = f"{mma.rows} x {mma.columns} for each warp, in powers of two, and {mma.steps} steps"
            return f"a tile of {rows} x {columns} in steps of {product.steps} is not whole fragments of {parts}"
        return None


def _is_whole(
    product: StagedProduct, mma: kernel.MmaShape, block: ThreadBlock, target: GpuTarget, streamed: bool
) -> bool:
    """Return whether the tile consists of whole fragments, in steps of a fragment, with at least one for each warp. In
    a stream, fragments may be partly beyond the tile."""
    tile, steps = product.tile, product.steps
    if streamed:
        tile = padded(tile[0]), max(padded(tile[1]), mma.columns)
    counts = [n // each for n, each in zip(tile, (mma.rows, mma.columns), strict=True)]
    whole = all(n & (n - 1) == 0 for n in (*tile, steps)) and all(counts) and steps % mma.steps == 0
    warps = block.warps or (target.block_threads // target.warp,)
    if isinstance(product.left, HeldFactor) and (len(warps) == 1 or warps[1] > 1):
        return False  # other warps have a part of its steps
    enough = prod(counts) >= warps[0] if len(warps) == 1 else all(n >= w for n, w in zip(counts, warps, strict=True))
    return whole and enough


def _is_distributed_alike(fn: kernel.FuncOp, product: StagedProduct) -> bool:
    """Return whether a left factor in registers has the distribution of the sums: it belongs to their class of values,
    or to the sums of another product with as many rows, if warps share only rows."""
    classes = value_classes(fn)
    factor, sums = classes[product.left.write.value], classes[product.loop.results[0]]
    made = any(isinstance(v.owner, kernel.MmaOp) for v in factor.values)
    return factor is sums or made and padded(factor.shape[0]) == padded(sums.shape[0])


def _replace(product: StagedProduct, mma: kernel.MmaShape, split: bool) -> None:
    loop, steps = product.loop, product.steps
    if isinstance(product.left, HeldFactor):
        left: tuple[SSAValue, tuple[int, int]] = product.left.write.value, (0, 0)
    else:
        left = _laid_out(product.left, padded(product.tile[0]), steps, product.multiplied(product.left))
    columns = max(padded(product.tile[1]), mma.columns)  # of whole fragments
    right = _laid_out(product.right, columns, steps, product.multiplied(product.right))
    strides = (*left[1], *right[1])
    made = kernel.MmaOp(loop.iter_args[0], left[0], right[0], steps, strides, split)
    if product.tile[0] % mma.rows or product.tile[1] % mma.columns:
        made.partial = UnitAttr()
    assert loop.parent is not None
    loop.parent.insert_op_before(made, loop)
    loop.results[0].replace_all_uses_with(made.result)
    Rewriter.erase_op(loop)
    if isinstance(product.left, HeldFactor):
        _erase_unread(product.left.local)
    _take_rest(made)
    for factor in (product.left, product.right):
        if not factor.local.result.uses:
            Rewriter.erase_op(factor.local)


def _erase_unread(local: kernel.LocalOp) -> None:
    """Erase the writes of a local array that no operation reads."""
    uses = [use.operation for use in local.result.uses]
    if all(isinstance(op, kernel.WriteOp) for op in uses):
        for op in uses:
            Rewriter.erase_op(op)


def _accumulate(product: kernel.MmaOp) -> None:
    """Let a product that begins with 0, and is then added to ``x``, begin with ``x``."""
    uses = [use.operation for use in product.result.uses]
    if len(uses) != 1 or not isinstance(uses[0], arith.AddfOp) or uses[0].parent is not product.parent:
        return
    added = uses[0]
    other = added.lhs if added.rhs is product.result else added.rhs
    if not _is_zero(product.acc) or other is product.result:
        return
    product.detach()
    assert isinstance(added.parent, Block)
    added.parent.insert_op_before(product, added)
    product.operands[0] = other
    added.result.replace_all_uses_with(product.result)
    Rewriter.erase_op(added)


def _is_zero(value: SSAValue) -> bool:
    """Return whether all elements of a vector of floats are 0."""
    match value.owner:
        case vector.BroadcastOp(source=SSAValue(owner=arith.ConstantOp(value=FloatAttr() as number))):
            return number.value.data == 0
    return False


def _take_rest(made: kernel.MmaOp) -> None:
    """Let the groups of steps include the steps that a loop after them does one by one; operands beyond the sum are
    0."""
    groups = made.parent_op()
    if not isinstance(groups, scf.ForOp):
        return
    rest = next((u.operation for r in groups.results for u in r.uses if _continues(u.operation, groups)), None)
    if rest is None:
        return
    assert isinstance(rest, scf.ForOp)
    for local in (made.a, made.b):
        _limit(copied_from(local), groups, rest.ub)
    groups.operands[1] = rest.ub
    for old, result in zip(rest.results, groups.results, strict=True):
        old.replace_all_uses_with(result)
    Rewriter.erase_op(rest)


def _continues(op: Operation, groups: scf.ForOp) -> bool:
    """Return whether a loop does the steps that remain after groups of steps."""
    return isinstance(op, scf.ForOp) and op.lb is groups.ub and tuple(op.iter_args) == tuple(groups.results)


def _limit(read: Operation | Block, groups: scf.ForOp, end: SSAValue) -> None:
    """Let a group read 0 for steps from ``end`` on."""
    assert isinstance(read, kernel.ReadOp | kernel.GatherOp)
    body = groups.body.block
    left = arith.SubiOp(end, body.args[0])
    valid = {0: left.result, **kernel.valid_of(read)}
    if isinstance(read, kernel.ReadOp):
        type_ = read.result.type
        new: Operation = kernel.ReadOp(read.buffer, read.offset, read.mixed_strides, type_, valid=valid)
    else:
        new = kernel.GatherOp(read.buffer, read.offsets, read.result.type, valid=valid)
    body.insert_ops_before([left, new], read)
    read.results[0].replace_all_uses_with(new.results[0])
    Rewriter.erase_op(read)


def _laid_out(factor: Factor, extent: int, steps: int, element: str) -> tuple[SSAValue, tuple[int, int]]:
    """Replace the local array of a factor by one of element type ``element``; return it, and its strides along and
    across the sum."""
    size = ITEMSIZE[element]
    if factor.contiguous_sum or size == 1:
        shape, strides = (extent, steps), (1, steps)
    else:
        row = extent + (BANK_PADDING if size == 4 else 0)
        shape, strides = (steps, row), (row, 1)
    local = kernel.LocalOp(memref(element, shape))
    if prod(shape) == extent * steps:
        local.layout = kernel.LayoutAttr(swizzled(*shape, size))
    write, narrow = factor.write, factor.element != element
    held = kernel.LocalOp(memref(factor.element, shape)) if narrow else local
    staged = kernel.WriteOp(write.value, held.result, write.offset, strides_of(factor, *strides))
    for old, new in ((factor.local, local), *([(factor.local, held)] if narrow else []), (write, staged)):
        assert old.parent is not None
        old.parent.insert_op_before(new, old)
    if narrow:
        widen_operand(staged, local)
    Rewriter.erase_op(write)
    return local.result, strides
