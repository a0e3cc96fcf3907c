"""Large outputs: memory is used again when no array lives in it, and not before."""

from __future__ import annotations

import numpy as np
import pytest

from mlc.runtime import memory

pytestmark = pytest.mark.usefixtures("no_memory_kept")
SHAPE, FLOAT = (8, 1 << 20), np.dtype("f4")


def place(array: np.ndarray) -> int:
    return int(array.ctypes.data)


def test_memory_comes_back_once_the_array_is_gone() -> None:
    first = memory.empty(SHAPE, FLOAT)
    assert first.shape == SHAPE and first.dtype == FLOAT and first.flags.writeable and first.flags.c_contiguous
    at = place(first)
    del first
    again = memory.empty((1 << 22,), np.dtype("f8"))
    assert place(again) == at and again.dtype == np.float64


def test_a_view_keeps_its_memory() -> None:
    first = memory.empty(SHAPE, FLOAT)
    at, part = place(first), first[3, ::2].reshape(2, -1)
    shared = memoryview(first)
    del first
    assert place(memory.empty(SHAPE, FLOAT)) != at
    del part
    assert place(memory.empty(SHAPE, FLOAT)) != at
    shared.release()
    assert place(memory.empty(SHAPE, FLOAT)) == at


def test_arrays_that_live_together_stand_apart() -> None:
    arrays = [memory.empty(SHAPE, FLOAT) for _ in range(3)]
    assert not any(np.may_share_memory(a, b) for a, b in zip(arrays, arrays[1:], strict=False))


def test_several_blocks_of_a_size_come_back() -> None:
    arrays = [memory.empty((1 << 16,), FLOAT) for _ in range(5)]
    at = set(map(place, arrays))
    assert len(at) == 5
    del arrays
    again = [memory.empty((1 << 16,), FLOAT) for _ in range(6)]
    assert set(map(place, again[:5])) == at and place(again[5]) not in at


@pytest.mark.parametrize("size", [memory.KEPT // 8, memory.KEPT // 2, memory.KEPT * 2])
def test_little_is_kept_and_small_arrays_are_not(size: int) -> None:
    for n in range(12):
        memory.empty((size + n,), np.dtype("u1"))
    memory.empty((100,), FLOAT)
    kept = [block for blocks in memory._free.values() for block in blocks]
    assert 1 < len(kept) < 12 and sum(block.nbytes for block in kept) <= max(memory.KEPT, 2 * (size + 12))
    assert 400 not in memory._free


def test_arrays_are_kept_where_the_c_library_gives_them_back() -> None:
    middle = memory.SEVERAL
    assert memory.is_kept([middle, 4, middle]) and memory.is_kept([memory.LARGE])
    assert not memory.is_kept([memory.LARGE - 1, middle - 1]) and not memory.is_kept([])
