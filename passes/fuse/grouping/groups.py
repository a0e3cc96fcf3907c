"""Producer-consumer fusion: which graph operators become one kernel, by greedy growth of convex groups round anchors.

An anchor (a contraction or window) fuses with the elementwise operators after it (epilogue fusion). Elementwise
operators of one shape fuse with each other, and with the gathers whose indices they compute. Reductions over the
trailing axes fuse with the elementwise operators on the same rows (softmax, layer norm). An attention or a chain of
products that is streamed, or whose scores fit in L2, is one group. ``paddings`` fuses paddings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from xdsl.ir import Operation

from mlc.dialects.graph import LibraryOp, MapOp, StructuredOp, ints_of
from mlc.dialects.graph.loop import size_made
from mlc.dialects.graph.traits import (
    Elementwise,
    FusesWithConsumer,
    FusesWithProducer,
    PointwiseIndices,
    RowReduction,
    has,
)
from mlc.dialects.kernel import Fusion
from mlc.dialects.semantics.dims import evaluate, product, symbols_of
from mlc.dialects.semantics.expr import Call, loads, parse, walk
from mlc.dialects.types import Shape, shape_of
from mlc.passes.assumed_extents import SCHEDULED
from mlc.passes.fuse.grouping import attention, product_chains
from mlc.passes.fuse.grouping.convexity import Convexity
from mlc.passes.fuse.grouping.paddings import single_writer, with_paddings
from mlc.passes.fuse.grouping.views import views
from mlc.target import Target

OPERATORS = 32  # in one kernel: isl compares all pairs of their statements, and one more saves a read and a write
SCALARS = 128  # functions an element in one kernel of pointwise operators, which arithmetic then bounds


@dataclass(eq=False)
class Group:
    """The operators of one kernel. ``shape`` is their common iteration space, without the reduced axes of a
    contraction."""

    kind: str  # "map", "row", "anchor", or "chain" or "library", with which no other fuses
    shape: Shape
    axes: tuple[int, ...] = ()  # of a "row": the trailing, reduced axes
    ops: list[Operation] = field(default_factory=list)
    fusion: Fusion = Fusion()
    scalars: int = 0  # functions that its pointwise operators compute for an element

    def accepts(self, op: Operation, target: Target) -> bool:
        """Return whether ``op`` has the group's iteration space, and each of its points reads only the same point, or
        for rows the same row, of values that the group computes."""
        if self.kind in ("chain", "library") or not self._has_room(op):
            return False
        if has(op, Elementwise) or (self.kind == "map" and has(op, PointwiseIndices)):
            return shape_of(op.results[0]) in self._shapes() and self._reads_own_points(op)
        return self.kind != "anchor" and self._accepts_reduction(op, target)

    def _has_room(self, op: Operation) -> bool:
        if len(self.ops) >= OPERATORS:
            return False
        return not self.scalars or self.scalars + scalar_functions(op) <= SCALARS

    def _shapes(self) -> set[Shape]:
        if self.kind != "row":
            return {self.shape}
        kept = tuple(1 if n in self.axes else d for n, d in enumerate(self.shape))
        return {self.shape, kept, kept[: len(kept) - len(self.axes)]}

    def _reads_own_points(self, op: Operation) -> bool:
        """Return whether ``op`` reads, at each point, the same point of what the group computes. Equal shapes do not
        imply it: for a square ``x``, ``x / sum(x, 1)`` without kept dimensions reads the sum of row j in row i."""
        assert isinstance(op, StructuredOp)
        inside = {n for n, v in enumerate(op.operands) if isinstance(v.owner, Operation) and v.owner in self.ops}
        own = len(self.shape) - len(self.axes)
        s = op.statements()[0]
        read = [load.index or () for load in loads(s.value) if load.operand in inside]
        points = list(zip(self.shape[:own], s.out[:own], strict=False))
        return all(d == 1 or at[n : n + 1] == (out,) for at in read for n, (d, out) in enumerate(points))

    def _accepts_reduction(self, op: Operation, target: Target) -> bool:
        axes = row_axes(op, target)
        if axes is None or shape_of(op.operands[0]) != self.shape:
            return False
        return self.kind == "map" or axes == self.axes

    def add(self, op: Operation) -> None:
        if self.kind == "map" and has(op, RowReduction):
            self.kind, self.axes = "row", reduced_axes(op)
        self.ops.append(op)
        self.scalars += scalar_functions(op)


def scalar_functions(op: Operation) -> int:
    """Return how many scalar functions an elementwise operator computes for each element."""
    return _calls(op.expr.data) if isinstance(op, MapOp) else 0


@lru_cache(maxsize=4096)
def _calls(expr: str) -> int:
    return sum(isinstance(e, Call) for e in walk(parse(expr)))


def row_axes(op: Operation, target: Target) -> tuple[int, ...] | None:
    """Return the axes of a reduction over trailing axes whose rows fit in L2; None for all other reductions.

    One thread, or one thread block, reads a row several times. If the target allows rows of symbolic extents, these are
    assumed. A whole array does not count as a row, because one thread block would then compute all of it.
    """
    if not has(op, RowReduction):
        return None
    shape, axes = shape_of(op.operands[0]), reduced_axes(op)
    extent = product(shape[a] for a in axes)
    trailing = axes == tuple(range(len(shape) - len(axes), len(shape)))
    if target.open_rows and any(d != 1 for d in shape[: len(shape) - len(axes)]):
        extent = evaluate(extent, dict.fromkeys(symbols_of([extent]), SCHEDULED))
    return axes if trailing and isinstance(extent, int) and 4 * extent <= target.block_bytes else None


def reduced_axes(op: Operation) -> tuple[int, ...]:
    return ints_of(op.properties["axes"])  # type: ignore[arg-type]


def start(op: StructuredOp, target: Target) -> Group:
    """Return a new group for ``op``, which the caller adds to it."""
    if (axes := row_axes(op, target)) is not None:
        return Group("row", shape_of(op.operands[0]), axes)
    statements = op.statements()
    pointwise = len(statements) == 1 and statements[0].monoid is None
    return Group("map" if pointwise else "anchor", shape_of(op.results[0]))


def form_groups(ops: list[Operation], target: Target) -> list[Group]:
    """Partition the structured operators of ``ops`` (in topological order) into groups, except views and constants."""
    return with_paddings(*_Growth(ops, target).run(), target)


class _Growth:
    """Greedy growth: each operator joins the nearest group that accepts it and stays convex; otherwise it starts a
    group."""

    def __init__(self, ops: list[Operation], target: Target):
        self.ops, self.target = ops, target
        self.member: dict[Operation, Group] = {}
        self.order, self.epoch = Convexity(ops, self.member), shape_epochs(ops)
        self.decided = _decided(ops, target)

    def run(self) -> tuple[list[Group], dict[Operation, Group]]:
        outside, groups = views(self.ops), list[Group]()
        for op in self.ops:
            if isinstance(op, LibraryOp) or (isinstance(op, StructuredOp) and op not in outside):
                group = self.member[op] = self._group_for(op)
                groups += [] if group.ops else [group]
                group.add(op)
            self.order.note(op)
        return groups, self.member

    def _group_for(self, op: LibraryOp | StructuredOp) -> Group:
        """Return the group that ``op`` joins: an existing one, or a new one if none accepts it."""
        if isinstance(op, LibraryOp):
            return Group("library", (), ())
        if op in self.decided:
            return self._chain(op, *self.decided[op])
        if _fuses_with_producer(op):
            return self.member[op.operands[0].owner]  # type: ignore[index]
        return next((g for g in self.order.nearest(op) if self._takes(g, op)), None) or start(op, self.target)

    def _chain(self, op: StructuredOp, first: Operation, fusion: Fusion) -> Group:
        """Return the group of an attention or chain, whose shape is set to that of its latest operator."""
        group = Group("chain", ()) if first is op else self.member[first]
        group.shape, group.fusion = shape_of(op.results[0]), fusion
        return group

    def _takes(self, group: Group, op: StructuredOp) -> bool:
        fits = self.epoch[group.ops[0]] == self.epoch[op] and group.accepts(op, self.target) and single_writer(group)
        return fits and self.order.stays_convex(group, op)


def _decided(ops: list[Operation], target: Target) -> dict[Operation, tuple[Operation, Fusion]]:
    """Return, for each operator of an attention or chain of products that becomes one kernel, the first operator of
    that kernel, and what is decided of it.

    An attention's own first operator is not a key: it starts or joins a group as any other.
    """
    fused = [(a.ops[1:], a.ops[0], attention.fusion_of(a, target)) for a in attention.attentions(ops)]
    fused += [(c.ops, c.ops[0], product_chains.fusion_of(c, target)) for c in product_chains.chains(ops)]
    return {op: (first, fusion) for members, first, fusion in fused if fusion for op in members}


def shape_epochs(ops: Sequence[Operation]) -> dict[Operation, int]:
    """Return the shape epoch of each operator: how many run-time dimensions are known before it.

    Operators of different epochs do not share a kernel: one may determine a dimension that the other needs, although
    there is no path of values between them.
    """
    known, found = 0, dict[Operation, int]()
    for op in ops:
        known += size_made(op) is not None
        found[op] = known
    return found


def _fuses_with_producer(op: StructuredOp) -> bool:
    producer = op.operands[0].owner if op.operands else None
    if not isinstance(producer, StructuredOp):
        return False
    return has(op, FusesWithProducer) or has(producer, FusesWithConsumer)
