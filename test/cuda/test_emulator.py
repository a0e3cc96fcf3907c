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


ASYNC = "__shared__ float s[128]; int t = threadIdx.x; {body}"
START = "mlc_copy_async<float, 1>(s + t, b0 + t, {valid}); mlc_async_group();"
RING = (
    "for (int i = 0; i < 3; i++) {{ mlc_copy_async<float, 1>(s + i % 2 * 64 + t, b0 + t, 1); mlc_async_group(); "
    "mlc_async_wait<1>(); {barrier} if (i) b1[t] = s[(i - 1) % 2 * 64 + 63 - t]; {end} }} mlc_async_wait<0>();"
)


def test_asynchronous_copies_bring_zeros_for_what_is_not_valid(units: Path) -> None:
    x = np.random.default_rng().standard_normal(64).astype("f4")
    wait = " mlc_async_wait<0>(); __syncthreads(); b1[t] = s[63 - t];"
    y = run(ASYNC.format(body=START.format(valid="t % 3 != 0") + wait), units, x, 64)
    np.testing.assert_array_equal(y, np.where(np.arange(64) % 3, x, 0)[::-1])
    wide = "if (t < 16) mlc_copy_async<float, 4>(s + 4 * t, b0 + 4 * t, t % 5);"
    y = run(ASYNC.format(body=f"{wide} mlc_async_group();{wait}"), units, x, 64)
    np.testing.assert_array_equal(y, np.where(np.arange(64) % 4 < np.arange(64) // 4 % 5, x, 0)[::-1])


def test_a_ring_of_two_buffers(units: Path) -> None:
    x = np.random.default_rng().standard_normal(64).astype("f4")
    body = RING.format(barrier="__syncthreads();", end="__syncthreads();")
    np.testing.assert_array_equal(run(ASYNC.format(body=body), units, x, 64), x[::-1])


@pytest.mark.parametrize(
    "body, message",
    [
        (START.format(valid=1) + " __syncthreads(); b1[t] = s[t];", "in flight"),
        (START.format(valid=1) + " mlc_async_wait<1>(); b1[t] = s[t]; mlc_async_wait<0>();", "in flight"),
        (START.format(valid=1) + " mlc_async_wait<0>(); b1[t] = s[63 - t];", "of a write|of what is read"),
        (START.format(valid=1) + START.format(valid=1) + " mlc_async_wait<0>();", "in flight"),
        (START.format(valid=1), "in flight at the end"),
        ("b1[t] = 1; mlc_copy_async<float, 1>(s + t, b1 + t, 1); b1[t] = 2; mlc_async_group(); mlc_async_wait<0>();",
         "a write of what is being copied"),
        ("mlc_copy_async<float, 2>(s + t + 1, b0, 2); mlc_async_group(); mlc_async_wait<0>();", "not aligned"),
        (RING.format(barrier="__syncthreads();", end=""), "a write of what is read|in flight"),
        (RING.format(barrier="", end="__syncthreads();"), "a read of a write|a write of what is read|in flight"),
    ],
)  # fmt: skip
def test_wrong_pipelines_are_found(body: str, message: str, units: Path) -> None:
    with pytest.raises(AssertionError, match=message):
        run(ASYNC.format(body=body), units, np.zeros(64, "f4"), 64)


WARPGROUP_HEAD = (
    'extern "C" __global__ void __launch_bounds__(128, 1) k(const float *__restrict__ b0, float *__restrict__ b1) {'
)
WARPGROUP = """
  __shared__ __align__(1024) uint16_t a[64 * 16], b[16 * 64];
  for (int i = threadIdx.x; i < 64 * 16; i += 128) a[i] = b[i] = mlc_half_of(b0[i]);
  {fence} {barrier}
  float c[32] = {{}};
  mlc_emulated_wgmma_fence();
  const auto left = mlc_matrix_of<2, 16, false>(a), right = mlc_matrix_of<2, 16, true>(b);
  mlc_wgmma_step<64, MLC_F16, MLC_F16, false, true, true>(c, left, right);
  {after}
  mlc_emulated_wgmma_group(); mlc_emulated_wgmma_wait(0);
  for (int i = 0; i < 32; i++) b1[threadIdx.x * 32 + i] = c[i];"""


def warpgroup(units: Path, x: np.ndarray, fence: str, barrier: str, after: str) -> np.ndarray:
    y = np.zeros(64 * 64, "f4")
    body = WARPGROUP.format(fence=fence, barrier=barrier, after=after)
    made = Emulator([f'#include "mlc_cuda_warpgroup.h"\n{WARPGROUP_HEAD}\n{body}\n}}\n'], units)
    made.launch("k", [(each.ctypes.data, each.nbytes) for each in (x, y)], [], 1, 128)
    return y


FENCE, BARRIER = "mlc_proxy_fence();", "__syncthreads();"


def test_a_warpgroup_reads_swizzled_matrices(units: Path) -> None:
    """By address arithmetic: chunks of 16 bytes of A's rows of 32 bytes, and of B's of 128, are swizzled."""
    x = np.random.default_rng().standard_normal(64 * 16).astype("f2").astype("f4")
    byte = 2 * np.arange(64 * 16)
    short, wide = (x[(byte ^ ((byte >> 7 & chunks) << 4)) // 2] for chunks in (1, 7))
    wanted = short.reshape(64, 16).astype("f8") @ wide.reshape(16, 64).astype("f8")
    y = warpgroup(units, x, FENCE, BARRIER, "").reshape(4, 8, 4, 8, 2, 2)  # warp, g, t, n / 8, half, e
    np.testing.assert_allclose(y.transpose(0, 4, 1, 3, 2, 5).reshape(64, 64), wanted, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "fence, barrier, after, message",
    [
        ("", BARRIER, "", "no fence between a write and the asynchronous proxy"),
        (FENCE, "", "", "a read of a write|no fence|a write of what is read"),
        (FENCE, BARRIER, "a[threadIdx.x] = 0;", "a read of a write|no fence|a write of what is read"),
        (FENCE, BARRIER, "return;", "products in flight at the end"),
    ],
)
def test_wrong_products_of_warpgroups_are_found(
    fence: str, barrier: str, after: str, message: str, units: Path
) -> None:
    with pytest.raises(AssertionError, match=message):
        warpgroup(units, np.ones(64 * 16, "f4"), fence, barrier, after)


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
