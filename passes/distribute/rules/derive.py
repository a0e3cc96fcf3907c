"""Strategies from statements: an iterator is a factor. Parallel: the result is split; reduced: it is partial.

Nothing here knows an operator by name. What an operator reads along each dimension of an operand decides its state: the
same block: split; all: whole; blocks that overlap: a window. A strategy counts only if isl proves that its local form
reads and writes exactly what the operator does in the block of each rank.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import islpy as isl

from mlc.dialects.comm import CommOp, FixedRanksOp
from mlc.dialects.comm.reductions import NUMBERS
from mlc.dialects.dist.states import WHOLE, PartialAttr, SplitAttr, State
from mlc.dialects.graph import ComputeOp, GraphOp, LibraryOp, StructuredOp
from mlc.dialects.graph.base import BatchAxis
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.semantics.expr import loads
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import element_of, shape_of
from mlc.passes.distribute.rules import accesses
from mlc.passes.distribute.rules.accesses import Factor
from mlc.passes.distribute.rules.extents import (
    Range,
    dim_text,
    first_text,
    granule_of,
    length_text,
    ranges,
    ranks_text,
    uneven,
)
from mlc.passes.distribute.rules.gathers import gathered
from mlc.passes.distribute.rules.local_form import on_placeholders
from mlc.passes.distribute.rules.parametric import isl_set
from mlc.passes.distribute.rules.proof import proved
from mlc.passes.distribute.rules.strategy import Rules, Strategy
from mlc.passes.distribute.rules.windows import window_of

COMBINED = ("add", "mul", "max", "min")
_CACHE: dict[object, Rules] = {}


def rules_of(op: GraphOp, blocks: int, units: frozenset[DimLike] = frozenset()) -> Rules:
    """Return the strategies of an operator along a mesh axis of ``blocks`` ranks; cached, as models repeat layers.

    ``units``: the units that the ranks do not divide evenly, into which operands or the result are divided. Without
    them, only even blocks are formed.
    """
    key = type(op), tuple(sorted(op.properties.items())), tuple(op.operand_types), tuple(op.result_types), blocks, units
    if key not in _CACHE:
        _CACHE[key] = _derived(op, blocks, units)
    return _CACHE[key]


def _derived(op: GraphOp, blocks: int, units: frozenset[DimLike]) -> Rules:
    if why := unproved(op):
        return Rules((), (why,))
    found: list[Strategy] = []
    refused: list[str] = []
    for each in _candidates(op, blocks, units):
        if isinstance(each, str):
            refused.append(each)
        else:
            found.append(each)
    if not found and not refused:
        refused.append(_why_none(op))
    return Rules(tuple(found), tuple(refused))


def unproved(op: GraphOp) -> str | None:
    """Return why no rule can be proved; None where isl has the extents: integers, and affine run-time extents."""
    if isinstance(op, LibraryOp) and not all(isinstance(n, int) for n in op.integers):
        return f"{op.name} has numbers that are known at run time only"
    if not isinstance(op, StructuredOp):
        return None
    shapes = [*map(shape_of, (*op.operands, *op.results)), *(s.bounds for s in op.statements())]
    extents = [d for each in shapes for d in each]
    wrong = [d for d in extents if dim_text(d) is None]
    return f"its extent {wrong[0]} is no sum of run-time extents, of which blocks are proved" if wrong else None


def _why_none(op: GraphOp) -> str:
    if all(d == 1 for x in (*op.operands, *op.results) for d in shape_of(x)):
        return "all its extents are 1"
    if isinstance(op, StructuredOp):
        return "its result is one element, and it reduces nothing"
    return f"{op.name} declares no axis along which it is independent"


def _candidates(op: GraphOp, blocks: int, units: frozenset[DimLike]) -> Iterator[Strategy | str]:
    """Yield strategies, and reasons against others."""
    if isinstance(op, StructuredOp):
        yield from _of_statements(op, blocks, units)
    elif isinstance(op, CommOp):
        first = 1 if isinstance(op, FixedRanksOp) else 0
        for dim in range(first, len(shape_of(op.results[0])) if op.operands else first):
            yield from _declared(op, ((dim,), dim), blocks, units)
    else:
        for axis in op.batch_axes():
            yield from _declared(op, axis, blocks, units)


def _declared(op: GraphOp, axis: BatchAxis, blocks: int, units: frozenset[DimLike]) -> Iterator[Strategy | str]:
    """Yield the strategy of an axis that the operator declares."""
    states = tuple(_state(each) for each in axis[0])
    values = [*zip(op.operands, states, strict=True), (op.results[0], _state(axis[1]))]
    extents = {shape_of(x)[s.dim]: s.dim for x, s in values if isinstance(s, SplitAttr)}
    for extent, dim in extents.items():
        if why := undivided(f"axis {dim}", extent, blocks, units):
            yield why
            return
    strategy = Strategy(states, _state(axis[1]), f"axis {axis[1]}, which it declares")
    if len(extents) > 1 and units or on_placeholders(op, strategy, blocks) is None:
        yield f"axis {axis[1]}: a block of it is not the same operator on blocks of its operands"
    else:
        yield strategy


def _state(axis: int | str | None) -> State:
    if axis is None:
        return WHOLE
    return PartialAttr.of(axis) if isinstance(axis, str) else SplitAttr.of(axis)


def undivided(what: str, extent: DimLike, blocks: int, units: frozenset[DimLike] = frozenset()) -> str | None:
    """Return why an extent has no blocks; None if it has: equal ones, or balanced ones where others are uneven too."""
    if sizes_of([extent]):
        return f"{what} of {extent} elements, which are known within the program only"
    if extent != 0 and (extent % blocks == 0 or units):
        return None
    return f"{what} of {extent} elements is not divided by {blocks}"


def _of_statements(op: StructuredOp, blocks: int, units: frozenset[DimLike]) -> Iterator[Strategy | str]:
    statements = op.statements()
    for dim, extent in enumerate(shape_of(op.results[0])):
        if extent != 1:
            yield from _strategies(op, statements, dim, None, extent, blocks, units)
    if len(statements) == 1:
        (s,) = statements
        for name, bound, reduced in zip(s.iters, s.bounds, s.reduction, strict=True):
            if reduced and bound != 1:
                yield from _strategies(op, statements, None, name, bound, blocks, units)
        if isinstance(op, ComputeOp):
            yield from gathered(op, s, blocks, units)


def _strategies(
    op: StructuredOp,
    statements: tuple[Statement, ...],
    dim: int | None,
    iterator: str | None,
    extent: DimLike,
    blocks: int,
    units: frozenset[DimLike],
) -> Iterator[Strategy | str]:
    """Yield the strategies by which a dimension of the result, or a reduced iterator, is divided; or why none does."""
    what = f"reduced {iterator}" if dim is None else f"dimension {dim}"
    if why := undivided(what, extent, blocks, units):
        yield why
        return
    others = sorted((n for n in units - {extent} if granule_of(extent, n)), key=lambda n: granule_of(extent, n) or 0)
    for each in (extent, *others):
        granule = 1 if each % blocks == 0 else granule_of(extent, each) or 1
        yield _strategy(op, statements, Factor(blocks, extent // granule, granule, dim, iterator), what)


def _strategy(op: StructuredOp, statements: tuple[Statement, ...], factor: Factor, what: str) -> Strategy | str:
    """Return the strategy of a factor, or why it has none."""
    dim, iterator, blocks = factor.dim, factor.iterator, factor.blocks
    if any(factor.condition(s, (0, blocks)) is None for s in statements):
        return f"{what} is written at computed indices"
    if iterator is not None and (why := _uncombined(op, statements[0].monoid)):
        return why
    operands = tuple(_state_of_operand(op, statements, n, factor) for n in range(len(op.operands)))
    result: State = PartialAttr.of(statements[0].monoid or "add") if dim is None else SplitAttr.of(dim, factor.granule)
    counts = _counts(statements, factor)
    strategy = Strategy(operands, result, what, iterator=iterator, granule=factor.granule, counts=counts)
    if iterator is not None and factor.units % blocks != 0 and factor.units not in _units_of(op, strategy, blocks):
        return f"{what}: no operand is divided into blocks of it"
    if counts and not isinstance(op, ComputeOp):
        return f"{what}: it computes with the number of an element"
    if not proved(op, strategy, factor):
        return f"{what}: a block of it is not the same operator on blocks of its operands"
    return strategy


def _uncombined(op: StructuredOp, monoid: str | None) -> str | None:
    """Return why ranks cannot combine the parts of a reduction."""
    element = element_of(op.results[0])
    if monoid in ("or_", "and_") and element == "i1":
        return None
    if monoid in COMBINED and element in (*NUMBERS, "f16", "bf16"):
        return None
    return f"ranks do not combine {element} by {monoid}"


def _units_of(op: GraphOp, strategy: Strategy, blocks: int) -> frozenset[DimLike]:
    return uneven(strategy.operands, map(shape_of, op.operands), blocks)


def _counts(statements: tuple[Statement, ...], factor: Factor) -> tuple[tuple[str, DimLike, int], ...]:
    """Return the divided iterators that values compute with, each with its units and the elements of one."""
    if len(statements) != 1:
        return ()
    (s,) = statements
    name = factor.iterator if factor.dim is None else str(s.out[factor.dim])
    return ((name, factor.units, factor.granule),) if name in accesses.counted(s.value) else ()


def _state_of_operand(op: StructuredOp, statements: tuple[Statement, ...], n: int, factor: Factor) -> State:
    """Return the state in which the ranks read operand n: split, a window, or whole."""
    windows: list[State] = []
    for dim, extent in enumerate(shape_of(op.operands[n])):
        if extent == 1 or not (found := _footprints(statements, n, dim, extent, factor)):
            continue
        if (state := _split(found, dim, extent, factor)) is not None:
            return state
        if (window := window_of(found, dim, extent, factor)) is not None:
            windows.append(window)
    return windows[0] if windows else WHOLE


def _footprints(
    statements: tuple[Statement, ...], n: int, dim: int, extent: DimLike, factor: Factor
) -> list[tuple[Range, isl.Set]]:
    """Return, for ranks with blocks of one size, what they read of operand n along a dimension; [] if nothing does."""
    read = [(s, load.index or ()) for s in statements for load in loads(s.value) if load.operand == n]
    found = []
    for ranks in factor.ranges if read else []:
        sets = [accesses.footprint(s, str(factor.condition(s, ranks)), at, dim, extent) for s, at in read]
        found.append((ranks, functools.reduce(isl.Set.union, sets)))
    return found


def _split(found: list[tuple[Range, isl.Set]], dim: int, extent: DimLike, factor: Factor) -> SplitAttr | None:
    """Return the state in which each rank has the block that it reads."""
    blocks = factor.blocks
    for units in _units_to_try(extent, factor):
        granule = 1 if units % blocks == 0 else granule_of(extent, units) or 1
        state, whole = SplitAttr.of(dim, granule), extent // granule
        if all(_has(state, whole, each, ranks, blocks) for ranks, each in _finer(found, whole, blocks)):
            return state
    return None


def _units_to_try(extent: DimLike, factor: Factor) -> list[DimLike]:
    """Return units into which an operand may be divided as the factor is: its own elements, or units of the factor."""
    same = [factor.units] if granule_of(extent, factor.units) else []
    if isinstance(factor.units, Dim) or isinstance(extent, Dim):
        return same if isinstance(factor.units, Dim) else []
    found = sorted({extent, *(n for n in same if isinstance(n, int))})
    return [n for n in found if n % factor.blocks == 0 or factor.units % factor.blocks != 0]


def _finer(found: list[tuple[Range, isl.Set]], units: DimLike, blocks: int) -> Iterator[tuple[Range, isl.Set]]:
    """Yield footprints for the ranks that also have equal blocks of other units."""
    for (low, high), each in found:
        for start, end in ranges([units], blocks):
            if max(low, start) < min(high, end):
                yield (max(low, start), min(high, end)), each


def _has(state: SplitAttr, units: DimLike, found: isl.Set, ranks: Range, blocks: int) -> bool:
    begin, length = first_text(units, state.granule, blocks, ranks), length_text(units, state.granule, blocks, ranks)
    which = ranks_text(units, blocks, ranks)
    return accesses.contained(found.intersect(isl_set(["x"], [], which)), begin, length, which)
