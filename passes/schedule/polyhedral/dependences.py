"""Dependences between statement instances, and the proof that a schedule keeps them (isl).

isl is called only if comparing indices does not give the answer: sets, maps and their unions take most of the time of a
small kernel.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache

import islpy as isl

from mlc.dialects.semantics.dims import Dim, DimLike, Monomial
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView


@lru_cache(maxsize=4096)
def element_access(domain: str, access: str) -> isl.Map:
    """Return an access of a statement, restricted to the statement's domain."""
    return isl.Map(access).intersect_domain(isl.Set(domain))


def _sharing(
    a: StatementView, b: StatementView, skip: Set[str] = frozenset()
) -> Iterator[tuple[Access, str, Access, str]]:
    """Yield the pairs of accesses of two statements to one array, with their isl strings, if at least one of them
    writes. Arrays in ``skip`` are left out."""
    for (x, text, writes), (y, other, overwrites) in itertools.product(a.labelled, b.labelled):
        if (writes or overwrites) and x.array == y.array and x.array not in skip:
            yield x, text, y, other


@lru_cache(maxsize=4096)
def meet(domain: str, access: str, other_domain: str, other: str) -> bool:
    """Return whether two statements access an element in common."""
    elements = element_access(domain, access).range().intersect(element_access(other_domain, other).range())
    return not elements.is_empty()


def _meet(a: StatementView, x: Access, text: str, b: StatementView, y: Access, other: str) -> bool:
    """``meet`` of two accesses of these statements, which boxes of constant extents answer without isl."""
    one, two = _box_of(a, x), _box_of(b, y)
    if one is not None and two is not None:
        sides = zip(one[0], two[0], strict=True)
        if any(low > other_high or other_low > high for (low, high), (other_low, other_high) in sides):
            return False
        if one[1] and two[1]:
            return True
    return meet(a.domain, text, b.domain, other)


def _box_of(s: StatementView, access: Access) -> tuple[list[tuple[int, int]], bool] | None:
    """Return the least and the largest value of each index of an access, and whether it reaches all elements of this
    box: no iterator is in two indices, and the values of an index are consecutive. None if an extent is not constant
    or an index is not linear."""
    extents = {i: extent for i, extent in s.bounds.items() if isinstance(extent, int) and extent > 0}
    if len(extents) < len(s.bounds):
        return None
    sides, names, whole = [], set[str](), True
    for index in access.index:
        low = high = reach = 0
        terms = index.terms if isinstance(index, Dim) else [((), index)]
        for monomial, c in sorted(terms, key=lambda term: abs(term[1])):
            if not all(isinstance(atom, str) and atom in extents for atom in monomial) or len(monomial) > 1:
                return None
            span = c * (extents[monomial[0]] - 1) if monomial else 0  # type: ignore[index]
            start = 0 if monomial else c
            whole = whole and (not span or (abs(c) <= reach + 1 and monomial[0] not in names))
            low, high, reach = low + start + min(span, 0), high + start + max(span, 0), reach + abs(span)
            names.update(monomial)  # type: ignore[arg-type]
        sides.append((low, high))
    return sides, whole


def depend(a: StatementView, b: StatementView) -> bool:
    """Return whether an instance of one statement depends on an instance of the other."""
    return any(_meet(a, x, text, b, y, other) for x, text, y, other in _sharing(a, b))


def agree(statements: Sequence[StatementView], band: Sequence[str], skip: Set[str] = frozenset()) -> bool:
    """Return whether indices alone show that dependent instances have the same point of ``band``: for each iterator of
    ``band``, both accesses of an element have one index that determines it. False means that indices do not show it."""
    return all(
        {*band} <= {i for n, m in zip(x.index, y.index, strict=True) if n == m for i in _determined(n, a, b)}
        or not _meet(a, x, text, b, y, other)
        for a, b in itertools.combinations_with_replacement(statements, 2)
        for x, text, y, other in _sharing(a, b, skip)
    )


