"""Loops and branches of the main function as those of the host program; a part of ``build-program``.

A state has two buffers, which turns read and write alternately: none is copied. What is collected, or comes out of a
branch, is written to its place by the kernel that computes it.

Every thread walks the program by itself, so all have to take the same turns and branches. Where data says which,
``rt.decide`` writes it down in a step of its own; so it does for each turn of a loop with such a loop or branch inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xdsl.ir import Block, SSAValue

from mlc.dialects import rt
from mlc.dialects.dims import Dim, DimLike
from mlc.dialects.graph import IfOp, LoopOp, RegionOp, source_nodes, with_nodes
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.types import bytes_of, memref

if TYPE_CHECKING:
    from mlc.passes.plan.build_program import Builder, Home


def build_loop(builder: Builder, op: LoopOp) -> None:
    """The steps of a loop, and where its results are."""
    count = len(op.states)
    first = [builder.places[v] for v in op.states]
    even, odd = ([builder.scratch(v) for v in op.states] for _ in range(2))
    collected = [builder.place(v) for v in op.res[count:]]
    loop = rt.LoopOp(op.step.data, None if decided(op) else op.most, first, even, odd)
    decision = _Decision(builder, op) if decided(op) else None
    if decision:
        decision.add(0)
    builder.block.add_op(with_nodes(loop, source_nodes(op)))
    goes_on, new, rest = op.yielded
    homes: list[tuple[SSAValue, Home]] = []
    homes += [(v, (place, 0)) for v, place in zip(new, loop.body.block.args[count:], strict=True)]
    homes += [(v, (p, at * bytes_of(v))) for v, p, at in zip(rest, collected, op.places, strict=True)]
    homes += [(goes_on, (decision.active, 0))] if goes_on is not None and decision and decision.active else []
    with _inside(builder, loop.body.block):
        _see(builder, op, op.body.block, loop.body.block.args[:count])
        builder.steps(op.body.block, homes)
        if decision:
            decision.add(Dim.symbol(op.step.data) + 1)
    builder.places.update(zip(op.res, (*loop.res, *collected), strict=True))


def build_if(builder: Builder, op: IfOp) -> None:
    """Both branches of a condition, each of which writes the results."""
    places = [builder.place(v) for v in op.res]
    builder.branches += 1
    choice = rt.IfOp(f"branch{builder.branches - 1}")
    builder.block.add_op(rt.DecideOp(choice.symbol.data, 0, active=builder.places[op.condition]))
    builder.block.add_op(with_nodes(choice, source_nodes(op)))
    for block, into in zip(op.inner_blocks(), (choice.then.block, choice.otherwise.block), strict=True):
        values = block.last_op.operands if block.last_op else ()
        with _inside(builder, into):
            _see(builder, op, block, ())
            builder.steps(block, [(v, (place, 0)) for v, place in zip(values, places, strict=True)])
    builder.places.update(zip(op.res, places, strict=True))


def decided(op: LoopOp) -> bool:
    """Whether the turns of a loop are decided on when the model runs."""
    return op.counted or bool(sizes_of([op.most])) or any(_decides(inner) for inner in op.body.block.ops)


def _decides(op: object) -> bool:
    return isinstance(op, IfOp) or (isinstance(op, LoopOp) and decided(op))


@contextmanager
def _inside(builder: Builder, block: Block) -> Iterator[None]:
    outer, builder.block = builder.block, block
    try:
        yield
    finally:
        builder.block = outer


def _see(builder: Builder, op: RegionOp, block: Block, states: Sequence[SSAValue]) -> None:
    """What a region is given is where it was."""
    builder.places.update(zip(block.args, (*states, *(builder.places[v] for v in op.seen)), strict=True))


class _Decision:
    """Says in front of a loop, and at the end of each turn, whether there is another."""

    def __init__(self, builder: Builder, op: LoopOp):
        self.builder, self.op = builder, op
        self.size = None if op.size is None else op.size.data
        self.told = None if self.size is None else builder.told(self.size)
        self.limit = None if op.limit is None else builder.places[op.limit]
        self.active = None if op.active is None else builder.add(rt.BufferOp("1", memref("i1", ())))
        if op.active is not None:
            builder.block.add_op(rt.CopyOp(builder.places[op.active], self.active))  # type: ignore[arg-type]

    def add(self, turn: DimLike) -> None:
        """Decide on the turn of that number."""
        strict = None if self.op.strict is None else self.op.strict.data
        args = self.limit, self.active, self.size, self.told, strict
        self.builder.block.add_op(rt.DecideOp(self.op.step.data, turn, self.op.most, *args))
