"""Changes of state as collectives along one mesh axis: they move what a rank does not have, and nothing else.

whole → split      its own block            split → whole      all_gather
whole → partial    zeros but on rank 0      partial → whole    all_reduce
split → split      all_to_all               partial → split    reduce_scatter
split → window     the borders of the neighbours, by permute
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from mlc.dialects.comm import AllGatherOp, AllReduceOp, AllToAllOp, PermuteOp, ReduceScatterOp
from mlc.dialects.comm.reductions import NUMBERS
from mlc.dialects.dist.states import WHOLE, PartialAttr, SplitAttr, State, WholeAttr, WindowAttr
from mlc.dialects.graph import ComputeOp, ConcatOp, MapOp, ReshapeOp, TransposeOp
from mlc.dialects.graph.base import iterators
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.semantics.expr import Call, Const, Expr, Index, Load
from mlc.dialects.types import Shape, element_of, is_narrow, shape_of
from mlc.passes.distribute.lowering.ends import cut, with_ends
from mlc.passes.distribute.lowering.ranks import Ranks
from mlc.passes.distribute.rules.cost import halo, is_even, open_halo, smallest
from mlc.passes.distribute.rules.extents import first_of, units_of
from mlc.passes.op_builder import OpBuilder

NUMBER = Load(1, ())
BITS = {"or_": "max", "and_": "min"}  # of i1


def resharded(build: OpBuilder, x: SSAValue, shape: Shape, source: State, target: State, ranks: Ranks) -> SSAValue:
    """Return a rank's part of a value in another state; ``shape`` is that of the whole."""
    if source == target:
        return x
    if is_narrow(element := element_of(x)) and not isinstance(source, WholeAttr):
        wide = _cast(build, x, "f32" if element[0] == "f" else "i32")  # ranks send no elements of less than a byte
        return _cast(build, resharded(build, wide, shape, source, target, ranks), element)
    match source, target:
        case (WholeAttr(), SplitAttr() | WindowAttr()):
            return taken(build, x, target, shape, ranks)
        case (WholeAttr(), PartialAttr()):
            return build.emit(MapOp("where(x1 == 0, x0, 0)", [x, ranks.number]))
        case (PartialAttr(), SplitAttr()) if source.fn.data not in BITS:
            return _scattered(build, x, source.fn.data, target, ranks)
        case (PartialAttr(), _):
            whole = _reduced(build, x, source.fn.data, ranks)
            return resharded(build, whole, shape, WHOLE, target, ranks)
        case (SplitAttr(), SplitAttr()) if all(is_even(each, shape, ranks.blocks) for each in (source, target)):
            return _exchanged(build, x, source.dim, target.dim, ranks)
        case (SplitAttr(), WindowAttr()) if source.dim == target.dim and _is_near(source, target, shape, ranks):
            return _with_borders(build, x, source, target, shape, ranks)
        case (SplitAttr(), _):
            return resharded(build, _gathered(build, x, source, shape, ranks), shape, WHOLE, target, ranks)
    raise AssertionError(f"no value is in state {source}")


def taken(build: OpBuilder, x: SSAValue, target: SplitAttr | WindowAttr, shape: Shape, ranks: Ranks) -> SSAValue:
    """Return the part of a whole value that a state gives a rank."""
    begin = _first(target, shape, ranks)
    return _from(build, x, target.dim, begin, ranks.local(shape, target)[target.dim], ranks)


def _first(state: SplitAttr | WindowAttr, shape: Shape, ranks: Ranks) -> Expr:
    """Return the first element that the rank ``x1`` has in a state."""
    units = units_of(state, shape, ranks.blocks)
    assert units is not None
    if isinstance(state, SplitAttr):
        return first_of(units, state.granule, ranks.blocks, NUMBER)
    _, step, offset, _ = state.parts
    return Call("add", (first_of(units, step, ranks.blocks, NUMBER), Const(offset)))


def _from(build: OpBuilder, x: SSAValue, dim: int, begin: Expr, length: DimLike, ranks: Ranks) -> SSAValue:
    """Return ``length`` elements of a dimension from ``begin`` on, an expression of the number of the rank ``x1``."""
    shape = (*shape_of(x)[:dim], length, *shape_of(x)[dim + 1 :])
    at: list[Expr] = [Index(name) for name in iterators(len(shape))]
    at[dim] = Call("add", (at[dim], begin))
    return build.emit(ComputeOp(str(Load(0, tuple(at))), [x, ranks.number], shape))


def _reduced(build: OpBuilder, x: SSAValue, fn: str, ranks: Ranks) -> SSAValue:
    given, element = _combinable(build, x, fn)
    return _cast(build, build.emit(AllReduceOp(BITS.get(fn, fn), given, ranks.group)), element)


def _scattered(build: OpBuilder, x: SSAValue, fn: str, target: SplitAttr, ranks: Ranks) -> SSAValue:
    given, element = _combinable(build, _to_front(build, x, target.dim), fn)
    units, part = _units(shape_of(given)[0], target, ranks)
    made = build.emit(ReduceScatterOp(fn, given, ranks.blocks, ranks.group, units, part))
    return _from_front(build, _cast(build, made, element), target.dim)


