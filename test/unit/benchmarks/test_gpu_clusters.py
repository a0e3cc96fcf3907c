"""What clusters gain by the time of blocks: less from L2 where they are chosen, nothing where they are not."""

from __future__ import annotations

from benchmarks.gpu.clusters import choice
from mlc import target
from mlc.target import GpuTarget

HOPPER = target.get("cuda:sm_90")
assert isinstance(HOPPER, GpuTarget)


def test_a_pair_reads_two_thirds_of_what_its_blocks_read_alone() -> None:
    """Of 128 rows and 256 columns, the pair reads the columns once: 512 bytes a block and term, not 768."""
    found = choice(8192, 8192, 8192, HOPPER)
    assert found.clustered and found.read == 64 * 32 * 8192 * 512 and found.plain_read == 64 * 32 * 8192 * 768
    assert found.cycles * 1.5 == found.plain_cycles


def test_tiles_that_are_no_pairs_read_what_they_read_without() -> None:
    found = choice(16, 4096, 4096, HOPPER)
    assert not found.clustered and found.cycles >= found.plain_cycles
