"""Dependences between statement instances, and the proof that a schedule keeps them (isl)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence, Set
from functools import lru_cache

import islpy as isl

from mlc.passes.schedule.polyhedral.statement_view import StatementView


@lru_cache(maxsize=4096)
def element_access(domain: str, access: str) -> isl.Map:
    """An access of a statement, restricted to its domain."""
    return isl.Map(access).intersect_domain(isl.Set(domain))


def _touches(s: StatementView) -> list[tuple[str, bool, str]]:
    """(array, whether it is written, text of the access) of each access of a statement."""
    arrays = [*((r.array, False) for r in s.reads), (s.write.array, True)]
    return [(array, write, text) for (array, write), text in zip(arrays, s.accesses, strict=True)]


def between(a: StatementView, b: StatementView, skip: Set[str] = frozenset()) -> isl.UnionMap:
    """Pairs of instances of two statements that access one element, at least one writing it; not of arrays in
    ``skip``."""
    total = isl.UnionMap("{ }")
    for (array, writes, x), (other, overwrites, y) in itertools.product(_touches(a), _touches(b)):
        if array == other and array not in skip and (writes or overwrites):
            first, second = element_access(a.domain, x), element_access(b.domain, y)
            total = total.union(isl.UnionMap.from_map(first.apply_range(second.reverse())))
    return total


def dependences(statements: Sequence[StatementView], skip: Set[str] = frozenset()) -> isl.UnionMap:
    """Pairs of dependent instances, the first before the second in program order.

    Instances of one reduction are related in both directions: their order is free, but they must share an accumulator.
    """
    total = isl.UnionMap("{ }")
    for a, b in itertools.combinations_with_replacement(statements, 2):
        total = total.union(between(a, b, skip))
    return total


def independent(statements: Sequence[StatementView]) -> bool:
    """Whether no instance of a statement depends on one of another."""
    return all(between(a, b).is_empty() for a, b in itertools.combinations(statements, 2))


def components(statements: Sequence[StatementView]) -> list[list[StatementView]]:
    """The connected components of the dependence graph: S0 → S1 and S2 → S3 → S4 are two."""
    parts: list[list[StatementView]] = []
    for s in statements:
        linked = [p for p in parts if not all(between(other, s).is_empty() for other in p)]
        parts = [p for p in parts if p not in linked] + [[*itertools.chain(*linked), s]]
    order = {s.name: n for n, s in enumerate(statements)}
    return sorted((sorted(p, key=lambda s: order[s.name]) for p in parts), key=lambda p: order[p[0].name])


def within_tiles(deps: isl.UnionMap, expansion: isl.UnionMap) -> bool:
    """Whether both instances of every dependence are in one tile instance: tiles then run in any order, on any
    thread."""
    tile_of = expansion.reverse()
    across = deps.apply_domain(tile_of).apply_range(tile_of)
    same = across.domain().identity()
    return bool(across.is_subset(same))


def one_point(statements: Sequence[StatementView], band: Sequence[str]) -> bool:
    """Whether all dependences relate instances that agree on the iterators ``band``."""
    points = isl.UnionMap("{ }")
    for s in statements:
        project = isl.Map(f"{s.params.prefix}{{ {s.name}[{', '.join(s.iters)}] -> [{', '.join(band)}] }}")
        points = points.union(isl.UnionMap.from_map(project.intersect_domain(isl.Set(s.domain))))
    across = dependences(statements).apply_domain(points).apply_range(points)
    return bool(across.is_subset(across.domain().identity()))
