"""The estimated time of thread blocks: what waves, tiles and parts cost."""

from __future__ import annotations

import random
from dataclasses import replace

from mlc import target
from mlc.passes.cost.block_time import BlockTime, has_parts, part_size, split_keys
from mlc.target import GpuTarget

GPU = target.get("cuda:sm_80")
assert isinstance(GPU, GpuTarget)


def test_a_wave_of_few_blocks_takes_the_time_of_a_full_one() -> None:
    tile = BlockTime.of_threads(128, 128, GPU.multiprocessors, GPU)
    full, one_more = tile.cycles(512, GPU), replace(tile, blocks=tile.blocks + 1).cycles(512, GPU)
    assert replace(tile, blocks=1).cycles(512, GPU) == full
    assert one_more == 2 * full


def test_parts_of_a_sum_shorten_an_idle_grid_and_not_a_full_one() -> None:
    tile = BlockTime.of_threads(64, 64, 9, GPU)
    assert tile.cycles(4096, GPU, parts=4) == tile.cycles(4096, GPU) / 4
    full = replace(tile, blocks=8 * GPU.multiprocessors)
    assert full.cycles(4096, GPU, parts=4) == full.cycles(4096, GPU)


def test_larger_tiles_read_less_for_the_same_products() -> None:
    large, small = (BlockTime.of_threads(n, n, (2048 // n) ** 2 * GPU.multiprocessors, GPU) for n in (128, 32))
    assert large.cycles(256, GPU) < small.cycles(256, GPU)


def test_narrow_factors_have_faster_tensor_cores() -> None:
    wide, half = (BlockTime(128, 128, GPU.multiprocessors, 256, (2, 4), bits // 8, bits) for bits in (32, 16))
    assert half.cycles(256, GPU) < wide.cycles(256, GPU)


def test_a_block_waits_for_its_operands() -> None:
    """A tile of few products takes the latency of each term."""
    tiny = BlockTime(16, 32, 1, 64, (1, 2), 2, 16)
    assert tiny.cycles(100, GPU) == 1600


HOPPER = target.get("cuda:sm_90")
assert isinstance(HOPPER, GpuTarget)


def test_clusters_read_less_from_l2() -> None:
    """64 rows and 256 columns of halves: 640 bytes a term, of which a pair in a column reads 384, and four 320."""
    narrow = replace(HOPPER, l2_read=8.0)  # less than what products need
    tile = BlockTime(64, 256, 64, 128, (1, 1), 2, 16, True)
    wanted = {(1, 1): 640, (2, 1): 384, (1, 2): 576, (2, 2): 320}
    for cluster, bytes_ in wanted.items():
        assert replace(tile, cluster=cluster).work(narrow) == bytes_ / 8.0


def test_warpgroups_read_shared_memory_while_they_multiply() -> None:
    """256 columns an instruction: 16 cycles of products and of reads and copies. Four rows of instructions that read
    128 columns each read more, 18 cycles."""
    fast = replace(HOPPER, l2_read=1e9, arriving=1e9)
    wide, high = (
        BlockTime(*tile, 64, 256, (tile[0] / 64, 1), 2, 16, True, warpgroups=True) for tile in ((128, 256), (256, 128))
    )
    assert (wide.work(fast), high.work(fast)) == (16, 18)
    assert replace(wide, warpgroups=False).work(fast) == 16 + 10  # one after the other


def test_what_arrives_in_a_multiprocessor_is_bounded_with_clusters_too() -> None:
    slow = replace(HOPPER, arriving=4.0)
    tile = BlockTime(64, 256, 64, 128, (1, 1), 2, 16, True)
    assert tile.work(slow) == replace(tile, cluster=(2, 2)).work(slow) == 640 / 4.0


def test_clusters_of_four_leave_multiprocessors_idle() -> None:
    """132 of them are 8 groups of 16 or more: pairs fill all."""
    assert [HOPPER.in_clusters(n) for n in (1, 2, 4)] == [132, 132, 128]
    tile = BlockTime(128, 128, 132, 256, (2, 1), 2, 16, True)
    assert replace(tile, cluster=(2, 2)).cycles(4096, HOPPER) > tile.cycles(4096, HOPPER)
    assert replace(HOPPER, multiprocessors=5).in_clusters(4) == 4


def test_parts_that_do_not_divide_a_sum_have_one_size() -> None:
    for terms in random.sample(range(1, 10_000), 300):
        for parts in (n for n in range(1, 70) if has_parts(terms, n)):
            size = part_size(terms, parts)
            assert (parts - 1) * size < terms <= parts * size and size <= terms
            assert terms % parts == 0 or size % 128 == 0
    assert not has_parts(1031, 12)  # 128 keys each are 9


def test_a_prime_number_of_keys_has_parts() -> None:
    for keys in (1031, 4099, 8191):
        found = split_keys(4, 8, 256, keys, GPU)
        assert found is not None and found.parts() > 1 and found.cycles(found.parts()) < found.cycles(1) / 2
