"""Stencil fusion (``fuse-stencils``): an elementwise operator reads shifted windows of a tensor where they are.

    %l = graph.slice(%u) {starts = ["0"], sizes = ["6"], …}
    %r = graph.slice(%u) {starts = ["2"], sizes = ["6"], …}
    %s = graph.map "x0 + x1"(%l, %r)                →  %s = graph.compute "x0[i0] + x0[i0 + 2]"(%u) {shape = ["6"], …}

A stencil reads a tensor at several offsets, through windows that overlap. Concatenations of windows, such as a periodic
shift, divide the result into boxes (index-set splitting): it becomes a ``graph.piecewise`` of few boxes, whose interior
reads without conditions. Copies of windows then have no reader. Chains of cheap stencils become one
(``patterns/stencil_chains.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from itertools import product as cartesian

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ComputeOp, ConcatOp, MapOp, PiecewiseOp, SliceOp, dims_of, ints_of, source_nodes
from mlc.dialects.graph import with_nodes as named
from mlc.dialects.semantics.expr import Call, Const, Expr, Index, Load, substitute
from mlc.dialects.types import shape_of
from mlc.passes.graph.patterns.stencil_chains import inlined_stencil
from mlc.passes.rewriter import bodies, erase_unused

BOXES = 9  # of one operator: two cuts in each of two dimensions. Each is a loop nest of the kernel
WINDOWS = 24  # of one operand


@dataclass(frozen=True)
class FuseStencils(ModulePass):
    name = "fuse-stencils"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in bodies(op):
            for each in [o for o in block.ops if isinstance(o, MapOp)]:
                if (new := fused(each)) is not None:
                    _replace(each, new)
            for stencil in [o for o in block.ops if isinstance(o, ComputeOp)]:
                while (both := inlined_stencil(stencil)) is not None:
                    _replace(stencil, both)
                    stencil = both


@dataclass(frozen=True)
class Window:
    """A box of a tensor that is read from ``source``.

    For a point ``v`` of the box, ``low ≤ v < high``, the element is ``source[first + v * steps]``.
    """

    low: tuple[int, ...]
    high: tuple[int, ...]
    source: SSAValue
    first: tuple[int, ...]
    steps: tuple[int, ...]


def fused(op: MapOp) -> Operation | None:
    """Return the operator that reads ``source`` tensors at shifted indices in place of the slices and concatenations
    that ``op`` reads; None if ``op`` is no stencil."""
    shape = shape_of(op.result)
    if not shape or not _is_static(op.result, *op.args):
        return None
    if not any(isinstance(x.owner, SliceOp | ConcatOp) for x in op.args):
        return None
    parts = [windows(x) for x in op.args]
    cuts = [_cuts(n, int(d), parts, len(shape)) for n, d in enumerate(shape)]  # type: ignore[arg-type]
    boxes = list(cartesian(*(list(pairwise(each)) for each in cuts)))
    if len(boxes) > BOXES:
        return None
    reads = [[_at(box, each) for each in parts] for box in boxes]
    if not any(_overlap(windows_of_box, box) for windows_of_box, box in zip(reads, boxes, strict=True)):
        return None
    sources = list(dict.fromkeys(w.source for each in reads for w in each))
    exprs = [_expression(op, each, box, sources) for each, box in zip(reads, boxes, strict=True)]
    if len(boxes) == 1:
        return ComputeOp(str(exprs[0]), sources, shape)
    made = [(tuple(a for a, _ in box), tuple(b - a for a, b in box)) for box in boxes]
    return PiecewiseOp([str(each) for each in exprs], sources, made)


def windows(x: SSAValue) -> list[Window]:
    """Return the windows of other tensors that make up ``x``, which slices and concatenations compute; ``x`` as one
    window if it has no such form."""
    shape = tuple(int(d) for d in shape_of(x))  # type: ignore[arg-type]
    whole = Window((0,) * len(shape), shape, x, (0,) * len(shape), (1,) * len(shape))
    op = x.owner
    if not isinstance(op, SliceOp | ConcatOp) or not _is_static(*op.operands):
        return [whole]
    if isinstance(op, SliceOp) and not all(isinstance(d, int) for d in dims_of(op.starts)):
        return [whole]  # at an iteration of a loop
    found = _sliced(op, shape) if isinstance(op, SliceOp) else _concatenated(op)
    return found if 0 < len(found) <= WINDOWS else [whole]


def _is_static(*values: SSAValue) -> bool:
    return all(isinstance(d, int) for x in values for d in shape_of(x))


def _sliced(op: SliceOp, shape: tuple[int, ...]) -> list[Window]:
    starts, steps = [int(d) for d in dims_of(op.starts)], ints_of(op.steps)  # type: ignore[arg-type]
    inner = windows(op.input)
    if len(inner) > 1 and set(steps) != {1}:
        return []
    made = []
    for w in inner:
        several = len(inner) > 1
        low = tuple(max(0, a - s) if several else 0 for a, s in zip(w.low, starts, strict=True))
        high = tuple(min(d, b - s) if several else d for d, b, s in zip(shape, w.high, starts, strict=True))
        first = tuple(f + k * s for f, k, s in zip(w.first, w.steps, starts, strict=True))
        if all(a < b for a, b in zip(low, high, strict=True)):
            made.append(Window(low, high, w.source, first, tuple(a * b for a, b in zip(w.steps, steps, strict=True))))
    return made


def _concatenated(op: ConcatOp) -> list[Window]:
    made, offset, axis = [], 0, op.axis.value.data
    for arg in op.args:
        for w in windows(arg):
            by = tuple(offset if n == axis else 0 for n in range(len(w.low)))
            low, high = (tuple(a + b for a, b in zip(ends, by, strict=True)) for ends in (w.low, w.high))
            first = tuple(f - k * b for f, k, b in zip(w.first, w.steps, by, strict=True))
            made.append(Window(low, high, w.source, first, w.steps))
        offset += int(shape_of(arg)[axis])  # type: ignore[arg-type]
    return made


def _cuts(axis: int, extent: int, parts: Sequence[Sequence[Window]], rank: int) -> list[int]:
    """Return the indices along ``axis`` of the result at which a window of an operand begins or ends."""
    found = {0, extent}
    for each in parts:
        n = axis - (rank - len(each[0].low))  # operands broadcast: their last axes are those of the result
        if n >= 0 and max(w.high[n] for w in each) == extent:
            found |= {end for w in each for end in (w.low[n], w.high[n])}
    return sorted(found)


def _at(box: Sequence[tuple[int, int]], parts: Sequence[Window]) -> Window:
    """Return the window of ``parts`` that contains the box of the result. Dimensions of extent 1 are broadcast."""
    extents = [max(ends) for ends in zip(*(w.high for w in parts), strict=True)]
    for w in parts:
        ends = zip(box[len(box) - len(extents) :], w.low, w.high, extents, strict=True)
        if all(extent == 1 or (a <= low and high <= b) for (low, high), a, b, extent in ends):
            return w
    raise AssertionError(f"no window of {parts} has the box {box}")


def _overlap(windows: Sequence[Window], box: Sequence[tuple[int, int]]) -> bool:
    """Return whether two of ``windows`` read overlapping boxes of one tensor at different offsets."""
    extents = [b - a for a, b in box]
    for n, one in enumerate(windows):
        for other in windows[:n]:
            if one.source is other.source and one.steps == other.steps and one.first != other.first:
                own = extents[len(extents) - len(one.first) :]
                offsets = zip(one.first, other.first, own, strict=True)
                if all(abs(a - b) < max(extent, 1) for a, b, extent in offsets):
                    return True
    return False


def _expression(
    op: MapOp, reads: Sequence[Window], box: Sequence[tuple[int, int]], sources: Sequence[SSAValue]
) -> Expr:
    """Return the map's expression on one box: each load has an affine index into its source tensor for each
    dimension."""

    def load(given: Load) -> Expr:
        w = reads[given.operand]
        skip = len(box) - len(w.first)
        at = []
        for n, (first, step) in enumerate(zip(w.first, w.steps, strict=True)):
            low, high = box[skip + n]
            broadcast = (w.low[n], w.high[n]) == (0, 1) != (low, high)
            at.append(_affine(f"i{skip + n}", 0 if broadcast else step, first + (0 if broadcast else step * low)))
        return Load(sources.index(w.source), tuple(at))

    return substitute(op.scalar, load)


def _affine(name: str, step: int, first: int) -> Expr:
    if step == 0:
        return Const(first)
    scaled: Expr = Index(name) if step == 1 else Call("mul", (Index(name), Const(step)))
    return scaled if first == 0 else Call("add", (scaled, Const(first)))


def _replace(op: MapOp | ComputeOp, new: Operation) -> None:
    block, args = op.parent, [x.owner for x in op.args if isinstance(x.owner, Operation)]
    assert block is not None
    gone = [n for x in args if x.results[0] not in new.operands for n in source_nodes(x) if isinstance(x, ComputeOp)]
    block.insert_op_before(named(new, [*gone, *source_nodes(op)]), op)
    op.result.replace_all_uses_with(new.results[0])
    op.detach()
    op.erase()
    erase_unused(args)
