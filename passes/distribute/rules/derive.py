"""Strategies from statements: an iterator is a factor. Parallel: the result is split; reduced: it is partial.

Nothing here knows an operator by name. What an operator reads along each dimension of an operand decides its state: the
same block: split; all: whole; blocks that overlap: a window. A strategy counts only if isl proves that its local form
reads and writes exactly what the operator does in the block of each rank.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlc.dialects.comm import CommOp, FixedRanksOp
from mlc.dialects.comm.reductions import NUMBERS
from mlc.dialects.dist.states import WHOLE, PartialAttr, SplitAttr, State, WindowAttr
from mlc.dialects.graph import ComputeOp, GraphOp, LibraryOp, StructuredOp
from mlc.dialects.graph.base import BatchAxis
from mlc.dialects.semantics.expr import Index, loads, walk
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import element_of, shape_of
from mlc.passes.distribute.rules import accesses
from mlc.passes.distribute.rules.accesses import Factor
from mlc.passes.distribute.rules.extents import static
from mlc.passes.distribute.rules.gathers import gathered
from mlc.passes.distribute.rules.local_form import on_placeholders
from mlc.passes.distribute.rules.proof import proved
from mlc.passes.distribute.rules.strategy import Rules, Strategy

COMBINED = ("add", "mul", "max", "min")
_CACHE: dict[object, Rules] = {}


def rules_of(op: GraphOp, blocks: int) -> Rules:
    """Return the strategies of an operator along a mesh axis of ``blocks`` ranks; cached, as models repeat layers."""
    key = type(op), tuple(sorted(op.properties.items())), tuple(op.operand_types), tuple(op.result_types), blocks
    if key not in _CACHE:
        _CACHE[key] = _derived(op, blocks)
    return _CACHE[key]


def _derived(op: GraphOp, blocks: int) -> Rules:
    if any(not isinstance(d, int) for x in (*op.operands, *op.results) for d in shape_of(x)) or reads_symbols(op):
        return Rules((), ("its extents are known at run time only",))
    found: list[Strategy] = []
    refused: list[str] = []
    for each in _candidates(op, blocks):
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


def _candidates(op: GraphOp, blocks: int) -> Iterator[Strategy | str]:
    """Yield strategies, and reasons against others."""
    if isinstance(op, StructuredOp):
        yield from _of_statements(op, blocks)
    elif isinstance(op, CommOp):
        first = 1 if isinstance(op, FixedRanksOp) else 0
        for dim in range(first, len(shape_of(op.results[0])) if op.operands else first):
            yield from _declared(op, ((dim,), dim), blocks)
    else:
        for axis in op.batch_axes():
            yield from _declared(op, axis, blocks)


def _declared(op: GraphOp, axis: BatchAxis, blocks: int) -> Iterator[Strategy | str]:
    """Yield the strategy of an axis that the operator declares."""
    states = tuple(_state(each) for each in axis[0])
    values = [*zip(op.operands, states, strict=True), (op.results[0], _state(axis[1]))]
    for value, state in values:
        if isinstance(state, SplitAttr) and (why := undivided(f"axis {state.dim}", shape_of(value)[state.dim], blocks)):
            yield why
            return
    yield Strategy(states, _state(axis[1]), f"axis {axis[1]}, which it declares")


def _state(axis: int | str | None) -> State:
    if axis is None:
        return WHOLE
    return PartialAttr.of(axis) if isinstance(axis, str) else SplitAttr.of(axis)


def undivided(what: str, extent: object, blocks: int) -> str | None:
    """Return why an extent has no equal blocks; None if it has."""
    if isinstance(extent, int) and extent and extent % blocks == 0:
        return None
    return f"{what} of {extent} elements is not divided by {blocks}"


def _of_statements(op: StructuredOp, blocks: int) -> Iterator[Strategy | str]:
    statements = op.statements()
    for dim, extent in enumerate(shape_of(op.results[0])):
        if extent != 1:
            yield _strategy(op, statements, dim, None, static(extent), blocks)
    if len(statements) == 1:
        (s,) = statements
        for name, bound, reduced in zip(s.iters, s.bounds, s.reduction, strict=True):
            if reduced and bound != 1:
                yield _strategy(op, statements, None, name, static(bound), blocks)
        if isinstance(op, ComputeOp):
            yield from gathered(op, s, blocks)


def _strategy(
    op: StructuredOp, statements: tuple[Statement, ...], dim: int | None, iterator: str | None, extent: int, blocks: int
) -> Strategy | str:
    """Return the strategy by which a dimension of the result, or a reduced iterator, is divided; or why none does."""
    what = f"reduced {iterator}" if dim is None else f"dimension {dim}"
    if why := undivided(what, extent, blocks):
        return why
    factor = Factor(blocks, extent // blocks, dim, iterator)
    if any(factor.condition(s) is None for s in statements):
        return f"{what} is written at computed indices"
    if iterator is not None and (why := _uncombined(op, statements[0].monoid)):
        return why
    operands = tuple(_state_of_operand(op, statements, n, factor) for n in range(len(op.operands)))
    result: State = PartialAttr.of(statements[0].monoid or "add") if dim is None else SplitAttr.of(dim)
    counts = _counts(statements, factor)
    strategy = Strategy(operands, result, what, iterator=iterator, counts=counts)
    if counts and not isinstance(op, ComputeOp):
        return f"{what}: it computes with the number of an element"
    local = on_placeholders(op, strategy, blocks)
    if local is None or not proved(op, local, strategy, factor):
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


def _counts(statements: tuple[Statement, ...], factor: Factor) -> tuple[tuple[str, int], ...]:
    """Return the divided iterators that values compute with, each with its block."""
    if len(statements) != 1:
        return ()
    (s,) = statements
    name = factor.iterator if factor.dim is None else str(s.out[factor.dim])
    return ((name, factor.block),) if name in accesses.counted(s.value) else ()


def _state_of_operand(op: StructuredOp, statements: tuple[Statement, ...], n: int, factor: Factor) -> State:
    """Return the state in which the ranks read operand n: split, a window, or whole."""
    shape, windows = shape_of(op.operands[n]), []
    for dim, extent in enumerate(static(d) for d in shape):
        found = [
            accesses.footprint(s, str(factor.condition(s)), load.index or (), dim, extent)
            for s in statements for load in loads(s.value) if load.operand == n
        ]  # fmt: skip
        if not found or extent == 1:
            continue
        union = found[0]
        for each in found[1:]:
            union = union.union(each)
        block = extent // factor.blocks
        if extent % factor.blocks == 0 and accesses.contained(union, block, 0, block, factor.blocks):
            return SplitAttr.of(dim)
        if (window := _window(union, dim, extent, factor.blocks)) is not None:
            windows.append(window)
    return windows[0] if windows else WHOLE


def _window(found: accesses.isl.Set, dim: int, extent: int, blocks: int) -> WindowAttr | None:
    """Return the window of a footprint that grows with the rank; None where it is not smaller than the dimension."""
    ends = [accesses.bounds(found, rank) for rank in {0, 1, blocks - 1}]
    if any(end is None for end in ends):
        return None
    (low, high), (next_low, _) = ends[0], ends[1]  # type: ignore[misc]
    step, length = next_low - low, high - low + 1
    if step <= 0 or length >= extent or not accesses.contained(found, step, low, length, blocks):
        return None
    return WindowAttr.of(dim, step, low, length)
