"""Extents in balanced blocks: of n units rank c has n // p, and one more where c < n % p, as ``numpy.array_split``.

A unit is an element, or as many elements as follow from one: of a tensor 7x4 that is reshaped to 28, blocks of 7 units
of 4 elements. Where the ranks divide the units evenly a block is an integer, else a symbol of the program.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from mlc.dialects.dist.states import SplitAttr, State, WindowAttr
from mlc.dialects.semantics.blocks import count
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.semantics.expr import Call, Const, Expr
from mlc.dialects.types import Shape

Range = tuple[int, int]
"""Ranks from the first to before the second, whose blocks have equal sizes."""


def static(extent: DimLike) -> int:
    """Return an extent that is an integer; rules make no strategies for others."""
    assert isinstance(extent, int), extent
    return extent


def ranges(units: Iterable[int], blocks: int) -> list[Range]:
    """Return the ranks in groups in each of which blocks of all these units have one size."""
    ends = sorted({0, blocks, *(each % blocks for each in units)})
    return list(pairwise(ends))


def first_text(units: int, granule: int, blocks: int, ranks: Range) -> str:
    """Return the first element of the block of rank ``rank_``, one of ``ranks``, as text of isl."""
    size = count(units, blocks, ranks[0]) * granule
    rest = 0 if ranks[0] < units % blocks else units % blocks * granule
    return f"rank_ * {size} + {rest}" if rest else f"rank_ * {size}"


def first_of(units: int, granule: int, blocks: int, number: Expr) -> Expr:
    """Return the first element of the block of the rank with this number."""
    begin = Call("mul", (number, Const(units // blocks * granule)))
    if units % blocks == 0:
        return begin
    return Call("add", (begin, Call("mul", (Call("min", (number, Const(units % blocks))), Const(granule)))))


def block(units: int, blocks: int) -> DimLike:
    """Return the units of a block: a symbol where they are not the same on all ranks."""
    return units // blocks if units % blocks == 0 else Dim.symbol(symbol(units))


def symbol(units: int) -> str:
    """Return the name that rules give to the size of a block; the partition replaces it by one of the program."""
    return f"part{units}"


def split(dim: int, extent: int, units: int, blocks: int) -> SplitAttr:
    """Return the state in which blocks of ``units`` units divide a dimension."""
    return SplitAttr.of(dim, 1 if units % blocks == 0 else extent // units)


def units_of(state: State, shape: Shape, blocks: int) -> int | None:
    """Return into how many units a state divides a dimension; None where it does not, or the extent is not known."""
    match state:
        case SplitAttr():
            extent = shape[state.dim]
            return extent // state.granule if isinstance(extent, int) else None
        case WindowAttr():
            return state.units or blocks
    return None


def uneven(states: Iterable[State], shapes: Iterable[Shape], blocks: int) -> frozenset[int]:
    """Return the numbers of units, among those of states, that the ranks do not divide evenly."""
    found = (units_of(s, shape, blocks) for s, shape in zip(states, shapes, strict=True))
    return frozenset(n for n in found if n is not None and n % blocks)
