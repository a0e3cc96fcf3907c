"""The accesses of statements as isl maps over the number ``rank_`` of a rank: footprints of blocks, and their equality.

Rank c computes the iterations whose element of the result, or whose reduced iterator, is in block c. What it reads of
an operand is the image of these iterations: the footprint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.expr import Const, Expr, Index, Load, children, loads, substitute
from mlc.dialects.semantics.statement import Statement
from mlc.passes.distribute.rules.affine import isl_text
from mlc.passes.distribute.rules.extents import Range, dim_text, first_text, length_text, ranges, ranks_text
from mlc.passes.distribute.rules.parametric import fixed, isl_map, isl_set

PLACE = Const(0)  # for affine indices in a skeleton


@dataclass(frozen=True)
class Factor:
    """What is divided: dimension ``dim`` of the result, or the reduced iterator ``iterator``; ``units`` units of
    ``granule`` elements in ``blocks`` blocks."""

    blocks: int
    units: DimLike
    granule: int = 1
    dim: int | None = None
    iterator: str | None = None

    @property
    def ranges(self) -> list[Range]:
        return ranges([self.units], self.blocks)

    def condition(self, s: Statement, ranks: Range) -> str | None:
        """Return which iterations of a statement rank c, one of ``ranks``, has, as text of isl; None where the index is
        not affine."""
        index = self.iterator if self.dim is None else isl_text(s.out[self.dim])
        return None if index is None else in_block(index, self.units, self.granule, self.blocks, ranks)


def box(s: Statement) -> str:
    """Return the iterations of a statement as text of isl: constraints on its iterators."""
    return " and ".join(f"0 <= {n} < {dim_text(b)}" for n, b in zip(s.iters, s.bounds, strict=True)) or "true"


def in_block(index: str, units: DimLike, granule: int, blocks: int, ranks: Range) -> str:
    begin, size = first_text(units, granule, blocks, ranks), length_text(units, granule, blocks, ranks)
    return f"{ranks_text(units, blocks, ranks)} and {begin} <= {index} < {begin} + {size}"


def footprint(s: Statement, restricted: str, at: Sequence[Expr], dim: int, extent: DimLike) -> isl.Set:
    """Return ``[rank_] -> { [x] }``: the elements along one dimension that the restricted iterations of a rank read;
    all where the index is not affine."""
    text = isl_text(at[dim])
    if text is None:
        return isl_set(["x"], [], f"0 <= x < {dim_text(extent)}")
    return isl_set(["x"], s.iters, f"x = {text} and {box(s)} and {restricted}")


def contained(found: isl.Set, begin: str, length: str, which: str) -> bool:
    """Return whether what a rank reads is in ``[begin, begin + length)``; ``which``: the ranks, as text of isl."""
    return bool(found.is_subset(isl_set(["x"], [], f"{which} and {begin} <= x < {begin} + {length}")))


def bounds(found: isl.Set, given: Mapping[str, int]) -> tuple[int, int] | None:
    """Return the first and last element that is read, for values of parameters; None where none is."""
    here = fixed(found, given)
    if here.is_empty():
        return None
    return int(here.dim_min_val(0).to_python()), int(here.dim_max_val(0).to_python())


def relation(
    s: Statement, restricted: str, shift: dict[tuple[int, int], str], reduced: dict[str, str]
) -> isl.Map | None:
    """Return ``[rank_] -> { result element -> elements read, reduced iterators }``; None if the result is not affine.

    ``shift``: what is added to an index of operand n (-1: the result) along a dimension; ``reduced``: to an iterator.
    Indices that are not affine are left out, as `skeleton` compares them.
    """
    out = [_shifted(isl_text(e), shift.get((-1, n))) for n, e in enumerate(s.out)]
    if None in out:
        return None
    read = [
        _shifted(text, shift.get((load.operand, n)))
        for load in loads(s.value)
        for n, e in enumerate(load.index or ())
        if (text := isl_text(e)) is not None
    ]
    read += [_shifted(n, reduced.get(n)) for n, r in zip(s.iters, s.reduction, strict=True) if r]
    targets = [f"o{n} = {text}" for n, text in enumerate(out)] + [f"a{n} = {text}" for n, text in enumerate(read)]
    o, a = ([f"{kind}{n}" for n in range(len(each))] for kind, each in (("o", out), ("a", read)))
    return isl_map(o, a, s.iters, " and ".join([*targets, box(s), restricted]))


def _shifted(text: str | None, by: str | None) -> str | None:
    return text if text is None or by is None else f"({text}) + {by}"


def skeleton(expr: Expr) -> Expr:
    """Return a value without its affine indices: what is computed of the elements that are read."""

    def load(read: Load) -> Expr:
        at = tuple(PLACE if isl_text(e) is not None else e for e in read.index or ())
        return Load(read.operand, at)

    return substitute(expr, load)


def counted(expr: Expr) -> set[str]:
    """Return the iterators that a value computes with, outside the affine indices of its loads."""
    if isinstance(expr, Index):
        return {expr.name}
    inside = [e for e in children(expr) if not isinstance(expr, Load) or isl_text(e) is None]
    return set().union(*map(counted, inside))
