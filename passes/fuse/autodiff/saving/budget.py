"""Recomputation by a budget: which values to compute anew, and when, so that the bytes alive at each step fit in a
budget, or that this costs at most a share of the time.

The choice is greedy, as in XLA's rematerialization. At the step with the most bytes alive, it takes among the values
that are alive but not read there the one whose computation costs least for a byte. That value is computed anew, from
values alive at that time, just before its next reader, or before the last reader of one of its operands. A value that
is already computed anew for a later reader is computed earlier if another recomputation reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import ConcatOp, MapOp, StructuredOp
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.semantics.dims import evaluate, product, symbols_of
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import shape_of
from mlc.passes.assumed_extents import PLANNED
from mlc.passes.fuse.autodiff.saving.live_values import LiveValues, size
from mlc.passes.graph.fuse_maps import is_cheap

PRODUCTS = 4  # multiply-adds in the time in which a byte is moved
OPERATORS = 64  # that compute one value anew
KERNEL = 32_768  # bytes moved in the time that a kernel takes to begin
FUNCTION = 4  # bytes moved in the time of a function that is not cheap, such as erf
SMALL = 500  # values of less than this part of the bytes alive are not worth their kernels


@dataclass(frozen=True)
class Recomputation:
    """The computation of ``value`` anew before step ``at``, by copies of ``ops``, in order, for its readers from then
    on."""

    value: SSAValue
    at: int
    ops: tuple[Operation, ...]
    cost: int  # of its operators, in bytes moved
    more: int  # bytes of other values that it needs meanwhile
    moved: tuple[Recomputation, ...] = ()  # chosen for later steps; this one reads their values, so all are made here

    def outside(self) -> list[SSAValue]:
        """Return the operands of its operators that it does not compute itself."""
        inside = {op.results[0] for op in self.ops}
        return [x for op in self.ops for x in op.operands if x not in inside]


class Budget:
    """The live ranges of a block, updated while values are chosen to be computed anew."""

    def __init__(self, live: LiveValues) -> None:
        self.live = live
        self.rank = {op: n for n, op in enumerate(live.step)}
        self.ranges = {v: [(first, live.last[v])] for v, first in live.first.items()}
        self.anew: dict[tuple[SSAValue, int], Recomputation] = {}  # by the value and the step
        self.costs: dict[Operation, int] = {}
        self.alive = [0] * len(live.order)
        for value, first in live.first.items():
            self._add(first, live.last[value], size(value))

    def choose(self, goal: int) -> list[Recomputation]:
        """Return the recomputations after which no step has more than ``goal`` bytes alive, or no further one helps."""
        return self._choose(goal, None)

    def choose_cheap(self, share: float) -> list[Recomputation]:
        """Return recomputations that reduce the bytes alive, at a cost of at most the share ``share`` of the cost of
        all operators."""
        ops = [op for op in self.live.step if isinstance(op, StructuredOp) and op not in self.live.views]
        return self._choose(0, int(share * sum(map(self._cost, ops))))

    def _choose(self, goal: int, cost: int | None) -> list[Recomputation]:
        """Choose recomputations. ``cost``: the most that all of them may cost; None: no limit."""
        while (most := max(self.alive, default=0)) > goal:
            found = self._candidates(self.alive.index(most))
            if cost is not None:
                found = (each for each in found if each.cost <= cost and size(each.value) * SMALL >= most)
            best = min(found, key=lambda each: (each.cost / size(each.value), each.at), default=None)
            if best is None:
                break
            self._take(best)
            cost = None if cost is None else cost - best.cost
        return list(self.anew.values())

    def _add(self, first: int, last: int, more: int) -> None:
        for step in range(first, last + 1):
            self.alive[step] += more

    def _candidates(self, peak: int) -> Iterator[Recomputation]:
        for value, ranges in self.ranges.items():
            read = self.live.read_at[value]
            if any(first < peak < last for first, last in ranges) and peak not in read and size(value):
                at = min(step for step in read if step > peak)
                yield from (each for each in self._ways(value, peak, at) if self._is_less(each, self.alive[peak]))

    def _ways(self, value: SSAValue, peak: int, at: int) -> Iterator[Recomputation]:
        """Yield recomputations of ``value``: at step ``at``, or earlier, where one of the values from which it is
        computed is read last."""
        if (found := self._recomputed(value, at)) is not None:
            yield found
            others = [self.ranges.get(op.results[0], ()) for op in found.ops if op is not value.owner]
            ends = {last for ranges in others for _, last in ranges if peak < last < at}
            yield from filter(None, (self._recomputed(value, end) for end in sorted(ends)))

    def _is_less(self, found: Recomputation, most: int) -> bool:
        """Return whether fewer than ``most`` bytes are alive at each step at which the recomputation ``found`` adds
        bytes."""
        more = found.more + sum(each.more + size(each.value) for each in found.moved)
        end = max((each.at for each in found.moved), default=found.at + 1)
        return all(self.alive[step] + more < most for step in range(found.at, end))

    def _recomputed(self, value: SSAValue, at: int) -> Recomputation | None:
        """Return the recomputation of ``value`` before step ``at`` from values alive there; None if that is not
        possible."""
        ops: dict[Operation, None] = {}
        moved: dict[Recomputation, None] = {}
        work = [value]
        while work:
            result = work.pop()
            if result is not value and (later := self._moved(result, at)):
                moved.update(dict.fromkeys(later))
                continue
            op = result.owner
            if not isinstance(op, StructuredOp) or not self._may_repeat(op) or len(ops) == OPERATORS:
                return None
            ops[op] = None
            work += [x for x in op.operands if not self.is_there(x, at) and x.owner not in ops]
        order = tuple(sorted(ops, key=self.rank.__getitem__))
        made = [op.results[0] for op in order if op.results[0] in self.ranges and op is not value.owner]
        cost, more = KERNEL + sum(map(self._cost, order)), sum(map(size, made))
        return Recomputation(value, at, order, cost, more, tuple(moved))

    def _moved(self, value: SSAValue, at: int) -> list[Recomputation]:
        """Return the next recomputation of ``value`` after step ``at``, and those that it reads, if all of them can be
        moved to ``at``; [] otherwise."""
        buffer = self.live.buffer(value)
        later = [each for (other, step), each in self.anew.items() if other is buffer and step > at]
        found = [min(later, key=lambda each: each.at)] if later else []
        for x in found[0].outside() if found else ():
            if not self.is_there(x, at):
                if not (more := self._moved(x, at)):
                    return []
                found += more
        return found

    def _may_repeat(self, op: StructuredOp) -> bool:
        """Return whether ``op`` may be computed twice: its shape has no run-time dimensions, and it is no zero-copy
        concatenation, which has no kernel."""
        return not (isinstance(op, ConcatOp) and op in self.live.views) and not sizes_of(shape_of(op.results[0]))

    def _cost(self, op: Operation) -> int:
        if op not in self.costs:
            self.costs[op] = _cost(op)
        return self.costs[op]

    def is_there(self, value: SSAValue, at: int) -> bool:
        """Return whether a value is in memory before step ``at``."""
        buffer = self.live.buffer(value)
        if self.live.is_free(buffer):
            return not isinstance(buffer.owner, Operation) or self.live.step[buffer.owner] < at
        ranges = self.ranges.get(buffer, ())
        return any(first < at <= last or (first == at and (buffer, at) in self.anew) for first, last in ranges)

    def _take(self, found: Recomputation) -> None:
        value, at = found.value, found.at
        for each in found.moved:
            self._move(each, at)
        split = next((first, last) for first, last in self.ranges[value] if first < at <= last)
        end = max((step for step in self.live.read_at[value] if split[0] <= step < at), default=split[0])
        self.ranges[value].remove(split)
        self.ranges[value] += [(split[0], end), (at, split[1])]
        self._add(end + 1, at - 1, -size(value))
        self._note(found)

    def _move(self, each: Recomputation, at: int) -> None:
        """Move an existing recomputation to an earlier step ``at``."""
        del self.anew[each.value, each.at]
        ranges = self.ranges[each.value]
        ranges[:] = [(at if first == each.at else first, last) for first, last in ranges]
        self._add(at, each.at - 1, size(each.value))
        self.alive[each.at] -= each.more
        self._note(replace(each, at=at))

    def _note(self, each: Recomputation) -> None:
        self.anew[each.value, each.at] = replace(each, moved=())
        self.alive[each.at] += each.more
        for buffer in map(self.live.buffer, each.outside()):
            if buffer in self.ranges:
                self.live.read_at[buffer].add(each.at)


def _cost(op: Operation) -> int:
    """Return the cost of an operator: the bytes that it moves, and those that could be moved in the time of its
    products and functions."""
    assert isinstance(op, StructuredOp)
    statements = op.statements()
    products = sum(_points(each) for each in statements if each.monoid) // PRODUCTS
    functions = sum(map(_points, statements)) * FUNCTION if isinstance(op, MapOp) and not is_cheap(op.scalar) else 0
    return sum(map(size, (*op.operands, *op.results))) + products + functions


def _points(statement: Statement) -> int:
    points = product(statement.bounds)
    count = evaluate(points, dict.fromkeys(symbols_of([points]), PLANNED))
    return count if isinstance(count, int) else 0
