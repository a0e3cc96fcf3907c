"""Memory planning (``plan-memory``): intermediate tensors get offsets in one arena, and weights get offsets in the
payload.

    %a = rt.buffer "4096"        →        %a = rt.buffer "4096" {offset = 0}
    %b = rt.buffer "512"                  %b = rt.buffer "512" {offset = 4096}

The plan is greedy by size (Pisarchyk and Lee, arXiv 2001.03288): large buffers are placed first, each where it overlaps
no buffer alive at the same time. With symbolic dimensions the plan is made for assumed values, and its order is kept
for all values: each buffer follows those below it (``after``). The program gets the attribute ``arena``: its bytes, and
the most bytes alive at one step, for the assumed values. Buffers in the memory of a device's host have a separate
arena.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import rt
from mlc.dialects.semantics.dims import DimLike, evaluate, parse_dim, symbols_of
from mlc.dialects.types import bytes_of
from mlc.passes.assumed_extents import PLANNED
from mlc.passes.plan.program.arena import ALIGN, Live, aligned, arena_of, live_ranges
from mlc.passes.plan.program.offsets import place


@dataclass(frozen=True)
class PlanMemory(ModulePass):
    """Plan the memory of programs. ``redzones``: no two buffers share bytes, and each is followed by bytes that no
    kernel may access (for sanitizers)."""

    name = "plan-memory"
    redzones: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in [o for o in op.ops if isinstance(o, rt.ProgramOp)]:
            drop_unused(program)
            plan_weights(program)
            plan_state(program)
            if self.redzones:
                add_redzones(program)
            for host in (False, True):
                plan_arena(program, [r for r in live_ranges(program) if rt.on_host(r.op.result) == host], self.redzones)
            program.arena = arena_of(program)


def drop_unused(program: rt.ProgramOp) -> None:
    """Erase buffers, and views of buffers, that no step uses."""
    for op in reversed(list(rt.walk(program.body.block))):
        if isinstance(op, rt.BufferOp | rt.ViewOp) and op.result.first_use is None:
            Rewriter.erase_op(op)


def add_redzones(program: rt.ProgramOp) -> None:
    """Enlarge each buffer by a redzone."""
    for op in rt.walk(program.body.block):
        if isinstance(op, rt.BufferOp):
            op.bytes = StringAttr(str(parse_dim(op.bytes.data) + ALIGN))
    program.attributes["redzones"] = UnitAttr()


def plan_arena(program: rt.ProgramOp, live: Sequence[Live], disjoint: bool = False) -> None:
    """Set the offsets of buffers in their arena, or for symbolic sizes the buffers after which each one follows."""
    ranges = [replace(r, first=0, last=0) for r in live] if disjoint else live
    typical = dict.fromkeys(symbols_of(r.size for r in ranges), PLANNED)
    offsets = place([(r.first, r.last) for r in ranges], [_typical(r.size, typical) for r in ranges])
    if not typical:
        for r, offset in zip(ranges, offsets, strict=True):
            r.op.offset = IntegerAttr(offset, i64)
        return
    numbers = {id(b): n for n, b in enumerate(o for o in rt.walk(program.body.block) if isinstance(o, rt.BufferOp))}
    for r, offset in zip(ranges, offsets, strict=True):
        below = [numbers[id(o.op)] for o, at in zip(ranges, offsets, strict=True) if at < offset and o.meets(r)]
        r.op.after = ArrayAttr(IntegerAttr(n, i64) for n in below)


def _typical(size: DimLike, values: dict[str, int]) -> int:
    size = evaluate(aligned(size), dict(values))
    assert isinstance(size, int)
    return max(size, ALIGN)


def plan_state(program: rt.ProgramOp) -> None:
    """Set offsets in the memory of the state. State whose first value is not zeros comes first, so that one copy
    initializes it."""
    states = [o for o in program.body.block.ops if isinstance(o, rt.StateOp)]
    end = 0
    for op in sorted(states, key=lambda o: o.entry is None):
        size = bytes_of(op.result)
        assert isinstance(size, int)
        op.offset = IntegerAttr(end, i64)
        end += -(-size // ALIGN) * ALIGN


def plan_weights(program: rt.ProgramOp) -> None:
    """Set offsets in the payload, in order of appearance; an entry that is used twice is stored once."""
    offsets: dict[str, int] = {}
    end = 0
    for op in rt.walk(program.body.block):
        if isinstance(op, rt.WeightOp):
            size = bytes_of(op.result)
            assert isinstance(size, int)
            if op.entry.data not in offsets:
                offsets[op.entry.data] = end
                end += -(-size // ALIGN) * ALIGN
            op.offset = IntegerAttr(offsets[op.entry.data], i64)
