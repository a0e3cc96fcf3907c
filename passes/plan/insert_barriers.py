"""``insert-barriers``: a barrier before a launch that touches what an unfinished one writes, or writes what one reads.

    rt.launch @a(%x, %t); rt.launch @b(%t, %y)   →   rt.launch @a(%x, %t); rt.barrier; rt.launch @b(%t, %y)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import rt
from mlc.dialects.types import bytes_of

STEPS = rt.LaunchOp | rt.CopyOp | rt.PositionsOp | rt.RoutineOp


@dataclass(frozen=True)
class InsertBarriers(ModulePass):
    name = "insert-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in [o for o in op.ops if isinstance(o, rt.ProgramOp)]:
            _insert(program)


def _insert(program: rt.ProgramOp) -> None:
    reads: list[SSAValue] = []
    writes: list[SSAValue] = []
    sized = False  # whether the step before makes a size known, which any step behind it may need
    for op in list(program.body.block.ops):
        if not isinstance(op, STEPS):
            continue
        new_reads, new_writes = accesses(op)
        if sized or overlap(new_writes, [*reads, *writes]) or overlap(new_reads, writes):
            program.body.block.insert_op_before(rt.BarrierOp(), op)
            reads, writes = [], []
        reads += new_reads
        writes += new_writes
        sized = isinstance(op, rt.PositionsOp)


def accesses(op: Operation) -> tuple[list[SSAValue], list[SSAValue]]:
    """Memory a step reads and writes: buffers or views of them."""
    if isinstance(op, rt.CopyOp):
        return [op.source], [op.target]
    if isinstance(op, rt.PositionsOp):
        return [op.mask], [op.where, op.size]
    if isinstance(op, rt.RoutineOp):
        return list(op.args[:-1]), [op.args[-1]]
    assert isinstance(op, rt.LaunchOp)
    split = len(op.args) - op.writes.value.data
    return list(op.args[:split]), list(op.args[split:])


def overlap(a: Iterable[SSAValue], b: list[SSAValue]) -> bool:
    return any(_overlap(x, y) for x in a for y in b)


def _overlap(a: SSAValue, b: SSAValue) -> bool:
    x, y = rt.root(a), rt.root(b)
    if x is not y and not (isinstance(x.owner, rt.BufferOp) and isinstance(y.owner, rt.BufferOp)):
        return False  # inputs, outputs and weights are disjoint from each other and from the arena
    first, second = _interval(a), _interval(b)
    if first is None or second is None:
        return True  # places depend on the symbolic sizes
    return first[0] < second[1] and second[0] < first[1]


def _interval(value: SSAValue) -> tuple[int, int] | None:
    """The bytes of a value: in the arena, or in what the caller gave; None where they are not constant."""
    start, size = rt.start(value), bytes_of(value)
    place = rt.root(value).owner
    if isinstance(place, rt.BufferOp):
        if place.offset is None:
            return None
        start = start + place.offset.value.data
    return (start, start + size) if isinstance(start, int) and isinstance(size, int) else None
