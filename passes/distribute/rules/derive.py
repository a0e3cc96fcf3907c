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
from mlc.dialects.dist.states import WHOLE, PartialAttr, SplitAttr, State, WindowAttr
from mlc.dialects.graph import ComputeOp, GraphOp, LibraryOp, StructuredOp
from mlc.dialects.graph.base import BatchAxis
from mlc.dialects.semantics.blocks import count
from mlc.dialects.semantics.expr import Index, loads, walk
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import element_of, shape_of
from mlc.passes.distribute.rules import accesses
from mlc.passes.distribute.rules.accesses import Factor
from mlc.passes.distribute.rules.extents import Range, first_text, ranges, static, uneven
from mlc.passes.distribute.rules.gathers import gathered
from mlc.passes.distribute.rules.local_form import on_placeholders
from mlc.passes.distribute.rules.proof import proved
from mlc.passes.distribute.rules.strategy import Rules, Strategy, local_shape

COMBINED = ("add", "mul", "max", "min")
_CACHE: dict[object, Rules] = {}


def rules_of(op: GraphOp, blocks: int, units: frozenset[int] = frozenset()) -> Rules:
    """Return the strategies of an operator along a mesh axis of ``blocks`` ranks; cached, as models repeat layers.

    ``units``: the units that the ranks do not divide evenly, into which operands or the result are divided. Without
    them, only even blocks are formed.
    """
    key = type(op), tuple(sorted(op.properties.items())), tuple(op.operand_types), tuple(op.result_types), blocks, units
    if key not in _CACHE:
        _CACHE[key] = _derived(op, blocks, units)
    return _CACHE[key]


def _derived(op: GraphOp, blocks: int, units: frozenset[int]) -> Rules:
    if any(not isinstance(d, int) for x in (*op.operands, *op.results) for d in shape_of(x)) or reads_symbols(op):
        return Rules((), ("its extents are known at run time only",))
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


def reads_symbols(op: GraphOp) -> bool:
    """Return whether bounds or indices depend on run-time dimensions."""
    if isinstance(op, LibraryOp) and not all(isinstance(n, int) for n in op.integers):
        return True
    for s in op.statements() if isinstance(op, StructuredOp) else ():
        names = {node.name for e in (*s.out, s.value) for node in walk(e) if isinstance(node, Index)}
        if not names <= set(s.iters) or not all(isinstance(b, int) for b in s.bounds):
            return True
    return False


def _why_none(op: GraphOp) -> str:
    if all(d == 1 for x in (*op.operands, *op.results) for d in shape_of(x)):
        return "all its extents are 1"
    if isinstance(op, StructuredOp):
        return "its result is one element, and it reduces nothing"
    return f"{op.name} declares no axis along which it is independent"


def _candidates(op: GraphOp, blocks: int, units: frozenset[int]) -> Iterator[Strategy | str]:
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


def _declared(op: GraphOp, axis: BatchAxis, blocks: int, units: frozenset[int]) -> Iterator[Strategy | str]:
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


def undivided(what: str, extent: object, blocks: int, units: frozenset[int] = frozenset()) -> str | None:
    """Return why an extent has no blocks; None if it has: equal ones, or balanced ones where others are uneven too."""
    if isinstance(extent, int) and extent and (extent % blocks == 0 or units):
        return None
    return f"{what} of {extent} elements is not divided by {blocks}"


def _of_statements(op: StructuredOp, blocks: int, units: frozenset[int]) -> Iterator[Strategy | str]:
    statements = op.statements()
    for dim, extent in enumerate(shape_of(op.results[0])):
        if extent != 1:
            yield from _strategies(op, statements, dim, None, static(extent), blocks, units)
    if len(statements) == 1:
        (s,) = statements
        for name, bound, reduced in zip(s.iters, s.bounds, s.reduction, strict=True):
            if reduced and bound != 1:
                yield from _strategies(op, statements, None, name, static(bound), blocks, units)
        if isinstance(op, ComputeOp):
            yield from gathered(op, s, blocks, units)


def _strategies(
    op: StructuredOp,
    statements: tuple[Statement, ...],
    dim: int | None,
    iterator: str | None,
    extent: int,
    blocks: int,
    units: frozenset[int],
) -> Iterator[Strategy | str]:
    """Yield the strategies by which a dimension of the result, or a reduced iterator, is divided; or why none does."""
    what = f"reduced {iterator}" if dim is None else f"dimension {dim}"
    if why := undivided(what, extent, blocks, units):
        yield why
        return
    for each in sorted({extent, *(n for n in units if extent % n == 0)}, reverse=True):
        granule = 1 if each % blocks == 0 else extent // each
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
    if iterator is not None and factor.units % blocks and factor.units not in _units_of(op, strategy, blocks):
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


