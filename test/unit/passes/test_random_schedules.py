"""Any legal schedule computes the same: random tile sizes in place of the chosen ones, and blocks for threads."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from compiled import build, compare, references
from random_kernels import Builder, Kernels
from xdsl.dialects.builtin import ModuleOp, StringAttr

from mlc.dialects.kernel import FuncOp
from mlc.options import Options
from mlc.passes.schedule.schedule import SCHEDULE, Item, Nest, Split, groups_of, parse_schedule, schedule_text
from mlc.passes.schedule.view import StatementView, statements_of
from mlc.pipeline import lower

SIZES = [{"batch": 1, "seq": 1}, {"batch": 3, "seq": 17}, {"batch": 37, "seq": 5}]


def other(schedule: str, statements: Mapping[str, StatementView], random: Random) -> str:
    """The same nests with other tiles, and often blocks: at most two axes are tiled, by at most 8 × 20 points.

    Where a nest has its lanes inside, its band stays: a sum along the lanes makes one element at a time.
    """
    nests = []
    for nest in parse_schedule(schedule):
        inside = any(i.lanes for i in nest.inner)
        rows = random.choice([i.iterator for i in nest.band if not i.lanes and not inside] or [""])
        band = [_other(i, rows, random) for i in nest.band]
        nest = replace(nest, band=tuple(band), inner=tuple(_other(i, "", random) for i in nest.inner))
        nests.append(nest)
    alone = [len(group) == 1 for group in groups_of(nests) for _ in group]
    return schedule_text(_split(n, statements, random) if a else n for n, a in zip(nests, alone, strict=True))


def _split(nest: Nest, statements: Mapping[str, StatementView], random: Random) -> Nest:
    """In blocks of random iterators of the band, of more than they have points at times, or in none."""
    bounds = statements[nest.statements[0]].bounds
    extents = [(i.iterator, e) for i in nest.band if isinstance(e := bounds[i.iterator], int)]
    chosen = random.sample(extents, random.randint(0, min(2, len(extents))))
    return replace(nest, splits=tuple(Split(i, random.randint(1, extent + 2)) for i, extent in chosen))


def _other(item: Item, rows: str, random: Random) -> Item:
    if item.lanes:
        return replace(item, sizes=((random.randint(2, 20), None),))
    return replace(item, sizes=((random.randint(1, 8), None), (1, None)) if item.iterator == rows else item.sizes)


def random_schedules(module: ModuleOp, random: Random) -> str:
    """A line a kernel: the chosen schedule with other tiles."""
    lines = []
    for fn in [o for o in module.ops if isinstance(o, FuncOp)]:
        chosen = fn.attributes[SCHEDULE]
        assert isinstance(chosen, StringAttr)
        lines.append(f"{fn.sym_name.data}: {other(chosen.data, {s.name: s for s in statements_of(fn)}, random)}")
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
