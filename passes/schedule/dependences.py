"""Dependences between statements, and the proof that a schedule keeps them (isl)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache

import islpy as isl

from mlc.passes.schedule.view import StatementView

PRODUCT = re.compile(r"p\d+")  # what ``Params`` names an expression that is no symbol


@lru_cache(maxsize=4096)
def element_access(domain: str, access: str) -> isl.Map:
    """An access of a statement, restricted to its domain; no symbol of a size is negative."""
    points = isl.Set(domain)
    for n in range(points.dim(isl.dim_type.param)):
        if not PRODUCT.fullmatch(points.get_dim_name(isl.dim_type.param, n) or ""):
            points = points.lower_bound_val(isl.dim_type.param, n, isl.Val(0))
    return isl.Map(access).intersect_domain(points)


def _touches(s: StatementView) -> list[tuple[str, bool, str]]:
    """(array, is it written, text of the access) of each access of a statement."""
    arrays = [*((r.array, False) for r in s.reads), (s.write.array, True)]
    return [(array, write, text.data) for (array, write), text in zip(arrays, s.op.accesses, strict=True)]


def between(a: StatementView, b: StatementView) -> isl.UnionMap:
    """Pairs of instances of two statements that touch an element, at least one writing it."""
    total = isl.UnionMap("{ }")
    for (array, writes, x), (other, overwrites, y) in itertools.product(_touches(a), _touches(b)):
        if array == other and (writes or overwrites):
            first, second = element_access(a.op.domain.data, x), element_access(b.op.domain.data, y)
            total = total.union(isl.UnionMap.from_map(first.apply_range(second.reverse())))
    return total


def dependences(statements: Sequence[StatementView]) -> isl.UnionMap:
    """Pairs of dependent instances, the first before the second in program order.

    Instances of one reduction are related both ways: their order is free, but they must share an accumulator.
    """
    total = isl.UnionMap("{ }")
    for a, b in itertools.combinations_with_replacement(statements, 2):
        total = total.union(between(a, b))
    return total


def independent(statements: Sequence[StatementView]) -> bool:
    """Whether no instance of a statement depends on one of another."""
    return all(between(a, b).is_empty() for a, b in itertools.combinations(statements, 2))


def components(statements: Sequence[StatementView]) -> list[list[StatementView]]:
    """The finest partition without dependences between its parts: S0 → S1, S2 → S3 → S4 are two of them."""
    parts: list[list[StatementView]] = []
    for s in statements:
        linked = [p for p in parts if not all(between(other, s).is_empty() for other in p)]
        parts = [p for p in parts if p not in linked] + [[*itertools.chain(*linked), s]]
    order = {s.name: n for n, s in enumerate(statements)}
    return sorted((sorted(p, key=lambda s: order[s.name]) for p in parts), key=lambda p: order[p[0].name])


def within_tiles(deps: isl.UnionMap, expansion: isl.UnionMap) -> bool:
    """Whether both ends of every dependence lie in one tile instance: tiles may then run in any order and place."""
    tile_of = expansion.reverse()
    across = deps.apply_domain(tile_of).apply_range(tile_of)
    same = across.domain().identity()
    return bool(across.is_subset(same))


def one_point(statements: Sequence[StatementView], band: Sequence[str]) -> bool:
    """Whether all dependences relate instances that agree on the iterators ``band``."""
    points = isl.UnionMap("{ }")
    for s in statements:
        domain = isl.Set(s.op.domain.data)
        head, body = domain.to_str().split("{", 1)
        project = isl.Map(f"{head}{{ {s.name}[{', '.join(s.iters)}] -> [{', '.join(band)}] }}")
        points = points.union(isl.UnionMap.from_map(project.intersect_domain(domain)))
    across = dependences(statements).apply_domain(points).apply_range(points)
    return bool(across.is_subset(across.domain().identity()))
