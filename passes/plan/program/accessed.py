"""Accessed memory: the bytes that the steps of a phase access. A binary search finds whether another access overlaps
them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.ir import BlockArgument, Operation, SSAValue

from mlc.dialects import rt
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import bytes_of

Bytes = tuple[int, int] | None
"""The first byte and the byte after the last; None if they depend on symbolic dimensions."""
ARENAS = ("arena", "arena of the host")


@dataclass
class Spans:
    """A set of bytes, as disjoint intervals in order."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, first: int, end: int) -> None:
        n, after = bisect_left(self.ends, first), bisect_right(self.starts, end)
        if n < after:
            first, end = min(first, self.starts[n]), max(end, self.ends[after - 1])
        self.starts[n:after], self.ends[n:after] = [first], [end]

    def meets(self, first: int, end: int) -> bool:
        n = bisect_left(self.starts, end)
        return n > 0 and self.ends[n - 1] > first


@dataclass
class Accessed:
    """The accessed buffers and views, and the bytes that they cover in each buffer. All buffers in one arena count as
    one."""

    values: list[SSAValue] = field(default_factory=list)
    spans: dict[SSAValue | str, Spans] = field(default_factory=dict)
    unknown: set[SSAValue | str] = field(default_factory=set)  # of which some bytes are at symbolic offsets

    def add(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            self.values.append(value)
            for memory, span in _spans(value):
                known = self.spans.setdefault(memory, Spans())
                if span is None:
                    self.unknown.add(memory)
                else:
                    known.add(*span)

    def meets(self, values: Iterable[SSAValue]) -> bool:
        """Return whether one of ``values`` shares bytes with the accessed ones."""
        return any(self._may_meet(value) and any(_overlap(value, other) for other in self.values) for value in values)

    def _may_meet(self, value: SSAValue) -> bool:
        for memory, span in _spans(value):
            if memory in self.spans and (span is None or memory in self.unknown or self.spans[memory].meets(*span)):
                return True
        return False


def _spans(value: SSAValue) -> Iterator[tuple[SSAValue | str, Bytes]]:
    for base, start in rt.extents(value):
        yield ARENAS[rt.on_host(base)] if isinstance(base.owner, rt.BufferOp) else base, _interval(base, start, value)


def _overlap(a: SSAValue, b: SSAValue) -> bool:
    x, y = rt.root(a), rt.root(b)
    if isinstance(x, BlockArgument) and isinstance(y, BlockArgument) and x.owner is y.owner:
        # loop-carried values of one loop: old and new buffers are distinct, and each value has its own
        return x is y and _meet(_bytes(rt.start(a), a), _bytes(rt.start(b), b))
    return any(_in_one_buffer(p, q, a, b) for p in rt.extents(a) for q in rt.extents(b))


def _in_one_buffer(p: tuple[SSAValue, DimLike], q: tuple[SSAValue, DimLike], a: SSAValue, b: SSAValue) -> bool:
    """Return whether ``a``, which begins at ``p``, and ``b``, which begins at ``q``, share bytes of one buffer."""
    x, y = p[0], q[0]
    scratch = isinstance(x.owner, rt.BufferOp) and isinstance(y.owner, rt.BufferOp)
    if x is not y and not (scratch and rt.on_host(x) == rt.on_host(y)):
        return False  # inputs, outputs and weights are disjoint from each other and from the arenas
    return _meet(_interval(*p, a), _interval(*q, b))


def _meet(first: Bytes, second: Bytes) -> bool:
    if first is None or second is None:
        return True
    return first[0] < second[1] and second[0] < first[1]


def _interval(root: SSAValue, start: DimLike, value: SSAValue) -> Bytes:
    """Return the bytes of a value, in the arena or in a buffer of the caller."""
    owner = root.owner
    if isinstance(owner, rt.BufferOp):
        if owner.offset is None:
            return None
        start = start + owner.offset.value.data
    return _bytes(start, value)


def _bytes(start: DimLike, value: SSAValue) -> Bytes:
    size = bytes_of(value)
    return (start, start + size) if isinstance(start, int) and isinstance(size, int) else None


def accesses(op: Operation) -> tuple[list[SSAValue], list[SSAValue]]:
    """Return the buffers, or views of buffers, that a step reads, and those that it writes."""
    if isinstance(op, rt.CopyOp):
        return [op.source], [op.target]
    if isinstance(op, rt.NonzeroOp):
        return [op.mask], [op.where, op.size]
    if isinstance(op, rt.SizeOp):
        return [op.value], [op.size]
    if isinstance(op, rt.LoopConditionOp):
        return [v for v in (op.limit, op.active) if v is not None], [op.count] if op.count is not None else []
    if isinstance(op, rt.RoutineOp):
        return list(op.args[:-1]), [op.args[-1]]
    if isinstance(op, rt.StartOp | rt.WaitOp):
        return [op.source] if op.source is not None else [], [op.target]
    assert isinstance(op, rt.LaunchOp)
    split = len(op.args) - op.writes.value.data
    return list(op.args[:split]), list(op.args[split:])
