"""The arena of a program: live ranges of buffers, the order in which they are placed, and the arena's size in bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i64
from xdsl.ir import Operation

from mlc.dialects import rt
from mlc.dialects.semantics.dims import DimLike, ceildiv, evaluate, parse_dim, symbols_of
from mlc.passes.assumed_extents import PLANNED
from mlc.passes.plan.program.offsets import live_bytes

ALIGN = 64  # bytes: the alignment of buffers and of entries of the weights, in every artifact


@dataclass(frozen=True)
class Live:
    """A buffer, its size in bytes, and the steps of the program at which it is first written and last used."""

    op: rt.BufferOp
    size: DimLike
    first: int
    last: int

    def meets(self, other: Live) -> bool:
        return self.first <= other.last and other.first <= self.last


def aligned(size: DimLike) -> DimLike:
    return ceildiv(size, ALIGN) * ALIGN


def live_ranges(program: rt.ProgramOp) -> list[Live]:
    """Return the live range of each buffer. A buffer from outside a loop that uses it is alive in all iterations."""
    ops = list(rt.walk(program.body.block))
    begin = {op: step for step, op in enumerate(ops)}
    end = begin | {op: step + sum(1 for r in op.regions for _ in rt.walk(r.block)) for op, step in begin.items()}
    first: dict[Operation, int] = {}
    last: dict[Operation, int] = {}
    for op in (o for o in ops if isinstance(o, rt.STEPS | rt.LoopOp)):
        for buffer in {found.owner for value in op.operands for found, _ in rt.extents(value)}:
            if isinstance(buffer, rt.BufferOp):
                user = _ancestor(op, buffer)
                first[buffer] = min(begin[user], first.get(buffer, len(ops)))
                last[buffer] = max(end[user], last.get(buffer, 0))
    buffers = [o for o in ops if isinstance(o, rt.BufferOp)]
    return [Live(b, parse_dim(b.bytes.data), first[b], last[b]) for b in buffers if b in first]


def _ancestor(op: Operation, buffer: rt.BufferOp) -> Operation:
    """Return ``op``, or the loop or branch around it that is in the block of ``buffer``."""
    while op.parent is not buffer.parent:
        assert (outer := op.parent_op()) is not None
        op = outer
    return op


def buffers_of(program: rt.ProgramOp) -> list[rt.BufferOp]:
    return [o for o in rt.walk(program.body.block) if isinstance(o, rt.BufferOp)]


def placement_order(buffers: Sequence[rt.BufferOp]) -> list[int]:
    """Return the buffers in an order in which each comes after those in its ``after``."""
    after = {n: [b.value.data for b in op.after or ()] for n, op in enumerate(buffers)}
    order: list[int] = []
    placed: set[int] = set()
    pending = list(after)
    while pending:
        ready = [n for n in pending if all(b in placed for b in after[n])]
        order += ready
        placed |= set(ready)
        pending = [n for n in pending if n not in placed]
    return order


def arena_bytes(program: rt.ProgramOp, dims: Mapping[str, DimLike]) -> int:
    """Return the arena's size for given values of the symbolic dimensions, as the C function ``workspace`` does;
    buffers in the memory of a device's host are not counted."""
    ends: dict[int, int] = {}
    buffers = buffers_of(program)
    for n in placement_order(buffers):
        op = buffers[n]
        if rt.on_host(op.result):
            continue
        below = [ends[b.value.data] for b in op.after or ()]
        start = op.offset.value.data if op.offset is not None else max(below, default=0)
        size = evaluate(aligned(parse_dim(op.bytes.data)), dims)
        assert isinstance(size, int)
        ends[n] = start + max(size, 0)  # below 0 in a branch that does not run for these dimensions
    return max(ends.values(), default=0)


def arena_of(program: rt.ProgramOp) -> DictionaryAttr:
    """Return the attribute ``arena`` of a planned program: its ``bytes``, the most bytes ``live`` at one step (a lower
    bound of every plan), and the values ``at`` of the symbolic dimensions for which both are computed."""
    ranges = [r for r in live_ranges(program) if not rt.on_host(r.op.result)]
    at: dict[str, DimLike] = dict.fromkeys(sorted(symbols_of(r.size for r in ranges)), PLANNED)
    sizes = [evaluate(aligned(r.size), at) for r in ranges]
    live = live_bytes([(r.first, r.last) for r in ranges], [s for s in sizes if isinstance(s, int)])
    typical = DictionaryAttr({name: IntegerAttr(PLANNED, i64) for name in at})
    counts = {"bytes": arena_bytes(program, at), "live": live}
    return DictionaryAttr({**{name: IntegerAttr(n, i64) for name, n in counts.items()}, "at": typical})
