"""The estimate of stream-K: equal shares of what waves of tiles leave idle."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.gpu.shapes import SHAPES
from benchmarks.gpu.stream_k import estimate, stream_k
from mlc import target
from mlc.passes.cost.block_time import BlockTime, SplitSum
from mlc.target import GpuTarget

GPU = target.get("cuda:sm_80")
assert isinstance(GPU, GpuTarget)


def tile(blocks: int) -> BlockTime:
    return BlockTime(128, 128, blocks, 256, (2, 4), 2, 16)


def product(blocks: int, terms: int) -> SplitSum:
    return SplitSum([tile(blocks)], terms, 128 * 128 * blocks, GPU)


def test_there_are_100_different_products() -> None:
    sizes = [size for kind in SHAPES.values() for size in kind]
    assert len(sizes) == len(set(sizes)) == 100


def test_whole_waves_have_nothing_to_share() -> None:
    found = product(3 * GPU.multiprocessors, 4096)
    assert stream_k(found.tiles[0], found) == found.cycles(1)


def test_shares_take_the_mean_of_waves_and_not_the_next_whole_one() -> None:
    """A wave and a quarter of long sums takes 1.25 waves, and the parts that are written and read."""
    count, terms = GPU.multiprocessors, 1 << 16
    found = product(count + count // 4, terms)
    assert stream_k(found.tiles[0], found) == pytest.approx(tile(count).cycles(terms, GPU) * 1.25, rel=0.02)
    assert found.cycles(1) == 2 * tile(count).cycles(terms, GPU)


def test_shares_of_short_sums_are_slower_and_count_as_one() -> None:
    assert estimate("x", product(135, 4096)).speed > 1
    short = estimate("x", product(135, 64))
    assert short.shared > short.best and short.speed == 1
    assert replace(short, best=10.0, shared=5.0).speed == 2


def test_many_parts_of_a_tile_take_longer_to_add() -> None:
    """One tile by a few blocks is slower than by one multiprocessor's share, and by all it is slower again."""
    few, many = (tile(1).shared_cycles(1 << 13, GPU, n) for n in (8, GPU.multiprocessors))
    assert few < tile(1).cycles(1 << 13, GPU) and few < many
