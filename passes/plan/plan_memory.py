"""``plan-memory``: one arena for all intermediate tensors, and places in the weights payload.

    %a = rt.buffer "4096"        →        %a = rt.buffer "4096" {offset = 0}
    %b = rt.buffer "512"                  %b = rt.buffer "512" {offset = 4096}

Greedy by size (Pisarchyk and Lee, arXiv 2001.03288): large buffers first, each at the lowest offset where it overlaps
no buffer alive at the same time. With symbolic sizes the same plan is made for typical sizes; the order it finds is
kept for all sizes, each buffer standing behind those below it (``after``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import rt
from mlc.dialects.dims import DimLike, ceildiv, evaluate, parse_dim, symbols_of
from mlc.dialects.types import bytes_of
from mlc.passes.plan.insert_barriers import STEPS
from mlc.passes.plan.offsets import live_bytes, place

ALIGN = 64
TYPICAL = 8  # the size of a symbolic dimension for which the plan is made


@dataclass(frozen=True)
class PlanMemory(ModulePass):
    """``apart``: each buffer has bytes of its own, and some behind it that no kernel may touch (for sanitizers)."""

    name = "plan-memory"
    apart: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in [o for o in op.ops if isinstance(o, rt.ProgramOp)]:
            drop_unused(program)
            plan_weights(program)
            if self.apart:
                widen(program)
            plan_arena(program, self.apart)


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
    first: dict[SSAValue, int] = {}
    last: dict[SSAValue, int] = {}
    for step, op in enumerate(program.body.block.ops):
        if isinstance(op, STEPS):
            for value in op.operands:
                first.setdefault(rt.root(value), step)
                last[rt.root(value)] = step
    buffers = [o for o in program.body.block.ops if isinstance(o, rt.BufferOp)]
    return [Live(b, parse_dim(b.bytes.data), first[b.result], last[b.result]) for b in buffers if b.result in first]


def drop_unused(program: rt.ProgramOp) -> None:
    """Buffers, and views of them, that no step touches need no place."""
    for op in reversed(list(program.body.block.ops)):
        if isinstance(op, rt.BufferOp | rt.ViewOp) and op.result.first_use is None:
            op.detach()
            op.erase()


def widen(program: rt.ProgramOp) -> None:
    """Room behind each buffer."""
    for op in program.body.block.ops:
        if isinstance(op, rt.BufferOp):
            op.bytes = StringAttr(str(parse_dim(op.bytes.data) + ALIGN))
    program.attributes["apart"] = UnitAttr()


def plan_arena(program: rt.ProgramOp, apart: bool = False) -> None:
    ranges = [replace(r, first=0, last=0) if apart else r for r in live_ranges(program)]
    typical = dict.fromkeys(symbols_of(r.size for r in ranges), TYPICAL)
    offsets = place([(r.first, r.last) for r in ranges], [_typical(r.size, typical) for r in ranges])
    if not typical:
        for r, offset in zip(ranges, offsets, strict=True):
            r.op.offset = IntegerAttr(offset, i64)
        return
    numbers = {id(b): n for n, b in enumerate(o for o in program.body.block.ops if isinstance(o, rt.BufferOp))}
    for r, offset in zip(ranges, offsets, strict=True):
        below = [numbers[id(o.op)] for o, at in zip(ranges, offsets, strict=True) if at < offset and o.meets(r)]
        r.op.after = ArrayAttr(IntegerAttr(n, i64) for n in below)


def _typical(size: DimLike, values: dict[str, int]) -> int:
    size = evaluate(aligned(size), dict(values))
    assert isinstance(size, int)
    return max(size, ALIGN)


def plan_weights(program: rt.ProgramOp) -> None:
    """Offsets in the payload, in order of appearance; an entry used twice is stored once."""
    places: dict[str, int] = {}
    end = 0
    for op in program.body.block.ops:
        if isinstance(op, rt.WeightOp):
            size = bytes_of(op.result)
            assert isinstance(size, int)
            if op.entry.data not in places:
                places[op.entry.data] = end
                end += -(-size // ALIGN) * ALIGN
            op.offset = IntegerAttr(places[op.entry.data], i64)


def live_bytes_bound(ranges: Sequence[Live], sizes: Sequence[int]) -> int:
    """The largest number of bytes alive at one step: no plan can need less."""
    return live_bytes([(r.first, r.last) for r in ranges], sizes)