def _units_of(op: GraphOp, strategy: Strategy, blocks: int) -> frozenset[int]:
    return uneven(strategy.operands, map(shape_of, op.operands), blocks)


def _counts(statements: tuple[Statement, ...], factor: Factor) -> tuple[tuple[str, int, int], ...]:
    """Return the divided iterators that values compute with, each with its units and the elements of one."""
    if len(statements) != 1:
        return ()
    (s,) = statements
    name = factor.iterator if factor.dim is None else str(s.out[factor.dim])
    return ((name, factor.units, factor.granule),) if name in accesses.counted(s.value) else ()


def _state_of_operand(op: StructuredOp, statements: tuple[Statement, ...], n: int, factor: Factor) -> State:
    """Return the state in which the ranks read operand n: split, a window, or whole."""
    windows: list[State] = []
    for dim, extent in enumerate(static(d) for d in shape_of(op.operands[n])):
        if extent == 1 or not (found := _footprints(statements, n, dim, extent, factor)):
            continue
        if (state := _split(found, dim, extent, factor)) is not None:
            return state
        if (window := _window(found, dim, extent, factor)) is not None:
            windows.append(window)
    return windows[0] if windows else WHOLE


def _footprints(
    statements: tuple[Statement, ...], n: int, dim: int, extent: int, factor: Factor
) -> list[tuple[Range, isl.Set]]:
    """Return, for ranks with blocks of one size, what they read of operand n along a dimension; [] if nothing does."""
    read = [(s, load.index or ()) for s in statements for load in loads(s.value) if load.operand == n]
    found = []
    for ranks in factor.ranges if read else []:
        sets = [accesses.footprint(s, str(factor.condition(s, ranks)), at, dim, extent) for s, at in read]
        found.append((ranks, functools.reduce(isl.Set.union, sets)))
    return found


def _split(found: list[tuple[Range, isl.Set]], dim: int, extent: int, factor: Factor) -> SplitAttr | None:
    """Return the state in which each rank has the block that it reads."""
    blocks = factor.blocks
    for units in sorted({extent, *([factor.units] if extent % factor.units == 0 else [])}):
        if units % blocks and factor.units % blocks == 0:
            continue
        granule = 1 if units % blocks == 0 else extent // units
        state, whole = SplitAttr.of(dim, granule), extent // granule
        if all(_has(state, whole, each, ranks, blocks) for ranks, each in _finer(found, whole, blocks)):
            return state
    return None


def _finer(found: list[tuple[Range, isl.Set]], units: int, blocks: int) -> Iterator[tuple[Range, isl.Set]]:
    """Yield footprints for the ranks that also have equal blocks of other units."""
    for (low, high), each in found:
        for start, end in ranges([units], blocks):
            if max(low, start) < min(high, end):
                yield (max(low, start), min(high, end)), each


def _has(state: SplitAttr, units: int, found: isl.Set, ranks: Range, blocks: int) -> bool:
    begin, length = first_text(units, state.granule, blocks, ranks), count(units, blocks, ranks[0]) * state.granule
    here = found.intersect_params(isl.Set(f"[rank_] -> {{ : {ranks[0]} <= rank_ < {ranks[1]} }}"))
    return accesses.contained(here, begin, length, ranks)


def _window(found: list[tuple[Range, isl.Set]], dim: int, extent: int, factor: Factor) -> WindowAttr | None:
    """Return the window of a footprint that grows with the rank; None where it is not smaller than the dimension."""
    units = factor.units if factor.units % factor.blocks else factor.blocks
    (_, most), last = found[0], found[-1]
    if units < factor.blocks or factor.blocks < 2:
        return None
    ends = [accesses.bounds(most, 0), accesses.bounds(last[1] if last[0][0] == 1 else most, 1)]
    if None in ends or accesses.bounds(last[1], factor.blocks - 1) is None:
        return None
    (low, high), (next_low, _) = ends  # type: ignore[misc]
    own = count(units, factor.blocks, 0)
    step, length = (next_low - low) // own, high - low + 1
    if step <= 0 or length >= extent:
        return None
    even = units == factor.blocks
    window = WindowAttr.of(dim, step, low, length if even else length - own * step, 0 if even else units)
    fits = all(_in_window(window, units, extent, each, ranks, factor.blocks) for ranks, each in found)
    return window if fits else None


def _in_window(window: WindowAttr, units: int, extent: int, found: isl.Set, ranks: Range, blocks: int) -> bool:
    _, step, offset, _ = window.parts
    length = local_shape((extent,), WindowAttr.of(0, *window.parts[1:], window.units), blocks, ranks[0])[0]
    return accesses.contained(found, f"{first_text(units, step, blocks, ranks)} + {offset}", static(length), ranks)
