"""Batched loops and branches.

A branch whose condition is batched computes both sides and selects. A loop whose condition is batched iterates as long
as the condition holds for one element; the states of the other elements stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue

from mlc.dialects.batching.walk import REGIONS, Batch, Batching, NotBatched
from mlc.dialects.graph import IfOp, LoopOp, MapOp, ReduceOp, TransposeOp, YieldOp
from mlc.dialects.graph.custom import CustomOp
from mlc.dialects.types import element_of, shape_of, tensor

# -- branches


def of_branch(op: IfOp, xs: Sequence[Batch], b: Batching) -> list[Batch]:
    condition, *used = xs
    if condition.batched:
        sides = (b.block(block, used) for block in op.inner_blocks())
        return [Batch(_selected(condition, yes, no, b)) for yes, no in zip(*sides, strict=True)]
    blocks = [Block(arg_types=[x.value.type for x in used]) for _ in range(2)]
    inner = [b.into(block, op) for block in blocks]
    given = [[Batch(arg, x.batched) for arg, x in zip(block.args, used, strict=True)] for block in blocks]
    made = [each.block(block, args) for each, block, args in zip(inner, op.inner_blocks(), given, strict=True)]
    flags = [yes.batched or no.batched for yes, no in zip(*made, strict=True)]
    for each, block, results in zip(inner, blocks, made, strict=True):
        block.add_op(YieldOp(_fitted(results, flags, each)))
    branch = IfOp(condition.value, [x.value for x in used], *blocks)
    b.emit(branch)
    return [Batch(result, flag) for result, flag in zip(branch.res, flags, strict=True)]


def _fitted(xs: Sequence[Batch], flags: Sequence[bool], b: Batching) -> list[SSAValue]:
    return [b.whole(x) if flag else x.value for x, flag in zip(xs, flags, strict=True)]


def _selected(condition: Batch, yes: Batch, no: Batch, b: Batching) -> SSAValue:
    """Emit a selection between two values for each element of the batch."""
    rank = len(shape_of(yes.value)) - yes.batched
    return b.emit(MapOp("where(x0, x1, x2)", [b.of_rank(condition, rank), b.whole(yes), b.whole(no)]))


# -- loops


def of_loop(op: LoopOp, xs: Sequence[Batch], b: Batching) -> list[Batch]:
    head = len(op.operands) - len(op.states) - len(op.used)
    count = len(op.states)
    ends, states, used = xs[:head], list(xs[head : head + count]), xs[head + count :]
    if op.limit is not None and ends[0].batched:
        raise NotBatched("a loop whose number of iterations differs within a batch")
    goes_on = [ends[-1]] if op.active is not None else []
    while True:  # until no more states are batched
        body = _Body(op, goes_on, states, used, b)
        if body.flags == [x.batched for x in (*goes_on, *states)]:
            break
        grown = [Batch(b.whole(x)) if flag else x for x, flag in zip((*goes_on, *states), body.flags, strict=True)]
        goes_on, states = grown[: len(goes_on)], grown[len(goes_on) :]
    return body.loop(ends[0].value if op.limit is not None else None)


class _Body:
    """The body of a batched loop. A batched condition is its first state."""

    def __init__(
        self, op: LoopOp, goes_on: Sequence[Batch], states: Sequence[Batch], used: Sequence[Batch], b: Batching
    ) -> None:
        self.op, self.b, self.goes_on, self.used = op, b, goes_on, used
        self.masked = any(x.batched for x in goes_on)
        self.states = [*goes_on, *states] if self.masked else [*states]
        self.block = Block(arg_types=[x.value.type for x in (*self.states, *used)])
        inner = b.into(self.block, op)
        given = [Batch(a, x.batched) for a, x in zip(self.block.args, (*self.states, *used), strict=True)]
        results = inner.block(op.body.block, given[self.masked :])
        count = len(goes_on) + len(states)
        new, self.collected = results[:count], results[count:]
        if self.masked:
            new = self._kept(given[0], given[1 : count], new, inner)
        before = [x.batched for x in (*goes_on, *states)]
        self.flags = [was or x.batched for was, x in zip(before, new, strict=True)]
        if self.flags == before:
            self._end(_fitted(new, self.flags, inner), inner)

    def _kept(self, mask: Batch, old: Sequence[Batch], new: Sequence[Batch], b: Batching) -> list[Batch]:
        """Return the new states where the condition held before this iteration, and the old ones elsewhere."""
        if any(x.batched for x in self.collected):
            hint = "differentiate the batched function instead: grad of the sum of vmap(f)"
            raise NotBatched(f"a loop that collects values until a condition that differs within a batch ({hint})")
        more = b.emit(MapOp("x0 & x1", [mask.value, b.whole(new[0])]))
        return [Batch(more), *(Batch(_selected(mask, x, y, b)) for x, y in zip(new[1:], old, strict=True))]

    def _end(self, new: Sequence[SSAValue], b: Batching) -> None:
        any_ = [b.emit(ReduceOp("or_", new[0], [0]))] if self.masked else []
        self.block.add_op(YieldOp([*any_, *new, *(x.value for x in self.collected)]))

    def loop(self, limit: SSAValue | None) -> list[Batch]:
        op, b = self.op, self.b
        active = self.goes_on[0].value if self.goes_on else None
        active = b.emit(ReduceOp("or_", active, [0])) if self.masked and active is not None else active
        states, used = [x.value for x in self.states], [x.value for x in self.used]
        size, strict = (None if text is None else text.data for text in (op.size, op.strict))
        made = LoopOp(op.step.data, op.most, states, used, self.block, op.collect_at, limit, active, size, strict)
        b.emit(made)
        last = [Batch(r, x.batched) for r, x in zip(made.res, self.states, strict=False)][self.masked :]
        seen = zip(made.res[len(states) :], self.collected, strict=True)
        return [*last, *(Batch(_batch_first(r, b), True) if x.batched else Batch(r, False) for r, x in seen)]


def _batch_first(x: SSAValue, b: Batching) -> SSAValue:
    """Reorder [iterations, batch, …] to [batch, iterations, …]."""
    return b.emit(TransposeOp(x, [1, 0, *range(2, len(shape_of(x)))]))


# -- operators with a derivative of their own


def of_custom(op: CustomOp, xs: Sequence[Batch], b: Batching) -> list[Batch]:
    """Give all values the batch's dimension, as the rule gives an adjoint for each element of the batch."""
    used = [b.whole(x) for x in xs]

    def region(block: Block) -> Block:
        shapes = [(element_of(a), (b.size, *shape_of(a))) for a in block.args]
        made = Block(arg_types=[tensor(element, shape) for element, shape in shapes])
        inner = b.into(made, op)
        results = inner.block(block, [Batch(a) for a in made.args])
        made.add_op(YieldOp([inner.whole(y) for y in results]))
        return made

    made = CustomOp(op.rule.data, used, op.count.value.data, *(region(block) for block in op.inner_blocks()))
    b.emit(made)
    return [Batch(y) for y in made.res]


REGIONS.update({IfOp: of_branch, LoopOp: of_loop, CustomOp: of_custom})
