"""Masked tiles: tiles in which the terms of all points are the identity, because the statement's conditions do not
hold.

    S0[m, n], m - n >= 0, in tiles T[m', n] of 32 rows and 16 columns   →   T[m', n] : 32·m' + 31 - 16·n >= 0

A tile is executed if the conditions can hold in it. The conditions are evaluated for all rows of a block, because nests
that run block by block read the results of all rows of the block. If rows are in no blocks, nests may tile them
differently: a later nest's tile may have masked rows beside others that are not masked. Then the tiles that write these
masked rows are executed too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlc.dialects.poly import LoopNest
from mlc.dialects.semantics.dims import Dim, DimLike, ceildiv, dim_max, dim_min, evaluate, floordiv
from mlc.passes.schedule.polyhedral.statement_view import StatementView

Ranges = Mapping[str, tuple[DimLike, DimLike]]
"""The first and the last point of each iterator, over the coordinates of tiles."""


def largest(condition: DimLike, ranges: Ranges) -> DimLike:
    """Return the largest value of an affine expression of iterators in a box."""
    ends: dict[str, DimLike] = {}
    for monomial, c in condition.terms if isinstance(condition, Dim) else ():
        if monomial:
            name = str(monomial[0])
            ends[name] = ranges[name][c > 0]
    return evaluate(condition, ends)


def conditions_of(nest: LoopNest, statements: Mapping[str, StatementView]) -> tuple[DimLike, ...]:
    """Return the conditions of a nest's tiles: those that all of its statements have, over an iterator whose blocks are
    the same in all nests of a group."""
    members = [statements[s] for s in nest.statements]
    found = {s.conditions for s in members}
    blocks = {i for i in members[0].iters if is_block(nest, members[0], i)}
    return tuple(c for c in (found.pop() if len(found) == 1 else ()) if isinstance(c, Dim) and c.symbols() & blocks)


def is_block(nest: LoopNest, s: StatementView, iterator: str) -> bool:
    """Return whether each tile is in one block of an iterator, whose points are the same for all nests of a group."""
    split = next((p for p in nest.partitions if p.iterator == iterator), None)
    return split is not None and (split.tiled or split.streamed or split.is_each(s.bounds[iterator]))


def margins(nests: Sequence[LoopNest], statements: Mapping[str, StatementView]) -> Mapping[LoopNest, float]:
    """Return, for each nest of a group, how far below 0 the largest value of a condition may be in tiles that are
    executed, so that later nests read no element that is not written."""
    found: dict[LoopNest, float] = {}
    read: dict[str, float] = {}  # the margin with which later nests read an array
    for nest in reversed(nests):
        members = [statements[s] for s in nest.statements]
        found[nest] = max((read.get(s.write.array, 0) for s in members), default=0)
        for access in (r for s in members for r in s.reads):
            read[access.array] = max(read.get(access.array, 0), found[nest] + _spread(nest, members, statements))
    return found


def _spread(nest: LoopNest, members: Sequence[StatementView], statements: Mapping[str, StatementView]) -> float:
    """Return how much a condition varies along the rows of a tile that are in no blocks; infinity if masked tiles must
    be executed too."""
    conditions = {c for s in members for c in s.conditions if isinstance(c, Dim)}
    rows = [item for item in nest.band if not is_block(nest, members[0], item.iterator)]
    points = {item.iterator: max((size for size, _ in item.sizes), default=1) for item in rows}
    if any(c.symbols() & points.keys() for c in conditions) and not conditions_of(nest, statements):
        return math.inf
    factors = (((points.get(str(m[0]), 1) - 1) * abs(factor) for m, factor in c.terms if m) for c in conditions)
    return max(map(sum, factors), default=0)


def affine_text(value: DimLike) -> str:
    """Return an affine expression of coordinates in isl's syntax."""
    terms = value.terms if isinstance(value, Dim) else (((), value),)
    return " + ".join(f"{c}*{monomial[0]}" if monomial else str(c) for monomial, c in terms)


@dataclass(frozen=True)
class InnerRanges:
    """The range of an inner iterator in a tile.

    The range has ``points`` points from ``start`` on; beyond it, all rows of the tile's block are masked. ``full``: the
    first point that is masked for no row of the tile, and the one after the last, counted from ``start``.
    """

    start: DimLike
    points: DimLike
    full: tuple[DimLike, DimLike]


def ranges_of(
    members: Sequence[StatementView], iterator: str, start: DimLike, blocks: Ranges, rows: Ranges, alone: bool = False
) -> InnerRanges:
    """Return the range of an iterator in a tile with the rows ``rows`` of a block with the rows ``blocks``. A sum of a
    nest that is ``alone`` has the terms that the rows of its tile need."""
    along = [s for s in members if iterator in s.iters]
    if len({s.conditions for s in along}) > 1:
        return InnerRanges(start, along[0].bounds[iterator], (0, 0))
    known = rows if alone and all(iterator in s.reduced for s in along) else blocks
    start, points = _unmasked_for_some(along[0], iterator, start, known)
    return InnerRanges(start, points, _unmasked_for_all(along[0], iterator, start, rows))


def _unmasked_for_some(s: StatementView, iterator: str, start: DimLike, blocks: Ranges) -> tuple[DimLike, DimLike]:
    """Return the first point that is not masked for some row of a block, and the number of points up to the last such
    one."""
    points = s.bounds[iterator]
    for factor, rest in _bounding(s, iterator, blocks):
        bound, most = largest(rest, blocks), largest(rest, {i: (0, n - 1) for i, n in s.bounds.items()})
        if factor < 0:
            bound, most = floordiv(bound, -factor), floordiv(most, -factor)
            beyond = isinstance(most, int) and isinstance(points, int) and most >= points
            points = dim_min(points, bound + 1 - start) if beyond or start != 0 else bound + 1
        elif start == 0:
            start = dim_max(0, ceildiv(-bound, factor))
            points = points - start
    return start, points


def _unmasked_for_all(s: StatementView, iterator: str, start: DimLike, rows: Ranges) -> tuple[DimLike, DimLike]:
    """Return the first point, and the one after the last, that are masked for no row of a tile, counted from ``start``;
    (0, 0) if a condition does not bound the iterator."""
    bounding = [*_bounding(s, iterator, rows)]
    if len(bounding) < len(s.conditions):
        return 0, 0
    first: DimLike = 0
    last = s.bounds[iterator]
    for factor, rest in bounding:
        least = -largest(-rest, rows)
        if factor < 0:
            last = floordiv(least, -factor) + 1 - start
        else:
            first = ceildiv(-least, factor) - start
    return first, last


def _bounding(s: StatementView, iterator: str, known: Ranges) -> Iterator[tuple[int, DimLike]]:
    """Yield the conditions that bound an iterator, as (factor, rest) with factor·iterator + rest >= 0."""
    for c in s.conditions:
        factor = dict(c.terms).get((iterator,)) if isinstance(c, Dim) else None
        rest = c - (factor or 0) * Dim.symbol(iterator)
        if factor and _names(rest) <= set(known):
            yield factor, rest


def _names(dim: DimLike) -> set[str]:
    return dim.symbols() if isinstance(dim, Dim) else set()
