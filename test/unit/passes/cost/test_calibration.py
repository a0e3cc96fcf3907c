"""Rates of a GPU fitted to synthetic times of products."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mlc import target
from mlc.passes.cost.block_time import BlockTime
from mlc.passes.cost.calibration import FITTED, Sample, calibrate, error
from mlc.target import GpuTarget

GPU = target.get("cuda:sm_80")
assert isinstance(GPU, GpuTarget)
TRUE = replace(GPU, l2_read=19.0, shared_read=90.0, term_cycles=21.0, launch_cycles=5100.0)


def samples(gpu: GpuTarget, noise: float = 0.0) -> list[Sample]:
    """Products that read L2, or shared memory, or wait, in one or several parts, with the times of ``gpu``."""
    random = np.random.default_rng()
    halves = [
        BlockTime(rows, columns, blocks, 256, grid, 2, 16)
        for rows, columns, grid in ((128, 128, (2, 4)), (64, 64, (2, 2)), (16, 32, (1, 2)), (256, 16, (4, 1)))
        for blocks in (20, 150, 1200)
    ]
    floats = [BlockTime.of_threads(n, n, blocks, gpu) for n in (32, 64, 128) for blocks in (30, 500)]
    made = []
    for tile in (*halves, *floats):
        for terms, parts in ((1024, 1), (8192, 1), (4096, 16)):
            each = Sample(tile, terms, tile.rows * tile.columns * tile.blocks, parts, 1.0)
            factor = float(np.exp(noise * random.normal()))
            made.append(replace(each, seconds=each.estimated(gpu) * factor))
    return made


def test_rates_are_found_again() -> None:
    measured = samples(TRUE)
    found = calibrate(measured, GPU)
    assert error(measured, GPU) > 0.1 and error(measured, found) < 0.01
    np.testing.assert_allclose(
        [getattr(found, name) for name in FITTED], [getattr(TRUE, name) for name in FITTED], rtol=0.03
    )
    assert replace(found, **{name: getattr(GPU, name) for name in FITTED}) == GPU  # nothing else has changed


def test_noise_of_a_tenth_moves_rates_little() -> None:
    measured = [each for _ in range(6) for each in samples(TRUE, 0.1)]  # as a benchmark repeats its products
    found = calibrate(measured, GPU)
    assert error(measured, found) <= error(measured, TRUE)
    np.testing.assert_allclose(
        [getattr(found, name) for name in FITTED], [getattr(TRUE, name) for name in FITTED], rtol=0.35
    )


def test_a_rate_that_no_sample_depends_on_stays() -> None:
    whole = [each for each in samples(TRUE) if each.parts == 1]
    assert calibrate(whole, GPU).launch_cycles == GPU.launch_cycles


@pytest.mark.parametrize("times", [[], [0.0], [1.0, -1.0]])
def test_times_are_positive(times: list[float]) -> None:
    with pytest.raises(ValueError, match="measured times, all of them positive"):
        calibrate([replace(samples(TRUE)[0], seconds=seconds) for seconds in times], GPU)
