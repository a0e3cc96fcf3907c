"""Barrier insertion (``insert-barriers``): a barrier is inserted before a launch that depends on a launch of the same
phase.

    rt.launch @a(%x, %t); rt.launch @b(%t, %y)   →   rt.launch @a(%x, %t); rt.barrier; rt.launch @b(%t, %y)

Two launches are dependent if both access one buffer and at least one of them writes it. There is also a barrier before
each loop and branch, and at the end of each iteration and branch.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from mlc.dialects import rt
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.semantics.dims import parse_dim
from mlc.passes.plan.program.accessed import Accessed, accesses


@dataclass(frozen=True)
class InsertBarriers(ModulePass):
    name = "insert-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in [o for o in op.ops if isinstance(o, rt.ProgramOp)]:
            _insert(program.body.block)


def _insert(block: Block) -> None:
    reads, writes = Accessed(), Accessed()
    sized = False  # whether an earlier step defines a run-time dimension, which any later step may need
    for op in list(block.ops):
        if isinstance(op, rt.NESTS):
            if isinstance(_last_step(op), rt.STEPS):
                block.insert_op_before(rt.BarrierOp(), op)
            _insert_in_regions(op)
            reads, writes, sized = Accessed(), Accessed(), False
        if isinstance(op, rt.BarrierOp):  # of an earlier run of the pass
            reads, writes, sized = Accessed(), Accessed(), False
        if not isinstance(op, rt.STEPS):
            continue
        new_reads, new_writes = accesses(op)
        conflict = reads.meets(new_writes) or writes.meets([*new_writes, *new_reads])
        if conflict or (sized and _needs_sizes(op)):
            block.insert_op_before(rt.BarrierOp(), op)
            reads, writes, sized = Accessed(), Accessed(), False
        reads.add(new_reads)
        writes.add(new_writes)
        sized = sized or isinstance(op, rt.NonzeroOp | rt.SizeOp)


def _needs_sizes(op: Operation) -> bool:
    """Return whether a step may need run-time dimensions: all steps may, except one that only defines another
    dimension."""
    return not isinstance(op, rt.SizeOp) or bool(sizes_of([parse_dim(op.most.data)]))


def _last_step(op: Operation) -> Operation | None:
    """Return the step or barrier before ``op``, skipping buffers and views."""
    before = op.prev_op
    while before is not None and not isinstance(before, rt.STEPS | rt.NESTS | rt.BarrierOp):
        before = before.prev_op
    return before


def _insert_in_regions(op: rt.LoopOp | rt.IfOp) -> None:
    for region in op.regions:
        _insert(region.block)
        last = region.block.last_op
        if last is not None and isinstance(last if isinstance(last, rt.STEPS) else _last_step(last), rt.STEPS):
            region.block.add_op(rt.BarrierOp())