def _units(whole: DimLike, state: SplitAttr, ranks: Ranks) -> tuple[DimLike | None, DimLike | None]:
    """Return the units of a dimension and the elements of this rank; None where blocks are equal."""
    units = whole // state.granule
    return (
        (None, None) if units % ranks.blocks == 0 else (units, ranks.local((whole,), SplitAttr.of(0, state.granule))[0])
    )


def _combinable(build: OpBuilder, x: SSAValue, fn: str) -> tuple[SSAValue, str]:
    """Return a value of elements that ranks combine, and the element that it had."""
    element = element_of(x)
    if fn in BITS:
        return _cast(build, x, "ui8"), element
    return (x if element in NUMBERS else _cast(build, x, "f32")), element


def _cast(build: OpBuilder, x: SSAValue, element: str) -> SSAValue:
    return x if element_of(x) == element else build.emit(MapOp(f"{element}(x0)", [x]))


def _gathered(build: OpBuilder, x: SSAValue, source: SplitAttr, shape: Shape, ranks: Ranks) -> SSAValue:
    front, whole = _to_front(build, x, source.dim), shape[source.dim]
    units, _ = _units(whole, source, ranks)
    found = build.emit(AllGatherOp(front, ranks.blocks, ranks.group, units, None if units is None else whole))
    return _from_front(build, found, source.dim)


def _exchanged(build: OpBuilder, x: SSAValue, source: int, target: int, ranks: Ranks) -> SSAValue:
    """Return a block of ``target`` for one of ``source``: part s of it goes to rank s, whose parts are put together."""
    front = _to_front(build, x, target)
    parts = build.emit(AllToAllOp(front, ranks.blocks, ranks.group))
    whole, *rest = shape_of(front)
    inner = source + 1 if source < target else source  # where `source` is after the dimension in front
    split = build.emit(ReshapeOp(parts, (ranks.blocks, whole // ranks.blocks, *rest)))
    order = list(range(1, len(rest) + 2))
    order.insert(inner, 0)
    moved = build.emit(TransposeOp(split, order))
    joined = list(shape_of(front))
    joined[0], joined[inner] = whole // ranks.blocks, joined[inner] * ranks.blocks
    return _from_front(build, build.emit(ReshapeOp(moved, tuple(joined))), target)


def _to_front(build: OpBuilder, x: SSAValue, dim: int) -> SSAValue:
    order = [dim, *(n for n in range(len(shape_of(x))) if n != dim)]
    return x if dim == 0 else build.emit(TransposeOp(x, order))


def _from_front(build: OpBuilder, x: SSAValue, dim: int) -> SSAValue:
    order = [*range(1, dim + 1), 0, *range(dim + 1, len(shape_of(x)))]
    return x if dim == 0 else build.emit(TransposeOp(x, order))


def _is_near(source: SplitAttr, window: WindowAttr, shape: Shape, ranks: Ranks) -> bool:
    """Return whether a window reaches into the blocks of the neighbours at most."""
    extent = shape[window.dim]
    if isinstance(extent, Dim):
        return open_halo(window, source, extent) is not None
    return max(halo(window, source, extent, ranks.blocks)) <= smallest(source, extent, ranks.blocks)


def _with_borders(
    build: OpBuilder, x: SSAValue, source: SplitAttr, window: WindowAttr, shape: Shape, ranks: Ranks
) -> SSAValue:
    """Return the window of a rank that has a block: the last elements of the rank before, the block, the first of the
    rank after. Beyond the first and last rank there are zeros, which no window reads."""
    dim, extent = window.dim, shape[window.dim]
    if isinstance(extent, Dim):
        ends = open_halo(window, source, extent)
        assert ends is not None
        longer = with_ends(build, x, source, extent, ends, ranks)
        return _window_of(build, longer, ends[0], source, window, shape, ranks)
    low, high = halo(window, source, extent, ranks.blocks)
    parts = [x]
    if low:
        before = [(n, n + 1) for n in range(ranks.blocks - 1)]
        parts.insert(0, build.emit(PermuteOp(cut(build, x, dim, shape_of(x)[dim] - low, low), before, ranks.group)))
    if high:
        after = [(n + 1, n) for n in range(ranks.blocks - 1)]
        parts.append(build.emit(PermuteOp(cut(build, x, dim, 0, high), after, ranks.group)))
    joined = build.emit(ConcatOp(parts, dim)) if len(parts) > 1 else x
    return _window_of(build, joined, low, source, window, shape, ranks)


def _window_of(
    build: OpBuilder, x: SSAValue, low: int, source: SplitAttr, window: WindowAttr, shape: Shape, ranks: Ranks
) -> SSAValue:
    """Return the window of a rank that has a block, and ``low`` elements or more before it."""
    dim = window.dim
    own = Call("sub", (_first(source, shape, ranks), Const(low)))
    begin = Call("sub", (_first(window, shape, ranks), own))
    return _from(build, x, dim, begin, ranks.local(shape, window)[dim], ranks)
