"""Schedules differ by target because facts differ: CPUs that nobody builds, with other registers, caches and ports."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from graph_checks import GraphBuilder, ops
from xdsl.ir import SSAValue

from mlc import target as targets
from mlc.dialects.graph import ContractOp, ConvOp, MapOp, ReduceOp
from mlc.dialects.kernel import FuncOp
from mlc.dialects.poly import LoopNest, schedule_of
from mlc.driver.lower import lower
from mlc.options import Options

USUAL = "x86-64-v4"
Make = Callable[[GraphBuilder], SSAValue]


def nests(make: Make, target: str | targets.Target) -> list[LoopNest]:
    """The loop nests of all kernels of what ``make`` adds."""
    b = GraphBuilder()
    module = b.module(make(b))
    chosen = targets.get(target) if isinstance(target, str) else target
    lower(module, b.weights, Options(target=chosen), until="schedule")
    return [nest for fn in ops(module, FuncOp) for nest in schedule_of(fn)]


def product(rows: int, terms: int, columns: int) -> Make:
    return lambda b: b.add(ContractOp("mk,kn->mn", b.input(rows, terms), b.weight(terms, columns)))


def sizes(nest: LoopNest) -> dict[str, int]:
    """The largest tile of each iterator."""
    return {item.iterator: item.size for item in nest.band}


@pytest.mark.parametrize(("registers", "rows"), [(8, 2), (16, 6), (32, 14)])
def test_few_registers_make_small_register_tiles(registers: int, rows: int) -> None:
    """Two vectors of columns a row, one more row of the right operand, one broadcast: 2 rows + 2 + 1 registers."""
    (nest,) = nests(product(840, 256, 96), f"{USUAL}:vector_registers={registers}")
    assert sizes(nest) == {"m": rows, "n": 32}


@pytest.mark.parametrize("bits", [128, 256, 512])
def test_panels_are_two_vectors_wide(bits: int) -> None:
    (nest,) = nests(product(64, 256, 96), f"{USUAL}:vector_bits={bits}")
    assert sizes(nest)["n"] == 2 * bits // 32 and nest.band[0].vectorized


@pytest.mark.parametrize(("ports", "columns"), [(1, 32), (2, 64)])
def test_two_ports_want_more_sums_of_few_rows(ports: int, columns: int) -> None:
    """Two rows of two vectors are half of the sums that two ports work on, and all that one port needs."""
    (nest,) = nests(product(2, 64, 256), f"{USUAL}:fma_ports={ports}")
    assert sizes(nest)["n"] == columns


@pytest.mark.parametrize(("l1", "columns"), [("32K", 64), ("64K", 32)])
def test_panels_are_wide_where_rows_conflict_in_l1(l1: str, columns: int) -> None:
    """Rows of 4096 bytes begin in one set of an L1 whose addresses repeat after 4096 bytes, and in two after 8192."""
    (nest,) = nests(product(3, 1024, 128), f"{USUAL}:l1={l1}")
    assert sizes(nest)["n"] == columns


def attention(b: GraphBuilder) -> SSAValue:
    """Four heads of 256 tokens: a head's scores are 256 KiB."""
    q, k, v = b.input(4, 256, 64), b.input(4, 64, 256), b.input(4, 256, 64)
    scores = b.add(ContractOp("bmk,bkn->bmn", q, k))
    shifted = b.add(MapOp("exp(x0 - x1)", [scores, b.add(ReduceOp("max", scores, [2], keepdims=True))]))
    weights = b.add(MapOp("x0 / x1", [shifted, b.add(ReduceOp("add", shifted, [2], keepdims=True))]))
    return b.add(ContractOp("bmn,bnv->bmv", weights, v))


@pytest.mark.parametrize(
    ("l2", "blocks", "keys"),
    [("1M", [4], 0), ("128K", [4, 4], 0), ("64K", [4, 4], 4), ("32K", [4, 4], 8), ("8K", [4, 8], 8)],
)
def test_attention_is_one_kernel_of_blocks_that_fit_in_l2(l2: str, blocks: list[int], keys: int) -> None:
    """Of all rows, of 64 whole ones, or of parts of rows: blocks of keys, after which the sums are divided."""
    found = nests(attention, f"{USUAL}:l2={l2}")
    assert len(found) == (4 if keys else 3) and all(nest.joined for nest in found[1:])
    assert all([split.blocks for split in nest.shared] == blocks for nest in found)
    streamed = [nest.streamed.blocks for nest in found if nest.streamed]
    assert streamed == ([keys] * 3 if keys else [])


@pytest.mark.parametrize(("l2", "order"), [("1M", "mn"), ("64K", "nm")])
def test_rows_come_first_where_the_right_operand_fits_in_l2(l2: str, order: str) -> None:
    """450 KiB of the right operand fit in half of an L2 of 1 MiB; 256 rows would be packed."""

    def both(b: GraphBuilder) -> SSAValue:
        return b.add(ContractOp("mk,kn->mn", b.input(255, 1200), b.input(1200, 96)))

    (nest,) = nests(both, f"{USUAL}:l2={l2}")
    assert "".join(item.iterator for item in nest.band) == order


