"""Emulated bulk copies of tensors: boxes and zeros outside them, and faults of mbarriers that the emulator finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, Map, needed

pytestmark = needed

HEAD = (
    '#include "mlc_cuda_tma.h"\n'
    'extern "C" __global__ void __launch_bounds__(64, 1) k(const uint16_t *__restrict__ b0, uint16_t *__restrict__ b1, '
    "const __grid_constant__ mlc_tensor_map map0) {"
)
# A ring of 2 buffers of 8 rows of 64; warp 1 copies, warp 0 reads; STEPS boxes.
BODY = """
  __shared__ __align__(1024) uint16_t s[2 * 512];
  __shared__ int64_t full[2], empty[2];
  mlc_mbarrier_init(full, 2, 1); mlc_mbarrier_init(empty, 2, 1); {barrier}
  if (threadIdx.x == 32)
    for (int i = 0; i < STEPS; i++) {{
      {free}
      {expect}
      {copy}
    }}
  else if (threadIdx.x < 32)
    for (int i = 0; i < STEPS; i++) {{
      {wait}
      for (int n = threadIdx.x; n < 512; n += 32) b1[i * 512 + n] = s[i % 2 * 512 + n];
      {release}
    }}"""
STEPS = 5
RIGHT = {
    "barrier": "__syncthreads();",
    "free": "mlc_mbarrier_wait(empty + i % 2, 1 - i / 2 % 2);",
    "expect": "mlc_mbarrier_expect(full + i % 2, 1024);",
    "copy": "mlc_bulk_copy(s + i % 2 * 512, map0, full + i % 2, -8, 8 * i - 3);",
    "wait": "mlc_mbarrier_wait(full + i % 2, i / 2 % 2);",
    "release": "mlc_mbarrier_arrive(empty + i % 2);",
}


def run(units: Path, x: np.ndarray, **faults: str) -> np.ndarray:
    y = np.zeros((STEPS, 512), "u2")
    body = BODY.format(**RIGHT | faults).replace("STEPS", str(STEPS))
    map_ = Map(x.ctypes.data, 2, (x.shape[1], x.shape[0]), (x.strides[0],), (64, 8), 128)
    Emulator([f"{HEAD}{body}\n}}\n"], units).launch("k", [(a.ctypes.data, a.nbytes) for a in (x, y)], [], 1, 64, [map_])
    return y


def test_boxes_are_swizzled_and_have_zeros_outside_the_tensor(units: Path) -> None:
    """By address arithmetic: bits 4 to 6 of an address are the exclusive or with bits 7 to 9."""
    x = np.random.default_rng().integers(1, 60000, (29, 48)).astype("u2")
    byte = 2 * np.arange(512)
    place = (byte ^ (byte >> 7 & 7) << 4) // 2
    image = np.zeros((8 * STEPS + 8, 64), "u2")
    image[3 : 3 + len(x), 8:56] = x
    wanted = [image[8 * i : 8 * i + 8].reshape(-1) for i in range(STEPS)]
    np.testing.assert_array_equal(run(units, x)[:, place], wanted)


@pytest.mark.parametrize(
    "part, fault, message",
    [
        ("wait", "mlc_mbarrier_wait(full + i % 2, 1 - i / 2 % 2);", "what is being read|in flight"),
        ("wait", "", "what is being read|in flight"),
        ("free", "mlc_mbarrier_wait(empty + i % 2, i / 2 % 2);", "different steps|what is being read|in flight"),
        ("free", "", "an arrival too many|what is being read"),
        ("expect", "mlc_mbarrier_expect(full + i % 2, 0);", "bytes arrive that nobody expects|in flight"),
        ("expect", "", "different steps|nobody expects"),
        ("expect", "mlc_mbarrier_expect(full + i % 2, 1040);", "different steps"),
        ("release", "", "different steps"),
        ("barrier", "", "no mbarrier was made|no block barrier"),
        ("copy", "mlc_bulk_copy(s + i % 2 * 512 + 8, map0, full + i % 2, 0, 0);", "not aligned"),
        ("copy", "mlc_bulk_copy(b1, map0, full + i % 2, 0, 0);", "not in shared memory|not aligned"),
        ("copy", RIGHT["copy"] + "if (i) s[0] = 1;", "in flight"),
    ],
)  # fmt: skip
def test_wrong_barriers_are_found(part: str, fault: str, message: str, units: Path) -> None:
    x = np.ones((29, 48), "u2")
    with pytest.raises(AssertionError, match=message):
        run(units, x, **{part: fault})


def test_the_slot_of_a_slow_reader_is_not_written(units: Path) -> None:
    """The reader says that it has read a buffer before it has: the copy of a later box finds what it reads."""
    early = "mlc_mbarrier_wait(full + i % 2, i / 2 % 2); mlc_mbarrier_arrive(empty + i % 2);"
    with pytest.raises(AssertionError, match="what is being read|in flight"):
        run(units, np.ones((29, 48), "u2"), wait=early, release="")


@pytest.mark.parametrize(
    "start, extents, strides, box, span",
    [
        (8, (48, 29), (96,), (64, 8), 128),  # 16 bytes
        (0, (48, 29), (90,), (64, 8), 128),  # a multiple of 16 bytes
        (0, (48, 29), (96,), (64, 257), 128),  # at most 256
        (0, (48, 29), (96,), (128, 8), 128),  # a row is longer than what is swizzled
        (0, (48, 0), (96,), (64, 8), 128),
        (0, (48, 29, 3), (96, 112), (64, 8, 1), 128),  # strides that do not divide each other
    ],
)
def test_a_map_that_the_driver_refuses(
    start: int, extents: tuple[int, ...], strides: tuple[int, ...], box: tuple[int, ...], span: int, units: Path
) -> None:
    emulator = Emulator([f"{HEAD}{BODY.format(**RIGHT).replace('STEPS', '5')}\n}}\n"], units)
    with pytest.raises(AssertionError, match="Map"):
        Map(4096 + start, 2, extents, strides, box, span).encoded(emulator.library)
    Map(4096, 2, (48, 29), (96,), (64, 8), 128).encoded(emulator.library)


# Two blocks: each copies 4 of 8 rows to both, STEPS times, and reads all 8.
CLUSTER = """
  __shared__ __align__(1024) uint16_t s[2 * 512];
  __shared__ int64_t full[2], empty[2];
  mlc_mbarrier_init(full, 2, 1); mlc_mbarrier_init(empty, 2, 2); {start}
  const int own = mlc_cluster_rank();
  if (threadIdx.x == 32)
    for (int i = 0; i < STEPS; i++) {{
      mlc_mbarrier_wait(empty + i % 2, 1 - i / 2 % 2);
      mlc_mbarrier_expect(full + i % 2, 1024);
      {copy}
    }}
  else if (threadIdx.x < 32)
    for (int i = 0; i < STEPS; i++) {{
      mlc_mbarrier_wait(full + i % 2, i / 2 % 2);
      for (int n = threadIdx.x; n < 512; n += 32) b1[(blockIdx.x * STEPS + i) * 512 + n] = s[i % 2 * 512 + n];
      {release}
    }}"""
SHARED = {
    "start": "mlc_cluster_barrier();",
    "copy": "mlc_bulk_multicast(s + i % 2 * 512 + own * 256, map0, full + i % 2, 3, 0, 8 * i + 4 * own);",
    "release": "mlc_mbarrier_arrive_cluster(empty, i % 2, 3);",
}


def run_cluster(units: Path, x: np.ndarray, **faults: str) -> np.ndarray:
    y = np.zeros((4, STEPS, 512), "u2")
    head = HEAD.replace("(64, 1) ", "(64, 1) __cluster_dims__(2, 1, 1) ")
    body = CLUSTER.format(**SHARED | faults).replace("STEPS", str(STEPS))
    map_ = Map(x.ctypes.data, 2, (x.shape[1], x.shape[0]), (x.strides[0],), (64, 4), 0)
    Emulator([f"{head}{body}\n}}\n"], units).launch("k", [(a.ctypes.data, a.nbytes) for a in (x, y)], [], 4, 64, [map_])
    return y


def test_a_cluster_receives_the_copies_of_both_blocks(units: Path) -> None:
    x = np.random.default_rng().integers(1, 60000, (8 * STEPS, 64)).astype("u2")
    np.testing.assert_array_equal(run_cluster(units, x), np.broadcast_to(x.reshape(STEPS, 512), (4, STEPS, 512)))


@pytest.mark.parametrize(
    "part, fault, message",
    [
        ("start", "__syncthreads();", "no cluster barrier"),
        ("release", "mlc_mbarrier_arrive(empty + i % 2);", "different steps"),
        ("copy", SHARED["copy"].replace("full + i % 2, 3,", "full + i % 2, 1 << own,"), "different steps"),
        ("copy", SHARED["copy"].replace("own * 256", "0"), "in flight|what is being read"),
    ],
)
def test_faults_of_clusters_are_found(part: str, fault: str, message: str, units: Path) -> None:
    with pytest.raises(AssertionError, match=message):
        run_cluster(units, np.ones((8 * STEPS, 64), "u2"), **{part: fault})
