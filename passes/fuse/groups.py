"""Which graph operators become one kernel: greedy, convex growth of groups round anchors.

A contraction or window takes the elementwise operators on its result; elementwise operators of one shape go together;
reductions over the trailing axes and the elementwise operators round them (softmax, layer norm) share their rows.
Paddings go where ``paddings`` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from mlc.dialects.dims import product
from mlc.dialects.expr import Index, Load, parse, walk
from mlc.dialects.graph import (
    ComputeOp,
    ContractOp,
    ConvOp,
    LibraryOp,
    MapOp,
    ReduceOp,
    StructuredOp,
    WinogradInputOp,
    WinogradSumsOp,
    ints_of,
)
from mlc.dialects.graph.loop import size_made
from mlc.dialects.types import Shape, shape_of
from mlc.passes.fuse.cascades import cascades, stays
from mlc.passes.fuse.paddings import single_writer, with_paddings
from mlc.passes.fuse.views import views

ROW_LIMIT = 1 << 16  # elements of a row: it is read several times, from the L2 cache at worst


@dataclass(eq=False)
class Group:
    """Operators of one kernel; ``shape`` is the iteration space all share (without a contraction's reduced part)."""

    kind: str  # "map", "row", "anchor", or "library", which nothing joins
    shape: Shape
    axes: tuple[int, ...] = ()  # of a "row": the trailing, reduced ones
    ops: list[Operation] = field(default_factory=list)

    def accepts(self, op: Operation) -> bool:
        if self.kind == "library":
            return False
        if isinstance(op, MapOp):
            return shape_of(op.result) in self._shapes()
        if isinstance(op, ReduceOp) and self.kind != "anchor":
            return self._accepts_reduce(op)
        return False

    def _shapes(self) -> set[Shape]:
        if self.kind != "row":
            return {self.shape}
        kept = tuple(1 if n in self.axes else d for n, d in enumerate(self.shape))
        return {self.shape, kept, kept[: len(kept) - len(self.axes)]}

    def _accepts_reduce(self, op: ReduceOp) -> bool:
        axes = ints_of(op.axes)
        if shape_of(op.input) != self.shape or not is_row(self.shape, axes):
            return False
        return self.kind == "map" or axes == self.axes

    def add(self, op: Operation) -> None:
        if isinstance(op, ReduceOp) and self.kind == "map":
            self.kind, self.axes = "row", ints_of(op.axes)
        self.ops.append(op)


def is_row(shape: Shape, axes: tuple[int, ...]) -> bool:
    """Whether ``axes`` are the trailing ones and short enough for a row to stay in the L2 cache."""
    extent = product(shape[a] for a in axes)
    return axes == tuple(range(len(shape) - len(axes), len(shape))) and isinstance(extent, int) and extent <= ROW_LIMIT


def start(op: StructuredOp) -> Group:
    """The group of one operator."""
    shape = shape_of(op.results[0])
    if isinstance(op, ReduceOp) and is_row(shape_of(op.input), ints_of(op.axes)):
        return Group("row", shape_of(op.input), ints_of(op.axes), [op])
    statements = op.statements()
    pointwise = len(statements) == 1 and statements[0].monoid is None
    gathers = isinstance(op, ComputeOp) and not pointwise
    return Group("map" if pointwise and not gathers else "anchor", shape, (), [op])


def form_groups(ops: list[Operation]) -> list[Group]:
    """Partition the structured operators of ``ops`` (in topological order); views and constants stay outside."""
    outside = views(ops)
    position = {op: n for n, op in enumerate(ops)}
    era = eras(ops)
    member: dict[Operation, Group] = {}
    groups: list[Group] = []
    attention = {op: c.ops[0] for c in cascades(ops) if stays(c.scores) for op in c.ops[1:]}
    for op in ops:
        if isinstance(op, LibraryOp):
            member[op] = Group("library", (), (), [op])
            groups.append(member[op])
        if not isinstance(op, StructuredOp) or op in outside:
            continue
        if op in attention:
            member[op] = member[attention[op]]
            member[op].ops.append(op)
            member[op].shape = shape_of(op.results[0])
            continue
        if _joins(op):
            member[op] = member[op.operands[0].owner]  # type: ignore[index]
            member[op].ops.append(op)
            continue
        near = {member[o]: position[o] for v in op.operands if isinstance(o := v.owner, Operation) and o in member}
        for group in sorted(near, key=near.__getitem__, reverse=True):
            if era[group.ops[0]] != era[op]:
                continue
            if group.accepts(op) and single_writer(group) and not _reaches(op, group, member, position):
                group.add(op)
                member[op] = group
                break
        else:
            member[op] = start(op)
            groups.append(member[op])
    return with_paddings(groups, member)


def eras(ops: Sequence[Operation]) -> dict[Operation, int]:
    """How many data-dependent sizes are known where an operator stands.

    Operators of different eras do not share a kernel: one could lead to a size, and the other need it, although no
    value leads from one to the other.
    """
    known, found = 0, dict[Operation, int]()
    for op in ops:
        known += size_made(op) is not None
        found[op] = known
    return found


def _joins(op: StructuredOp) -> bool:
    """Whether an operator runs in the kernel of its first operand whatever else that computes."""
    first = op.operands[0].owner if op.operands else None
    if isinstance(op, WinogradSumsOp):
        return op.deep and isinstance(first, ConvOp)
    if isinstance(op, ComputeOp) and isinstance(first, ContractOp):
        return _in_panels(op, first)
    return isinstance(first, StructuredOp) and (op.JOINS or _leads_to_one(first))


def _in_panels(op: ComputeOp, product: ContractOp) -> bool:
    """Whether each panel of a result is computed of one panel of a product (``interleave-gates``)."""
    lhs, rhs, out = product.terms
    panels = out[:1] == rhs[:1] != "" and out[:1] not in lhs and op.monoid is None
    read = [e for e in walk(parse(op.expr.data)) if isinstance(e, Load) and e.operand == 0]
    return panels and all((e.index or ())[:1] == (Index("i0"),) for e in read)


def _leads_to_one(op: StructuredOp) -> bool:
    """Whether transformed tiles are for one product only: two in a kernel could need each other's results."""
    return isinstance(op, WinogradInputOp) and bool(op.deep) and op.result.has_one_use() and op.input.has_one_use()


def _reaches(op: Operation, group: Group, member: dict[Operation, Group], position: dict[Operation, int]) -> bool:
    """Whether an operand of ``op`` from outside ``group`` depends on ``group``: joining would make a cycle."""
    oldest = position[group.ops[0]]
    stack = [o for v in op.operands if isinstance(o := v.owner, Operation) and member.get(o) is not group]
    seen: set[Operation] = set(stack)
    while stack:
        current = stack.pop()
        for sibling in member[current].ops if current in member else [current]:
            for value in sibling.operands:
                owner = value.owner
                if not isinstance(owner, Operation) or owner in seen:
                    continue
                if member.get(owner) is group:
                    return True
                if position[owner] > oldest or owner in member:
                    seen.add(owner)
                    stack.append(owner)
    return False
