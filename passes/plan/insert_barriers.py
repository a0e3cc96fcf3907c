"""``insert-barriers``: a barrier before a launch that touches what an unfinished one writes, or writes what one reads.

    rt.launch @a(%x, %t); rt.launch @b(%t, %y)   →   rt.launch @a(%x, %t); rt.barrier; rt.launch @b(%t, %y)

A loop or branch begins behind a barrier, and each turn and branch ends with one: the next turn may touch anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import rt
from mlc.dialects.dims import DimLike, parse_dim
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.types import bytes_of


@dataclass(frozen=True)
class InsertBarriers(ModulePass):
    name = "insert-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in [o for o in op.ops if isinstance(o, rt.ProgramOp)]:
            _insert(program.body.block)


def _insert(block: Block) -> None:
    reads: list[SSAValue] = []
    writes: list[SSAValue] = []
    sized = False  # whether a step before makes a size known, which any step behind it may need
    for op in list(block.ops):
        if isinstance(op, rt.NESTS):
            if isinstance(_last_step(op), rt.STEPS):
                block.insert_op_before(rt.BarrierOp(), op)
            _insert_inside(op)
            reads, writes, sized = [], [], False
        if not isinstance(op, rt.STEPS):
            continue
        new_reads, new_writes = accesses(op)
        if sized and _needs_sizes(op) or overlap(new_writes, [*reads, *writes]) or overlap(new_reads, writes):
            block.insert_op_before(rt.BarrierOp(), op)
            reads, writes, sized = [], [], False
        reads += new_reads
        writes += new_writes
        sized = sized or isinstance(op, rt.PositionsOp | rt.SizeOp)


def _needs_sizes(op: Operation) -> bool:
    """Whether a step may need sizes: all do, but what only takes a number for another one."""
    return not isinstance(op, rt.SizeOp) or bool(sizes_of([parse_dim(op.most.data)]))


def _last_step(op: Operation) -> Operation | None:
    """The step or barrier before ``op``, places skipped."""
    before = op.prev_op
    while before is not None and not isinstance(before, rt.STEPS | rt.NESTS | rt.BarrierOp):
        before = before.prev_op
    return before


def _insert_inside(op: rt.LoopOp | rt.IfOp) -> None:
    for region in op.regions:
        _insert(region.block)
        last = region.block.last_op
        if last is not None and isinstance(last if isinstance(last, rt.STEPS) else _last_step(last), rt.STEPS):
            region.block.add_op(rt.BarrierOp())


def accesses(op: Operation) -> tuple[list[SSAValue], list[SSAValue]]:
    """Memory a step reads and writes: buffers or views of them."""
    if isinstance(op, rt.CopyOp):
        return [op.source], [op.target]
    if isinstance(op, rt.PositionsOp):
        return [op.mask], [op.where, op.size]
    if isinstance(op, rt.SizeOp):
        return [op.value], [op.size]
    if isinstance(op, rt.DecideOp):
        return [v for v in (op.limit, op.active) if v is not None], [op.told] if op.told is not None else []
    if isinstance(op, rt.RoutineOp):
        return list(op.args[:-1]), [op.args[-1]]
    assert isinstance(op, rt.LaunchOp)
    split = len(op.args) - op.writes.value.data
    return list(op.args[:split]), list(op.args[split:])


def overlap(a: Iterable[SSAValue], b: list[SSAValue]) -> bool:
    return any(_overlap(x, y) for x in a for y in b)


def _overlap(a: SSAValue, b: SSAValue) -> bool:
    x, y = rt.root(a), rt.root(b)
    if isinstance(x, BlockArgument) and isinstance(y, BlockArgument) and x.owner is y.owner:
        # of one loop: what is written is never what is read, and each state has buffers of its own
        return x is y and _meet(_bytes(rt.start(a), a), _bytes(rt.start(b), b))
    return any(_in_one_place(p, q, a, b) for p in rt.extents(a) for q in rt.extents(b))


def _in_one_place(p: tuple[SSAValue, DimLike], q: tuple[SSAValue, DimLike], a: SSAValue, b: SSAValue) -> bool:
    """Whether ``a``, which begins at ``p``, and ``b``, at ``q``, share bytes."""
    x, y = p[0], q[0]
    if x is not y and not (isinstance(x.owner, rt.BufferOp) and isinstance(y.owner, rt.BufferOp)):
        return False  # inputs, outputs and weights are disjoint from each other and from the arena
    return _meet(_interval(*p, a), _interval(*q, b))


Bytes = tuple[int, int] | None


def _meet(first: Bytes, second: Bytes) -> bool:
    if first is None or second is None:
        return True  # places depend on the symbolic sizes
    return first[0] < second[1] and second[0] < first[1]


def _interval(root: SSAValue, start: DimLike, value: SSAValue) -> Bytes:
    """The bytes of a value: in the arena, or in what the caller gave; None where they are not constant."""
    place = root.owner
    if isinstance(place, rt.BufferOp):
        if place.offset is None:
            return None
        start = start + place.offset.value.data
    return _bytes(start, value)


def _bytes(start: DimLike, value: SSAValue) -> Bytes:
    size = bytes_of(value)
    return (start, start + size) if isinstance(start, int) and isinstance(size, int) else None