def _determined(index: DimLike, a: StatementView, b: StatementView) -> Set[str]:
    """Return the iterators whose values an index determines in two statements: both of ``6*i + j`` if j has at most 6
    points. A symbolic number of points counts as at least 1, and only the largest term may have one."""
    if not isinstance(index, Dim):
        return frozenset()
    terms = [(abs(c), m) for m, c in index.terms if not _is_parameter(m, a, b)]
    reach: float = 0  # how far two values of the smaller terms can be apart
    for c, monomial in sorted(terms, key=lambda term: term[0]):
        if len(monomial) != 1 or not isinstance(monomial[0], str) or c <= reach:
            return frozenset()
        extents = [s.bounds.get(monomial[0], 1) for s in (a, b)]
        known = [n for n in extents if isinstance(n, int)]
        reach += c * (max(known) - 1) if len(known) == len(extents) else math.inf
    return {str(m[0]) for _, m in terms}


def _is_parameter(monomial: Monomial, a: StatementView, b: StatementView) -> bool:
    if len(monomial) == 1 and isinstance(monomial[0], str):
        return monomial[0] not in a.bounds and monomial[0] not in b.bounds
    return Dim(((monomial, 1),)).symbols().isdisjoint((*a.bounds, *b.bounds))


def between(a: StatementView, b: StatementView, skip: Set[str] = frozenset()) -> isl.UnionMap:
    """Return the pairs of instances of two statements that access a common element, if at least one of them writes.
    Arrays in ``skip`` are left out."""
    total = isl.UnionMap("{ }")
    for _, x, _, y in _sharing(a, b, skip):
        first, second = element_access(a.domain, x), element_access(b.domain, y)
        total = total.union(isl.UnionMap.from_map(first.apply_range(second.reverse())))
    return total


def dependences(statements: Sequence[StatementView], skip: Set[str] = frozenset()) -> isl.UnionMap:
    """Return pairs of dependent instances, the first before the second in program order.

    Instances of one reduction are related in both directions: their order is free, but they must share an accumulator.
    """
    total = isl.UnionMap("{ }")
    for a, b in itertools.combinations_with_replacement(statements, 2):
        total = total.union(between(a, b, skip))
    return total


def independent(statements: Sequence[StatementView]) -> bool:
    """Return whether no instance of a statement depends on an instance of another statement."""
    return not any(depend(a, b) for a, b in itertools.combinations(statements, 2))


def components(statements: Sequence[StatementView]) -> list[list[StatementView]]:
    """Return the connected components of the dependence graph: S0 → S1 and S2 → S3 → S4 are two."""
    parts: list[list[StatementView]] = []
    for s in statements:
        linked = [p for p in parts if any(depend(other, s) for other in p)]
        parts = [p for p in parts if p not in linked] + [[*itertools.chain(*linked), s]]
    order = {s.name: n for n, s in enumerate(statements)}
    return sorted((sorted(p, key=lambda s: order[s.name]) for p in parts), key=lambda p: order[p[0].name])


def within_tiles(deps: isl.UnionMap, expansion: isl.UnionMap) -> bool:
    """Return whether both instances of every dependence are in one tile instance, so that tiles may run in any order,
    on any thread."""
    tile_of = expansion.reverse()
    across = deps.apply_domain(tile_of).apply_range(tile_of)
    same = across.domain().identity()
    return bool(across.is_subset(same))


def one_point(statements: Sequence[StatementView], band: Sequence[str]) -> bool:
    """Return whether all dependences relate instances that agree on the iterators ``band``."""
    if agree(statements, band):
        return True
    points = isl.UnionMap("{ }")
    for s in statements:
        project = isl.Map(f"{s.params.prefix}{{ {s.name}[{', '.join(s.iters)}] -> [{', '.join(band)}] }}")
        points = points.union(isl.UnionMap.from_map(project.intersect_domain(isl.Set(s.domain))))
    across = dependences(statements).apply_domain(points).apply_range(points)
    return bool(across.is_subset(across.domain().identity()))
