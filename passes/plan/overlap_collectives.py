"""Overlap of collectives with kernels (``overlap-collectives``): starts as early, waits as late as possible.

    rt.launch @dw(%x, %g)                        rt.launch @dw(%x, %g)
    rt.launch @dx(%g, %y)                   →    rt.start "comm.all_reduce" 0 to %s of %g
    rt.start "comm.all_reduce" 0 to %s of %g     rt.launch @dx(%g, %y)
    rt.wait 0 to %s of %g                        rt.wait 0 to %s of %g
    rt.launch @update(%w, %s)                    rt.launch @update(%w, %s)

A start is right after what writes its operand. A wait is before what reads the result, or writes the operand. So starts
are in the order in which their operands are ready: the same on all ranks, because all run this program.

Of collectives with ``ahead`` one is under way at a time: a gather starts after the wait for the one before, and what is
reduced and scattered is waited for before the next one starts. So few whole tensors are alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import rt
from mlc.passes.plan.program.accessed import accesses

Memory = set[SSAValue]
Touched = dict[Operation, tuple[Memory, Memory]]
Ahead = dict[Operation, rt.StartOp]
"""The start of each start and wait of collectives with ``ahead``."""


@dataclass(frozen=True)
class OverlapCollectives(ModulePass):
    name = "overlap-collectives"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in [o for o in op.ops if isinstance(o, rt.ProgramOp)]:
            if any(isinstance(each, rt.StartOp) for each in rt.walk(program.body.block)):
                _overlap(program.body.block)


def _overlap(block: Block) -> None:
    for op in block.ops:
        if isinstance(op, rt.NESTS):
            for region in op.regions:
                _overlap(region.block)
    _hoist_memory(block)
    touched: Touched = {op: _touched(op) for op in block.ops if isinstance(op, rt.STEPS | rt.NESTS)}
    waits = {o.slot.value.data: o for o in block.ops if isinstance(o, rt.WaitOp)}
    ahead: Ahead = {}
    for start in [o for o in block.ops if isinstance(o, rt.StartOp) and "ahead" in o.how.data]:
        ahead[start] = ahead[waits[start.slot.value.data]] = start
    for op in reversed([o for o in block.ops if isinstance(o, rt.StartOp)]):
        _raise_start(op, touched, ahead)
    for op in reversed([o for o in block.ops if isinstance(o, rt.WaitOp)]):
        _lower_wait(op, touched, ahead)


def _hoist_memory(block: Block) -> None:
    """Move buffers, and views of what is known at the beginning, to the start of their block: no step is in the way."""
    last, known = None, set[Operation]()
    for op in [o for o in block.ops if not isinstance(o, rt.STEPS | rt.NESTS)]:
        if all(isinstance(value.owner, Block) or value.owner in known or value.owner.parent is not block
               for value in op.operands):  # fmt: skip
            _move(op, last)
            last = op
            known.add(op)


def _raise_start(start: rt.StartOp, touched: Touched, ahead: Ahead) -> None:
    """Move a start up after the last step that it depends on, or the memory; starts that are ready at once keep their
    order."""
    at: Operation | None = start.prev_op
    while at in touched and not _meets(touched[at], start) and not _is_next(at, start, ahead):
        at = at.prev_op
    _move(start, at)


def _is_next(step: Operation, op: rt.StartOp | rt.WaitOp, ahead: Ahead) -> bool:
    """Return whether both are of collectives of one kind with ``ahead``, and one waits for the other."""
    one, two = ahead.get(step), ahead.get(op)
    return one is not None and two is not None and one.kind == two.kind and type(step) is not type(op)


def _lower_wait(wait: rt.WaitOp, touched: Touched, ahead: Ahead) -> None:
    """Move a wait down before the first step that needs it, or to the end of the block."""
    last: Operation = wait
    while (after := last.next_op) is not None and not (after in touched and _meets(touched[after], wait)):
        if wait in ahead and ahead[wait].kind.data == "comm.reduce_scatter" and _is_next(after, wait, ahead):
            break
        last = after
    if last is not wait:
        _move(wait, last)


def _meets(step: tuple[Memory, Memory], collective: rt.StartOp | rt.WaitOp) -> bool:
    """Return whether a step touches the result of a collective, or writes its operand."""
    reads, writes = step
    target, source = _memory([collective.target]), _memory([collective.source] if collective.source else [])
    return bool(target & (reads | writes) or source & writes)


def _touched(op: Operation) -> tuple[Memory, Memory]:
    """The memory that a step, or all those of a loop or branch, may read and write."""
    if not isinstance(op, rt.NESTS):
        reads, writes = accesses(op)
        return _memory(reads), _memory(writes)
    inner = [accesses(o) for r in op.regions for o in rt.walk(r.block) if isinstance(o, rt.STEPS)]
    of_loops = [o for r in op.regions for o in rt.walk(r.block) if isinstance(o, rt.LoopOp)]
    read = [*op.operands, *(v for o in of_loops for v in o.operands), *(v for reads, _ in inner for v in reads)]
    return _memory(read), _memory([*op.operands, *(v for _, writes in inner for v in writes)])


def _memory(values: Sequence[SSAValue]) -> Memory:
    return {base for value in values for base, _ in rt.extents(value)}


def _move(op: Operation, after: Operation | None) -> None:
    """Put ``op`` right after another operation of its block; None: at its start."""
    block = op.parent
    assert block is not None
    if after is op or after is op.prev_op:
        return
    op.detach()
    if after is not None:
        block.insert_op_after(op, after)
    elif block.first_op is not None:
        block.insert_op_before(op, block.first_op)
    else:
        block.add_op(op)
