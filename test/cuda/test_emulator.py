"""The emulator runs threads, barriers and shuffles as CUDA does, and finds races and accesses out of bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, needed

pytestmark = needed

HEAD = 'extern "C" __global__ void __launch_bounds__(64, 1) k(const float *__restrict__ b0, float *__restrict__ b1) {'


def run(body: str, units: Path, x: np.ndarray, size: int, blocks: int = 1) -> np.ndarray:
    memory = np.zeros((2, 4 * len(x)), "f4")  # room for an access out of bounds, which is found and not stopped
    memory[0, : len(x)] = x
    buffers = [(row.ctypes.data, n * 4) for row, n in zip(memory, (len(x), size), strict=True)]
    Emulator([f"{HEAD}\n{body}\n}}\n"], units).launch("k", buffers, [], blocks, 64)
    return memory[1, :size]


SHARED = "__shared__ float s[64]; int t = threadIdx.x; s[t] = b0[t]; {barrier} b1[t] = s[63 - t];"


def test_threads_exchange_elements_through_shared_memory(units: Path) -> None:
    x = np.random.default_rng().standard_normal(64).astype("f4")
    np.testing.assert_array_equal(run(SHARED.format(barrier="__syncthreads();"), units, x, 64), x[::-1])


def test_shuffles_are_within_a_warp(units: Path) -> None:
    x = np.random.default_rng().standard_normal(64).astype("f4")
    y = run("b1[threadIdx.x] = mlc_shuffle_xor(b0[threadIdx.x], 5);", units, x, 64)
    np.testing.assert_array_equal(y, x[np.arange(64) ^ 5])


@pytest.mark.parametrize(
    "body, message",
    [
        (SHARED.format(barrier=""), "a write of what is read"),
        ("b1[threadIdx.x / 2] = 1;", "two writes"),
        ("b1[threadIdx.x] = b0[threadIdx.x + 1];", "out of bounds"),
        ("b1[64 + threadIdx.x] = 1;", "out of bounds"),
        ("if (threadIdx.x < 40) __syncthreads(); else mlc_shuffle_xor(1, 1);", "different steps"),
    ],
)
def test_faults_are_found(body: str, message: str, units: Path) -> None:
    with pytest.raises(AssertionError, match=message):
        run(body, units, np.zeros(64, "f4"), 64)


def test_blocks_do_not_share_what_they_write(units: Path) -> None:
    with pytest.raises(AssertionError, match="two writes"):
        run("b1[threadIdx.x] = 1;", units, np.zeros(64, "f4"), 64, blocks=2)


@pytest.mark.parametrize("special", [0.0, -0.0, np.inf, -np.inf, np.nan, 65504.0, 65520.0, 6e-8, 2e-8, 1e-5])
def test_half_precision(special: float, units: Path) -> None:
    x = np.concatenate([[special], np.random.default_rng().standard_normal(63) * 10.0 ** np.arange(-31, 32)])
    x = x.astype("f4")
    with np.errstate(over="ignore"):
        wanted = x.astype("f2").astype("f4")
    np.testing.assert_array_equal(run("b1[threadIdx.x] = (mlc_half)b0[threadIdx.x];", units, x, 64), wanted)
