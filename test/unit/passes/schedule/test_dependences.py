"""What indices show about dependences is so, and tiles that are known to cover an extent do: by enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any, cast

import pytest

from mlc.dialects.poly import ScheduleError, TiledLoop
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate
from mlc.passes.schedule.polyhedral import dependences
from mlc.passes.schedule.polyhedral.dependences import agree, depend, one_point
from mlc.passes.schedule.polyhedral.isl_text import Params
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView
from mlc.passes.tile.tree.segments import Segment, covers, segments

ITERATORS = ("i", "j", "k")


def statement(name: str, random: Random) -> StatementView:
    """A statement of two or three iterators that reads and writes t0, of rank 2, or reads t1."""
    iters = ITERATORS[: random.randint(2, 3)]
    bounds: dict[str, DimLike] = {i: random.randint(1, 4) for i in iters}

    def index() -> DimLike:
        factors = random.choices((0, 1, 1, 2, 4, -1), k=len(iters))
        terms = [f * Dim.symbol(i) for f, i in zip(factors, iters, strict=True)]
        return cast(DimLike, sum(random.sample(terms, random.randint(0, 2)), random.choice((0, 0, 1, 3))))

    def access(array: str) -> Access:
        plain = random.random() < 0.4
        return Access(array, (Dim.symbol("i"), Dim.symbol("j")) if plain else (index(), index()), (50, 50))

    write, read = access("t0"), access(random.choice(("t0", "t1")))
    dims = [*write.index, *read.index, *bounds.values()]
    return StatementView(cast(Any, None), name, iters, bounds, (read,), write, Params(dims, frozenset(iters)))


def dependent(statements: list[StatementView]) -> Iterator[tuple[dict[str, int], dict[str, int], bool]]:
    """The pairs of instances that access one element, of which one writes it; whether they are of two statements."""
    for a, b in itertools.combinations_with_replacement(statements, 2):
        for p, q in itertools.product(_points(a), _points(b)):
            for x, y in itertools.product((*a.reads, a.write), (*b.reads, b.write)):
                writes = x is a.write or y is b.write
                if writes and x.array == y.array and _element(x, p) == _element(y, q):
                    yield p, q, a is not b


def _points(s: StatementView) -> list[dict[str, int]]:
    ranges = [range(int(cast(int, n))) for n in s.bounds.values()]
    return [dict(zip(s.iters, point, strict=True)) for point in itertools.product(*ranges)]


def _element(access: Access, point: dict[str, int]) -> tuple[DimLike, ...]:
    return tuple(evaluate(i, point) for i in access.index)


def test_boxes_of_constant_extents_need_no_isl(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = dependences.meet
    monkeypatch.setattr(dependences, "meet", lambda *sets: asked.append(sets[0]) or ask(*sets))
    pairs = 0
    for seed in range(300):
        random = Random(seed)
        a, b = (statement(f"S{n}", random) for n in range(2))
        elements = [{_element(x, p) for p in _points(s)} for s, x in ((a, a.write), (b, b.write))]
        met = dependences._meet(a, a.write, a.accesses[-1], b, b.write, b.accesses[-1])
        assert met == bool(elements[0] & elements[1]), seed
        pairs += 1
    assert len(asked) < pairs / 2


def test_points_of_dependent_instances() -> None:
    shown = dependences = 0
    for seed in range(300):
        random = Random(seed)
        statements = [statement(f"S{n}", random) for n in range(2)]
        band = random.sample(["i", "j"], random.randint(1, 2))
        pairs = list(dependent(statements))
        truth = all(p[i] == q[i] for p, q, _ in pairs for i in band)
        assert truth or not agree(statements, band), seed
        assert one_point(statements, band) == truth, seed
        assert depend(*statements) == any(two for _, _, two in pairs), seed
        shown, dependences = shown + agree(statements, band), dependences + truth
    assert 0 < shown <= dependences < 300


def test_tiles_that_cover() -> None:
    random, known = Random(0), 0
    for _ in range(300):
        sizes = tuple((random.randint(1, 9), random.choice((None, None, 1, 2))) for _ in range(random.randint(1, 3)))
        padded = len(sizes) == 1 and sizes[0][1] is None and random.random() < 0.5
        item = TiledLoop("i", sizes, vectorized=random.random() < 0.5, padded=padded)
        extent = random.choice((Dim.symbol("n"), 2 * Dim.symbol("n") + 1, random.randint(1, 30)))
        try:
            tiles = segments(item, extent)
        except ScheduleError:
            continue
        known += covers(tiles, extent)
        for n in range(1, 20) if covers(tiles, extent) else ():
            found = [p for tile in tiles for p in _points_of(tile, n)]
            assert [p for p in found if p < _number(extent, n)] == [*range(_number(extent, n))], item
    assert known > 50


def _points_of(tile: Segment, n: int) -> range:
    first = _number(tile.start, n)
    return range(first, first + _number(tile.count, n) * tile.size)


def _number(dim: DimLike, n: int) -> int:
    return int(cast(int, evaluate(dim, {"n": n})))
