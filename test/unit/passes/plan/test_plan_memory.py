"""Memory planning of random host programs: no step destroys what a later one reads, at any size of the dimensions."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from host_programs import ALIGN, STATIC, SYMBOLIC, Grower, Machine, starts
from hypothesis import given, settings
from hypothesis import strategies as st

from mlc.dialects import rt
from mlc.passes.assumed_extents import PLANNED
from mlc.passes.context import MlcContext
from mlc.passes.plan.insert_barriers import InsertBarriers
from mlc.passes.plan.plan_memory import PlanMemory
from mlc.passes.plan.program.arena import arena_bytes

EXTENTS = [{"n": 8, "m": 8}, {"n": 0, "m": 1}, {"n": 1, "m": 70}, {"n": 65, "m": 3}]


def planned(random: Random, sizes: list[str], redzones: bool = False) -> rt.ProgramOp:
    program = Grower(random, sizes).program()
    module = program.parent_op()
    PlanMemory(redzones).apply(MlcContext(), module)  # type: ignore[arg-type]
    InsertBarriers().apply(MlcContext(), module)  # type: ignore[arg-type]
    return program


@pytest.mark.parametrize("sizes", [STATIC, SYMBOLIC, STATIC + SYMBOLIC], ids=["static", "symbolic", "mixed"])
@settings(max_examples=40)
@given(random=st.randoms(use_true_random=False))
def test_what_is_read_is_what_was_written(sizes: list[str], random: Random) -> None:
    program = planned(random, sizes)
    for dims in EXTENTS if sizes is not STATIC else EXTENTS[:1]:
        spans = starts(program, dims)
        Machine(random, dict(dims), spans, barriers=True).run(program.body.block)
        assert all(first % ALIGN == 0 for first, _ in spans.values())
        assert arena_bytes(program, dims) == max((end for _, end in spans.values()), default=0)


@settings(max_examples=30)
@given(random=st.randoms(use_true_random=False), sizes=st.sampled_from([STATIC, SYMBOLIC]))
def test_the_arena_is_that_of_the_attribute(sizes: list[str], random: Random) -> None:
    program = planned(random, sizes)
    arena = {name: value.value.data for name, value in program.arena.data.items() if name != "at"}  # type: ignore[union-attr]
    spans = starts(program, {"n": PLANNED, "m": PLANNED})
    assert arena["live"] <= arena["bytes"] == max((end for _, end in spans.values()), default=0)


@settings(max_examples=30)
@given(random=st.randoms(use_true_random=False), sizes=st.sampled_from([STATIC, SYMBOLIC]))
def test_with_redzones_no_buffers_share_bytes(sizes: list[str], random: Random) -> None:
    program = planned(random, sizes, redzones=True)
    for dims in EXTENTS:
        spans = sorted(starts(program, dims).values())
        assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))
