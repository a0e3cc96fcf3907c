"""Common subexpression elimination in a block: equal operations without effects, and equal reads of buffers that the
kernel does not write, are merged."""

from __future__ import annotations

from xdsl.dialects import arith, vector
from xdsl.ir import Block, Operation
from xdsl.rewriter import Rewriter
from xdsl.traits import is_side_effect_free

from mlc.dialects import kernel

PURE = (arith.ConstantOp, vector.BroadcastOp, kernel.LanewiseOp, kernel.StepOp)


def share_values(fn: kernel.FuncOp) -> None:
    """Replace an operation of a block by an earlier equal one."""
    written = {o.buffer for o in fn.walk() if isinstance(o, kernel.WriteOp | kernel.ScatterOp)}
    for block in [region.block for o in fn.walk() for region in o.regions]:
        _share(block, written)


def _share(block: Block, written: set) -> None:
    known: dict[object, Operation] = {}
    for op in list(block.ops):
        reads = isinstance(op, kernel.ReadOp) and op.buffer not in written
        if op.regions or not (reads or isinstance(op, PURE) or is_side_effect_free(op)):
            continue
        types = tuple(r.type for r in op.results)
        key = (op.name, tuple(op.operands), types, tuple(op.properties.items()), tuple(op.attributes.items()))
        first = known.setdefault(key, op)
        if first is not op:
            for old, new in zip(op.results, first.results, strict=True):
                old.replace_all_uses_with(new)
            Rewriter.erase_op(op)
