"""Register promotion of local arrays (``promote-locals``; LLVM: mem2reg): the results of a stream stay in registers.

    scf.for %j = … {                                   %m = scf.for %j = … iter_args(%old = %first) {
      kernel.write %s, %t : vector<64x64xf32>
      %x = kernel.read %t : vector<64x64xf32>            … %s …
      %old = kernel.read %m : vector<64xf32>      →      … %old … : vector<64x1xf32>
      kernel.write %new, %m : vector<64xf32> }           scf.yield %new }

The pass applies to kernels whose schedule has tensor cores and a stream. Their values have one distribution, in which
the lanes that share a row reduce it by shuffles, and each keeps the row's result. A local array is promoted if all its
accesses are of the whole array, all by rows or all by columns, and each read comes after a write. Vectors of rows keep
the reduced axis, with extent 1. A smaller last block that not all rows have becomes a loop of at most one iteration,
which carries the results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of, thread_block_of
from mlc.passes.device.distribution.value_classes import extents
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.streaming.values.guards import guards_to_loops
from mlc.passes.device.streaming.values.kept_axes import keep_axes
from mlc.passes.device.streaming.values.shared_values import share_values


@dataclass(frozen=True)
class PromoteLocals(ModulePass):
    name = "promote-locals"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            if is_stream_of_fragments(fn):
                guards_to_loops(fn)
                locals_ = [o for o in fn.walk() if isinstance(o, kernel.LocalOp)]
                promoted: set[SSAValue] = {o.result for o in locals_ if _is_whole(o)}
                known = _Known(promoted)
                known.visit(fn.block, {})
                promoted -= known.unknown
                keep_axes(fn, promoted)
                _Promotion(promoted, known.changes).block(fn.block)
                _erase(promoted)
                share_values(fn)


def is_stream_of_fragments(fn: kernel.FuncOp) -> bool:
    """Return whether the schedule of a kernel has a stream whose products run on tensor cores."""
    nests = schedule_of(fn)
    return any(nest.streamed for nest in nests) and thread_block_of(nests).mma is not None


def _is_whole(op: kernel.LocalOp) -> bool:
    """Return whether each access is of the whole array, or of the part of it that a smaller block has, all in one
    order."""
    uses = [use.operation for use in op.result.uses]
    shape = op.result.type.get_shape()
    row_major = [prod(shape[n + 1 :]) for n in range(len(shape))]
    orders = [row_major, row_major[::-1]] if len(shape) == 2 else [row_major]
    return any(all(_covers(access, op, strides) for access in uses) for strides in orders)


def _covers(access: Operation, local: kernel.LocalOp, order: Sequence[int]) -> bool:
    if not isinstance(access, kernel.ReadOp | kernel.WriteOp) or constant_of(access.offset) != 0:
        return False
    if access.lanes is not None or access.valid or access.dynamic or not _shape(access):
        return False
    strides = [int(s) for s in access.strides.get_values()]
    return len(_shape(access)) <= len(order) and all(s == t for s, t in zip(strides, order, strict=False))


def _shape(access: kernel.ReadOp | kernel.WriteOp) -> tuple[int, ...]:
    """Return the extents of an access, without trailing extents of 1."""
    found = extents(access.value if isinstance(access, kernel.WriteOp) else access.result)
    while len(found) > 1 and found[-1] == 1:
        found = found[:-1]
    return found


@dataclass
class _Known:
    """A walk over a kernel that tracks which part of each local array was written last.

    ``unknown``: arrays of which a read may come before all writes, or read another part than was written. ``changes``:
    for an operation with regions, the arrays of which it may write last another part than was written before it,
    because not all rows have a smaller last block.
    """

    locals_: set[SSAValue]
    unknown: set[SSAValue] = field(default_factory=set)
    changes: dict[Operation, set[SSAValue]] = field(default_factory=dict)

    def visit(self, block: Block, written: dict[SSAValue, tuple[int, ...]]) -> dict[SSAValue, tuple[int, ...]]:
        """Collect ``unknown`` and ``changes`` in a block; return the parts written last at its end."""
        for op in block.ops:
            if isinstance(op, kernel.ReadOp) and op.buffer in self.locals_ and written.get(op.buffer) != _shape(op):
                self.unknown.add(op.buffer)
            elif isinstance(op, kernel.WriteOp) and op.buffer in self.locals_:
                written[op.buffer] = _shape(op)
            for region in op.regions:
                written = self._region(op, region.block, written)
        return written

    def _region(
        self, op: Operation, block: Block, written: dict[SSAValue, tuple[int, ...]]
    ) -> dict[SSAValue, tuple[int, ...]]:
        """Return the parts written last after a region, which may be executed several times or not at all."""
        after = self.visit(block, dict(written))
        changed = {local for local, shape in written.items() if after.get(local) != shape}
        if not changed:
            return written
        same = {local: shape for local, shape in written.items() if local not in changed}
        self.changes.setdefault(op, set()).update(changed)
        return self._region(op, block, same)


def _erase(locals_: Iterable[SSAValue]) -> None:
    for local in locals_:
        assert isinstance(local.owner, kernel.LocalOp)
        Rewriter.erase_op(local.owner)


@dataclass
class _Promotion:
    """The replacement of the accesses of ``locals_``. ``changes``: arrays whose value an operation does not keep;
    ``current``: the value of each array at the point that is visited."""

    locals_: set[SSAValue]
    changes: dict[Operation, set[SSAValue]]
    current: dict[SSAValue, SSAValue] = field(default_factory=dict)

    def block(self, block: Block) -> None:
        for op in list(block.ops):
            if isinstance(op, kernel.WriteOp) and op.buffer in self.locals_:
                self.current[op.buffer] = op.value
                _remove(op)
            elif isinstance(op, kernel.ReadOp) and op.buffer in self.locals_:
                op.result.replace_all_uses_with(self.current[op.buffer])
                _remove(op)
            elif isinstance(op, scf.ForOp):
                self._loop(op)
            else:
                for region in op.regions:
                    _Promotion(self.locals_, self.changes, dict(self.current)).block(region.block)

    def _loop(self, loop: scf.ForOp) -> None:
        """Let a loop carry the values of the arrays that it writes, if they have a value before it."""
        for local in self.changes.get(loop, ()):
            self.current.pop(local, None)
        writes = (o.buffer for o in loop.walk() if isinstance(o, kernel.WriteOp))
        carried = [local for local in dict.fromkeys(writes) if local in self.current and local in self.locals_]
        body = loop.body.block
        inside = dict(self.current)
        for local in carried:
            inside[local] = body.insert_arg(self.current[local].type, len(body.args))
        inner = _Promotion(self.locals_, self.changes, inside)
        inner.block(body)
        if not carried:
            return
        last = body.last_op
        assert last is not None
        body.add_op(scf.YieldOp(*last.operands, *(inside[local] for local in carried)))
        _remove(last)
        starts = [*loop.iter_args, *(self.current[local] for local in carried)]
        new = scf.ForOp(loop.lb, loop.ub, loop.step, starts, Region(loop.body.detach_block(body)))
        new.attributes |= loop.attributes
        assert loop.parent is not None
        loop.parent.insert_op_before(new, loop)
        for old, result in zip(loop.results, new.results, strict=False):
            old.replace_all_uses_with(result)
        self.current |= zip(carried, new.results[len(loop.results) :], strict=True)
        _remove(loop)


def _remove(op: Operation) -> None:
    Rewriter.erase_op(op)
