"""What schedule rules propose beside their first choice: legal, and each computes the same."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from compiled import build, compare, references
from random_kernels import Builder, Kernels
from xdsl.dialects.builtin import ModuleOp

from mlc.dialects.kernel import FuncOp
from mlc.dialects.poly import ScheduleAttr
from mlc.driver import lower as pipeline
from mlc.options import Options
from mlc.passes.schedule.choose_schedule import cpu_schedules
from mlc.passes.schedule.partition_parallel_loops import split_like
from mlc.passes.schedule.polyhedral.statement_view import statements_of
from mlc.passes.schedule.rules.candidates import by_rank, first_of
from mlc.pipelines import STAGES

SIZES = [{"batch": 1, "seq": 1}, {"batch": 3, "seq": 17}, {"batch": 37, "seq": 5}]
COUNT = 12


def scheduled(seed: int, symbols: tuple[str, ...]) -> tuple[Builder, ModuleOp]:
    builder = Builder(seed)
    return builder, builder.module(*Kernels(builder, seed, symbols).add(times=1))


def candidates(module: ModuleOp) -> dict[str, list[str]]:
    """The first schedules of each kernel, after checking that the very first is chosen and all of them are legal."""
    found = {}
    for fn in [o for o in module.ops if isinstance(o, FuncOp)]:
        statements = statements_of(fn)
        if not statements:
            continue
        machine = Options().target
        chosen = fn.schedule
        assert isinstance(chosen, ScheduleAttr)
        first = [split_like(s, chosen) for s in islice(cpu_schedules(fn, machine), COUNT)]
        assert chosen == first[0]
        for schedule in dict.fromkeys(first):
            alone = fn.clone()
            alone.schedule = schedule
            pipeline.run(ModuleOp([alone]), Builder(0).weights, Options(), ("tile", "loops"))
            assert alone.origin.plain is None, schedule
        found[fn.sym_name.data] = [schedule.text for schedule in first]
    return found


@pytest.mark.parametrize("symbols", [(), ("batch", "seq")], ids=["static", "symbolic"])
def test_candidates_compute_the_same(symbols: tuple[str, ...], tmp_path: Path) -> None:
    seed = secrets.randbits(32)
    random = Random(seed)
    builder, module = scheduled(seed, symbols)
    expected = references(builder, module, SIZES if symbols else [{}])
    again, chosen = scheduled(seed, symbols)
    pipeline.run(chosen, again.weights, Options(), STAGES[: STAGES.index("tile")])
    lines = [f"{name}: {random.choice(given)}" for name, given in candidates(chosen).items()]
    text = "\n".join(lines)
    compare(build(builder, module, tmp_path, tmp_path, schedule=text), expected, f"seed {seed} with\n{text}")


def test_the_nearest_to_the_first_come_first() -> None:
    assert list(by_rank("ab", "xyx")) == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert list(by_rank("abc", "x")) == [("a", "x"), ("b", "x"), ("c", "x")]


def test_rules_after_the_first_that_applies_are_not_evaluated() -> None:
    def never() -> Iterator[int]:
        raise AssertionError
        yield 0

    assert list(first_of([iter([]), iter([1, 2]), never()])) == [1, 2]
