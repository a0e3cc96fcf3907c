"""Extents in balanced blocks: of n units rank c has n // p, and one more where c < n % p, as ``numpy.array_split``.

A unit is an element, or as many elements as follow from one: of a tensor 7x4 that is reshaped to 28, blocks of 7 units
of 4 elements. Where the ranks divide the units evenly a block is an integer, else a symbol of the program. Units that
are known at run time only, n, have a symbol too, unless they are a multiple of p whatever n is, as 4 n of 2 ranks. What
holds of all their blocks is proved of *any* block of them: where it begins and how long it is are parameters of isl.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from mlc.dialects.dist.states import SplitAttr, State, WindowAttr
from mlc.dialects.semantics.blocks import count
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.semantics.expr import Call, Const, Expr, parse
from mlc.dialects.types import Shape
from mlc.passes.distribute.rules.affine import isl_text

Range = tuple[int, int]
"""Ranks from the first to before the second, whose blocks have equal sizes."""


def static(extent: DimLike) -> int:
    """Return an extent that is an integer; rules make no strategies for others."""
    assert isinstance(extent, int), extent
    return extent


def ranges(units: Iterable[DimLike], blocks: int) -> list[Range]:
    """Return the ranks in groups in each of which blocks of all these units have one size, or are proved at once."""
    ends = sorted({0, blocks, *(each % blocks for each in units if isinstance(each, int))})
    return list(pairwise(ends))


def first_text(units: DimLike, granule: int, blocks: int, ranks: Range) -> str:
    """Return the first element of the block of rank ``rank_``, one of ``ranks``, as text of isl."""
    if isinstance(units, Dim):
        return f"{granule} * {first_name(units)}"
    size = count(units, blocks, ranks[0]) * granule
    rest = 0 if ranks[0] < units % blocks else units % blocks * granule
    return f"rank_ * {size} + {rest}" if rest else f"rank_ * {size}"


def length_text(units: DimLike, granule: int, blocks: int, ranks: Range) -> str:
    """Return the elements of the block of rank ``rank_``, one of ``ranks``, as text of isl."""
    if isinstance(units, Dim):
        return f"{granule} * ({dim_text(block(units, blocks))})"
    return str(count(units, blocks, ranks[0]) * granule)


def ranks_text(units: DimLike, blocks: int, ranks: Range) -> str:
    """Return which blocks a proof is about, as text of isl: those of ``ranks``, or any block of a run-time extent."""
    if isinstance(units, Dim):
        begin, size = first_name(units), dim_text(block(units, blocks))
        return f"0 <= {begin} and 0 <= {size} and {begin} + {size} <= {dim_text(units)}"
    return f"{ranks[0]} <= rank_ < {ranks[1]}"


def dim_text(extent: DimLike) -> str | None:
    """Return an extent as text of isl; None where it is not affine, such as a product of run-time extents."""
    return str(extent) if isinstance(extent, int) else isl_text(parse(str(extent)))


def first_of(units: DimLike, granule: int, blocks: int, number: Expr) -> Expr:
    """Return the first element of the block of the rank with this number."""
    begin = Call("mul", (number, expr_of(units // blocks * granule)))
    if units % blocks == 0:
        return begin
    return Call("add", (begin, Call("mul", (Call("min", (number, expr_of(units % blocks))), Const(granule)))))


def expr_of(extent: DimLike) -> Expr:
    """Return an extent as an expression of values."""
    return Const(extent) if isinstance(extent, int) else parse(str(extent))


def size_of(units: DimLike, blocks: int, rank: int | None) -> DimLike:
    """Return the units of a rank's block; without its number, or of a run-time extent, a symbol where they differ."""
    return block(units, blocks) if rank is None or isinstance(units, Dim) else count(units, blocks, rank)


def block(units: DimLike, blocks: int) -> DimLike:
    """Return the units of a block: a symbol where they are not the same on all ranks."""
    return units // blocks if units % blocks == 0 else Dim.symbol(symbol(units))


def symbol(units: DimLike) -> str:
    """Return the name that rules give to the size of a block; the partition replaces it by one of the program."""
    return f"part{mangled(units)}"


def mangled(units: DimLike) -> str:
    """Return an extent as a part of a name: ``(n-1)//2`` has characters that names have not."""
    return re.sub(r"\W", lambda found: f"_{ord(found[0]):x}_", str(units))


def first_name(units: Dim) -> str:
    """Return the parameter of isl that is the first unit of a block of a run-time extent."""
    return f"first{mangled(units)}"


def granule_of(extent: DimLike, units: DimLike) -> int | None:
    """Return how many elements follow from one unit; None where units do not divide an extent."""
    if units == 0 or extent % units != 0:
        return None
    found = extent // units
    return found if isinstance(found, int) else None


def units_of(state: State, shape: Shape, blocks: int) -> DimLike | None:
    """Return into how many units a state divides a dimension; None where it does not."""
    match state:
        case SplitAttr():
            return shape[state.dim] // state.granule
        case WindowAttr():
            return state.units or blocks
    return None


def uneven(states: Iterable[State], shapes: Iterable[Shape], blocks: int) -> frozenset[DimLike]:
    """Return the numbers of units, among those of states, that the ranks do not divide evenly."""
    found = (units_of(s, shape, blocks) for s, shape in zip(states, shapes, strict=True))
    return frozenset(n for n in found if n is not None and n % blocks != 0)