def stack(b: GraphBuilder) -> SSAValue:
    """A 1x1 convolution of a 56 x 56 image, and a depthwise one of its result."""
    y = b.add(ConvOp(b.input(1, 32, 56, 56), b.weight(64, 32, 1, 1), [1, 1], [1, 1]))
    return b.add(ConvOp(y, b.weight(64, 1, 3, 3), [1, 1], [1, 1], 64))


def test_threads_that_hand_over_cheaply_split_otherwise() -> None:
    """Filters are split where what a thread reads of others costs nothing; rows of the image where it does."""
    usual = targets.get(USUAL)
    cheap = replace(usual, name="cheap", rates=replace(usual.rates, remote_bytes=1e15))
    splits = [[nest.partitions for nest in nests(stack, each)] for each in (usual, cheap)]
    assert splits[0] != splits[1] and sum(map(bool, splits[0])) > sum(map(bool, splits[1]))
    shared = replace(cheap, l3=replace(usual.l3, shared_by=usual.threads))
    assert shared.handover_bytes == usual.rates.l3_bytes and cheap.handover_bytes == 1e15


def test_winograd_follows_the_rates() -> None:
    """Where products are fast, fewer of them are not worth the tiles that are moved."""

    def image(b: GraphBuilder) -> SSAValue:
        return b.add(ConvOp(b.input(1, 32, 34, 34), b.weight(32, 32, 3, 3), [1, 1], [1, 1]))

    usual = targets.get(USUAL)
    fast = replace(usual, rates=replace(usual.rates, clock=16 * usual.rates.clock))
    assert [any(nest.rule == "stages" for nest in nests(image, each)) for each in (usual, fast)] == [True, False]


def test_tasks_are_for_all_threads() -> None:
    usual = targets.get(USUAL)
    assert (usual.tasks(), usual.tasks(4)) == (4, 16)
    assert targets.get(f"{USUAL}:threads=8").tasks(4) == 32


def test_what_follows_from_the_facts_of_a_usual_cpu() -> None:
    """The bounds that passes ask for, of 1 MiB of L2 and 512-bit vectors."""
    usual = targets.get(USUAL)
    assert usual.flops == pytest.approx(200e9)
    assert (usual.resident_bytes, usual.local_bytes, usual.block_bytes) == (512 << 10, 512 << 10, 256 << 10)
    assert (usual.l1.period, usual.sums_in_flight, usual.lanes) == (4096, 8, 16)
    assert 1 << 16 <= usual.products_in_a_barrier < 67_000
    large = targets.get(f"{USUAL}:l2=4M")
    assert large.resident_bytes == 2 << 20 and large.local_bytes == usual.local_bytes  # the stack is no larger


def elementwise(b: GraphBuilder) -> SSAValue:
    return b.add(MapOp("exp(x0)", [b.input(4096, 4096)]))


def row_sums(b: GraphBuilder) -> SSAValue:
    return b.add(ReduceOp("add", b.input(4096, 4000), [1]))


@pytest.mark.parametrize("points", [1, 2, 4])
def test_a_thread_has_the_points_of_the_heuristics(points: int) -> None:
    (nest,) = nests(elementwise, f"cuda:sm_90:points={points}")
    assert math.prod(item.size for item in nest.band) == points * 256


@pytest.mark.parametrize("terms, rule", [(8, "strips"), (5000, "rows")])
def test_fewer_terms_than_those_of_the_heuristics_are_no_strip(terms: int, rule: str) -> None:
    (nest,) = nests(row_sums, f"cuda:sm_90:strip_contiguous_terms={terms}")
    assert nest.rule == rule


def test_tiles_of_products_are_those_of_the_heuristics() -> None:
    usual = targets.get("cuda:sm_90")
    assert isinstance(usual, targets.GpuTarget)
    small = replace(usual, heuristics=replace(usual.heuristics, tiles=((16, 32),)))
    found = [sizes(nests(product(512, 256, 512), target)[0]) for target in (usual, small)]
    assert found[1]["m"] == 16 and found[1]["n"] == 32 and found[0] != found[1]


@pytest.mark.parametrize(
    ("core", "before"), [("haswell", True), ("skylake", True), ("x86-64-v3", True), ("znver3", False)]
)
def test_steps_without_issue_slots_prefetch_before_their_loop(core: str, before: bool) -> None:
    """6 rows × 2 vectors and a prefetch are 28 instructions for 6 cycles."""
    target = targets.get(core)
    assert isinstance(target, targets.CpuTarget) and target.has_room(5, 6, 2, 1 / 16) is not before
