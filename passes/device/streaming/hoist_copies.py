"""Loop-invariant code motion of copies (``hoist-copies``): data that every block of a stream copies to shared memory is
copied once, before the stream.

    scf.for %j = 0 to %n {                               kernel.write (kernel.read %Q[%i]), %s
      kernel.write (kernel.read %Q[%i]), %s        →     scf.for %j = 0 to %n {
      kernel.write (kernel.read %K[%j]), %t                kernel.write (kernel.read %K[%j]), %t
      … }                                                  … }

These copies are asynchronous if several elements are neighbours. Only copies move, with the index arithmetic that they
need: the queries of an attention stay in shared memory for all blocks of keys.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.passes.device.distribution.value_classes import extents
from mlc.passes.device.loops.coefficients import depends
from mlc.passes.device.loops.pipelined_copies import width_of
from mlc.passes.device.loops.recompute import INDEX_ARITHMETIC
from mlc.passes.device.streaming.promote_locals import is_stream_of_fragments
from mlc.passes.effects import written_by


@dataclass(frozen=True)
class HoistCopies(ModulePass):
    name = "hoist-copies"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp) and is_stream_of_fragments(o)]:
            for loop in [o for o in fn.walk() if isinstance(o, scf.ForOp)]:
                _hoist(fn, loop)


def _hoist(fn: kernel.FuncOp, loop: scf.ForOp) -> None:
    written = [buffer for o in fn.walk() for buffer in written_by(o)]
    body = loop.body.block
    for op in list(body.ops):
        if any(depends(v, body) for v in op.operands):
            continue
        index = isinstance(op, INDEX_ARITHMETIC) and isinstance(op.results[0].type, IndexType)
        read = isinstance(op, kernel.ReadOp) and op.buffer not in written and _copied(op)
        copy = isinstance(op, kernel.WriteOp) and isinstance(op.buffer.owner, kernel.LocalOp)
        if index or read or copy and written.count(op.buffer) == 1:  # type: ignore[attr-defined]
            op.detach()
            assert loop.parent is not None
            loop.parent.insert_op_before(op, loop)
            if isinstance(op, kernel.WriteOp) and isinstance(op.value.owner, kernel.ReadOp):
                _start(op.value.owner, op)


def _start(read: kernel.ReadOp, write: kernel.WriteOp) -> None:
    """Make a copy asynchronous, if several elements are neighbours in both arrays, and wait for it."""
    fixed = [s for s in write.mixed_strides if isinstance(s, int)]
    width = width_of(read, write) if read.odd is None and read.result.has_one_use() else 0
    if width < 2 or write.valid or len(fixed) < len(write.mixed_strides):
        return
    shape, valid = extents(read.result), kernel.valid_of(read)
    copy = kernel.AsyncCopyOp(
        read.buffer, read.offset, read.mixed_strides, write.buffer, write.offset, fixed, shape, width, valid
    )
    assert isinstance(write.parent, Block)
    write.parent.insert_ops_before([copy, kernel.AsyncGroupOp(), kernel.AsyncWaitOp(0)], write)
    for op in (write, read):
        Rewriter.erase_op(op)


def _copied(op: kernel.ReadOp) -> bool:
    """Return whether all uses of a read store it in a local array."""
    users: list[Operation] = [use.operation for use in op.result.uses]
    return all(isinstance(o, kernel.WriteOp) and isinstance(o.buffer.owner, kernel.LocalOp) for o in users)
