"""Any legal schedule computes the same: random tile sizes in place of the chosen ones, and blocks for threads."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from compiled import build, compare, references
from random_kernels import Builder, Kernels
from xdsl.dialects.builtin import ModuleOp

from mlc.dialects.kernel import FuncOp
from mlc.dialects.poly import LoopNest, Partition, TiledLoop, groups_of, schedule_of, schedule_text
from mlc.driver.lower import lower
from mlc.options import Options
from mlc.passes.schedule.polyhedral.statement_view import StatementView, statements_of

SIZES = [{"batch": 1, "seq": 1}, {"batch": 3, "seq": 17}, {"batch": 37, "seq": 5}]


def other(chosen: Sequence[LoopNest], statements: Mapping[str, StatementView], random: Random) -> str:
    """The same nests with other tiles, and often blocks: at most two axes are tiled, by at most 8 × 20 points.

    Where a nest has its lanes inside, its band stays: a sum along the lanes makes one element at a time.
    """
    nests = []
    for nest in chosen:
        inside = any(i.vectorized for i in nest.inner)
        rows = random.choice([i.iterator for i in nest.band if not i.vectorized and not inside] or [""])
        band = [_other(i, rows, random) for i in nest.band]
        nest = replace(nest, band=tuple(band), inner=tuple(_other(i, "", random) for i in nest.inner))
        nests.append(nest)
    alone = [len(group) == 1 for group in groups_of(nests) for _ in group]
    return schedule_text(_split(n, statements, random) if a else n for n, a in zip(nests, alone, strict=True))


def _split(nest: LoopNest, statements: Mapping[str, StatementView], random: Random) -> LoopNest:
    """In blocks of random iterators of the band, of more than they have points at times, or in none."""
    bounds = statements[nest.statements[0]].bounds
    extents = [(i.iterator, e) for i in nest.band if isinstance(e := bounds[i.iterator], int)]
    chosen = random.sample(extents, random.randint(0, min(2, len(extents))))
    return replace(nest, partitions=tuple(_blocks(i, extent, nest, random) for i, extent in chosen))


def _blocks(iterator: str, extent: int, nest: LoopNest, random: Random) -> Partition:
    """Blocks of an iterator; equal ones whose tiles repeat where its tiles cover any extent."""
    (sizes,) = (i.sizes for i in nest.band if i.iterator == iterator)
    equal = [n for n in range(1, extent + 1) if extent % n == 0]
    if equal and all(count is None for _, count in sizes) and random.random() < 0.5:
        return Partition(iterator, random.choice(equal), True)
    return Partition(iterator, random.randint(1, extent + 2))


def _other(item: TiledLoop, rows: str, random: Random) -> TiledLoop:
    if item.vectorized:
        sizes = [(random.randint(2, 20), None) for _ in range(random.randint(1, 2))]
        return replace(item, sizes=tuple(sorted(sizes, reverse=True)))
    if item.iterator != rows:
        return item
    size, padded = random.randint(1, 8), random.random() < 0.5
    return replace(item, sizes=((size, None),) if padded else ((size, None), (1, None)), padded=padded)


def random_schedules(module: ModuleOp, random: Random) -> str:
    """A line a kernel: the chosen schedule with other tiles."""
    lines = []
    for fn in [o for o in module.ops if isinstance(o, FuncOp)]:
        chosen = other(schedule_of(fn), {s.name: s for s in statements_of(fn)}, random)
        lines.append(f"{fn.sym_name.data}: {chosen}")
    return "\n".join(lines)


@pytest.mark.parametrize("symbols", [(), ("batch", "seq")], ids=["static", "symbolic"])
def test_random_tiles(symbols: tuple[str, ...], tmp_path: Path) -> None:
    seed = secrets.randbits(32)
    modules = []
    for _ in range(2):
        builder = Builder(seed)
        modules.append((builder, builder.module(*Kernels(builder, seed, symbols).add(times=2))))
    (builder, module), (again, chosen) = modules
    expected = references(builder, module, SIZES if symbols else [{}])
    text = random_schedules(lower(chosen, again.weights, Options(), "schedule").module, Random(seed))
    compare(build(builder, module, tmp_path, tmp_path, schedule=text), expected, f"seed {seed} with\n{text}")
