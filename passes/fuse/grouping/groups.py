"""Producer-consumer fusion: which graph operators become one kernel, by greedy growth of convex groups round anchors.

An anchor (a contraction or window) fuses with the elementwise operators after it (epilogue fusion). Elementwise
operators of one shape fuse, with the gathers whose indices they compute. Reductions over the trailing axes fuse with
the elementwise operators on the same rows (softmax, layer norm). An attention whose scores fit in the L2 cache of a CPU
is one group. ``paddings`` fuses paddings.
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
from mlc.dialects.semantics.dims import evaluate, product, symbols_of
from mlc.dialects.semantics.expr import Call, loads, parse, walk
from mlc.dialects.types import Shape, shape_of
from mlc.passes.assumed_extents import SCHEDULED
from mlc.passes.fuse.grouping import product_chains
from mlc.passes.fuse.grouping.attention import attentions, is_one_kernel
from mlc.passes.fuse.grouping.convexity import Convexity
from mlc.passes.fuse.grouping.paddings import single_writer, with_paddings
from mlc.passes.fuse.grouping.views import views
from mlc.target import Target

OPERATORS = 32  # in one kernel: isl compares all pairs of their statements, and one more saves a read and a write
SCALARS = 128  # functions an element in one kernel of pointwise operators, which arithmetic then bounds


@dataclass(eq=False)
class Group:
    """Operators of one kernel; ``shape`` is their common iteration space, without the reduced axes of a contraction."""

    kind: str  # "map", "row", "anchor", or "chain" or "library", with which no other fuses
    shape: Shape
    axes: tuple[int, ...] = ()  # of a "row": the trailing, reduced axes
    ops: list[Operation] = field(default_factory=list)
    scalars: int = 0  # functions that its pointwise operators compute for an element

    def accepts(self, op: Operation, target: Target) -> bool:
        """Whether an operator's iteration space is the group's, and each point of it reads only that point of what the
        group computes: of a row, elements of that row."""
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
        """Whether the maps agree by which an operator reads what the group computes and writes its result. Where
        extents coincide equal shapes do not say so: ``x / sum(x, 1)`` of a square reads the sum of row j in row i."""
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
    """How many functions of scalars an elementwise operator computes for an element."""
    return _calls(op.expr.data) if isinstance(op, MapOp) else 0


@lru_cache(maxsize=4096)
def _calls(expr: str) -> int:
    return sum(isinstance(e, Call) for e in walk(parse(expr)))


def row_axes(op: Operation, target: Target) -> tuple[int, ...] | None:
    """The axes of a reduction over trailing axes whose rows fit in L2; None for all other reductions.

    One thread, or one block, reads a row several times. Where the target takes them, open rows have assumed extents; a
    whole array is no row, of which one block would compute all.
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
    """A group of one operator."""
    if (axes := row_axes(op, target)) is not None:
        return Group("row", shape_of(op.operands[0]), axes)
    statements = op.statements()
    pointwise = len(statements) == 1 and statements[0].monoid is None
    return Group("map" if pointwise else "anchor", shape_of(op.results[0]))


def form_groups(ops: list[Operation], target: Target) -> list[Group]:
    """Partition the structured operators of ``ops`` (in topological order), except views and constants."""
    return with_paddings(*_Growth(ops, target).run(), target)


class _Growth:
    """Greedy growth: each operator joins the nearest group that accepts it and stays convex, else it starts one."""

    def __init__(self, ops: list[Operation], target: Target):
        self.ops, self.target = ops, target
        self.member: dict[Operation, Group] = {}
        self.order, self.epoch = Convexity(ops, self.member), shape_epochs(ops)
        self.first_of = _first_of_kernels(ops, target)

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
        """The group that takes ``op``: a new one where none can."""
        if isinstance(op, LibraryOp):
            return Group("library", (), ())
        if op in self.first_of:
            return self._chain(op, self.first_of[op])
        if _fuses_with_producer(op):
            return self.member[op.operands[0].owner]  # type: ignore[index]
        return next((g for g in self.order.nearest(op) if self._takes(g, op)), None) or start(op, self.target)

    def _chain(self, op: StructuredOp, first: Operation) -> Group:
        """The group of a chain, which has the shape of its latest operator."""
        if first is op:
            return Group("chain", shape_of(op.results[0]))
        self.member[first].shape = shape_of(op.results[0])
        return self.member[first]

    def _takes(self, group: Group, op: StructuredOp) -> bool:
        fits = self.epoch[group.ops[0]] == self.epoch[op] and group.accepts(op, self.target) and single_writer(group)
        return fits and self.order.stays_convex(group, op)


def _first_of_kernels(ops: list[Operation], target: Target) -> dict[Operation, Operation]:
    """The first operator of each attention or chain of products that is one kernel, by its operators.

    An attention's own first operator is not a key: it starts or joins a group as any other.
    """
    fused = [a for a in attentions(ops) if is_one_kernel(a, target)]
    streamed = [c for c in product_chains.chains(ops) if product_chains.is_one_kernel(c, target)]
    return {op: a.ops[0] for a in fused for op in a.ops[1:]} | {op: c.ops[0] for c in streamed for op in c.ops}


def shape_epochs(ops: Sequence[Operation]) -> dict[Operation, int]:
    """The shape epoch of each operator: how many run-time dimensions are known before it.

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
