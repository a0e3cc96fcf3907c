"""Large outputs: memory is used again when no array lives in it, and not before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from mlc.runtime import memory

SHAPE, FLOAT, SIZE = (8, 1 << 20), np.dtype("f4"), 32 << 20


def place(array: np.ndarray) -> int:
    return int(array.ctypes.data)


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    memory._free.clear()
    yield
    memory._free.clear()


def test_memory_comes_back_once_the_array_is_gone() -> None:
    first = memory.empty(SHAPE, FLOAT, SIZE)
    assert first.shape == SHAPE and first.dtype == FLOAT and first.flags.writeable and first.flags.c_contiguous
    at = place(first)
    del first
    again = memory.empty((1 << 22,), np.dtype("f8"), SIZE)
    assert place(again) == at and again.dtype == np.float64


def test_a_view_keeps_its_memory() -> None:
    first = memory.empty(SHAPE, FLOAT, SIZE)
    at, part = place(first), first[3, ::2].reshape(2, -1)
    shared = memoryview(first)
    del first
    assert place(memory.empty(SHAPE, FLOAT, SIZE)) != at
    del part
    assert place(memory.empty(SHAPE, FLOAT, SIZE)) != at
    shared.release()
    assert place(memory.empty(SHAPE, FLOAT, SIZE)) == at


def test_arrays_that_live_together_stand_apart() -> None:
    arrays = [memory.empty(SHAPE, FLOAT, SIZE) for _ in range(3)]
    assert not any(np.may_share_memory(a, b) for a, b in zip(arrays, arrays[1:], strict=False))


def test_little_is_kept_and_small_arrays_are_not() -> None:
    for n in range(5):
        memory.empty((SIZE + n,), np.dtype("u1"), SIZE + n)
    memory.empty((100,), FLOAT, 400)
    assert 0 < len(memory._free) <= memory.KEPT
