"""Lowering of loops and branches to the host program, for ``build-program``.

A loop-carried value has two buffers, which iterations read and write alternately (double buffering), so it is never
copied; one buffer where the kernel that computes the next value works in place (``prove-in-place``) and nothing reads
the old one after it. The kernel that computes a collected value, or a result of a branch, writes it to its destination.

Every thread executes the program, and all must take the same iterations and branches. If these are data-dependent, one
thread evaluates the condition in a step ``rt.loop_condition`` and publishes it. A loop that contains such a loop or
branch publishes each iteration as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xdsl.ir import Block, SSAValue

from mlc.dialects import rt
from mlc.dialects.graph import IfOp, LoopOp, RegionOp, source_nodes, with_nodes
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.types import bytes_of, memref
from mlc.passes.fuse.grouping.aliases import updates_of

if TYPE_CHECKING:
    from mlc.passes.plan.build_program import Builder, Destination


def build_loop(builder: Builder, op: LoopOp) -> None:
    """Add the steps of a loop, and record the memory of its results."""
    count, kept = len(op.states), _updated(builder, op)
    others = [n for n in range(count) if n not in kept]
    first = [builder.memory[op.states[n]] for n in others]
    ping, pong = ([builder.scratch(op.states[n]) for n in others] for _ in range(2))
    collected = [builder.allocate(v) for v in op.res[count:]]
    loop = rt.LoopOp(op.step.data, None if decided(op) else op.most, first, ping, pong)
    decision = _Decision(builder, op) if decided(op) else None
    if decision:
        decision.add(0)
    builder.block.add_op(with_nodes(loop, source_nodes(op)))
    continues, new, rest = op.yielded
    targets: list[tuple[SSAValue, Destination]] = []
    olds = kept | dict(zip(others, loop.body.block.args, strict=False))
    news = kept | dict(zip(others, loop.body.block.args[len(others) :], strict=True))
    targets += [(v, (news[n], 0)) for n, v in enumerate(new)]
    targets += [(v, (buffer, at * bytes_of(v))) for v, buffer, at in zip(rest, collected, op.collect_at, strict=True)]
    targets += [(continues, (decision.active, 0))] if continues is not None and decision and decision.active else []
    with _insertion_point(builder, loop.body.block):
        _bind(builder, op, op.body.block, [olds[n] for n in range(count)])
        builder.steps(op.body.block, targets)
        if decision:
            decision.add(Dim.symbol(op.step.data) + 1)
    last = kept | dict(zip(others, loop.res, strict=True))
    builder.memory.update(zip(op.res, (*(last[n] for n in range(count)), *collected), strict=True))


def _updated(builder: Builder, op: LoopOp) -> dict[int, SSAValue]:
    """Return the buffers of the loop-carried values that a kernel updates in place, by number, with their first values
    in them."""
    found: dict[int, SSAValue] = {}
    for n, (call, pair) in updates_of(op).items():
        if pair in builder.functions[call.callee.root_reference.data].in_place:
            found[n] = builder.scratch(op.states[n])
            builder.block.add_op(rt.CopyOp(builder.memory[op.states[n]], found[n]))
    return found


def build_if(builder: Builder, op: IfOp) -> None:
    """Add both branches of a condition; each of them writes the results."""
    results = [builder.allocate(v) for v in op.res]
    builder.branches += 1
    choice = rt.IfOp(f"branch{builder.branches - 1}")
    builder.block.add_op(rt.LoopConditionOp(choice.symbol.data, 0, active=builder.memory[op.condition]))
    builder.block.add_op(with_nodes(choice, source_nodes(op)))
    for block, into in zip(op.inner_blocks(), (choice.then.block, choice.otherwise.block), strict=True):
        values = block.last_op.operands if block.last_op else ()
        with _insertion_point(builder, into):
            _bind(builder, op, block, ())
            builder.steps(block, [(v, (buffer, 0)) for v, buffer in zip(values, results, strict=True)])
    builder.memory.update(zip(op.res, results, strict=True))


def decided(op: LoopOp) -> bool:
    """Return whether ``rt.loop_condition`` publishes the iterations of a loop."""
    return op.counted or bool(sizes_of([op.most])) or any(_decides(inner) for inner in op.body.block.ops)


def _decides(op: object) -> bool:
    return isinstance(op, IfOp) or (isinstance(op, LoopOp) and decided(op))


@contextmanager
def _insertion_point(builder: Builder, block: Block) -> Iterator[None]:
    outer, builder.block = builder.block, block
    try:
        yield
    finally:
        builder.block = outer


def _bind(builder: Builder, op: RegionOp, block: Block, states: Sequence[SSAValue]) -> None:
    """Map the arguments of a region to the memory of its operands."""
    builder.memory.update(zip(block.args, (*states, *(builder.memory[v] for v in op.seen)), strict=True))


class _Decision:
    """The steps of a loop that publish, before the loop and at the end of each iteration, whether there is another
    iteration."""

    def __init__(self, builder: Builder, op: LoopOp):
        self.builder, self.op = builder, op
        self.size = None if op.size is None else op.size.data
        self.count = None if self.size is None else builder.size_buffer(self.size)
        self.limit = None if op.limit is None else builder.memory[op.limit]
        self.active = None if op.active is None else builder.add(rt.BufferOp("1", memref("i1", ())))
        if op.active is not None:
            builder.block.add_op(rt.CopyOp(builder.memory[op.active], self.active))  # type: ignore[arg-type]

    def add(self, iteration: DimLike) -> None:
        """Add the step that evaluates the condition of iteration number ``iteration``."""
        strict = None if self.op.strict is None else self.op.strict.data
        args = self.limit, self.active, self.size, self.count, strict
        self.builder.block.add_op(rt.LoopConditionOp(self.op.step.data, iteration, self.op.most, *args))
