"""The estimate of stream-K: equal shares of what waves of tiles leave idle."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.gpu.shapes import SHAPES
from benchmarks.gpu.stream_k import estimate, stream_k
from mlc import target
from mlc.target import GpuTarget
from mlc.target.block_time import BlockTime, SplitSum

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
    assert stream_k(found.tiles[0], found, 1000) == found.cycles(1)


def test_shares_take_the_mean_of_waves_and_not_the_next_whole_one() -> None:
    """A wave and a quarter of long sums takes 1.25 waves, and the parts that are written and read."""
    count, terms = GPU.multiprocessors, 1 << 16
    found = product(count + count // 4, terms)
    assert stream_k(found.tiles[0], found, 0) == pytest.approx(tile(count).cycles(terms, GPU) * 1.25, rel=0.02)
    assert found.cycles(1) == 2 * tile(count).cycles(terms, GPU)


def test_a_second_kernel_costs_more_than_flags_and_slower_shares_count_as_one() -> None:
    found = estimate("x", product(135, 4096))
    assert found.flags < found.second and found.speed(found.second) > 1
    short = estimate("x", product(135, 64))
    assert short.second > short.best and short.speed(short.second) == 1
    assert replace(short, best=10.0).speed(5.0) == 2
