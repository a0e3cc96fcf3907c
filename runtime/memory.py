"""A pool for large outputs, reused by later calls.

The C library returns large blocks to the system on every free, and gets fresh pages for the next allocation. The
system clears them, which takes longer than most kernels take to fill them.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

LARGE = 32 << 20  # bytes; glibc itself keeps the memory of a single smaller array
SEVERAL = 128 << 10  # bytes; of several arrays glibc returns those from this size on
KEPT = 64 << 20  # bytes in free blocks, or two blocks if these are larger

_free: dict[int, list[np.ndarray[Any, Any]]] = {}


class Lease:
    """The base of all views of a block. The last view frees the lease, which returns the block to the pool."""

    def __init__(self, block: np.ndarray[Any, Any]) -> None:
        self.block = block
        self.__array_interface__ = block.__array_interface__

    def __del__(self) -> None:
        size = self.block.nbytes
        if size + sum(n * len(blocks) for n, blocks in list(_free.items())) > max(KEPT, 2 * size):
            _free.clear()
        _free.setdefault(size, []).append(self.block)


def size_of(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Returns the bytes of an array."""
    return math.prod(shape) * dtype.itemsize


def is_kept(sizes: Iterable[int]) -> bool:
    """Returns whether ``empty`` should allocate arrays of these sizes in bytes, which every call allocates."""
    paged = [size for size in sizes if size >= SEVERAL]
    return len(paged) > 1 or any(size >= LARGE for size in paged)


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Returns an uninitialised array, from the pool unless it is small or has objects.

    Raises MemoryError or ValueError as numpy.empty does.
    """
    size = size_of(shape, dtype)
    if size < SEVERAL or dtype.hasobject:
        return np.empty(shape, dtype)
    lease: Any = Lease(_block(size))
    return np.asarray(lease).view(dtype).reshape(shape)


def _block(size: int) -> np.ndarray[Any, Any]:
    with suppress(KeyError, IndexError):  # another thread may have taken the last one
        return _free[size].pop()
    return np.empty(size, np.uint8)


def mapped(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns a copy in pages of its own: these go back to the system at once when the copy is freed, and zeros take
    none. Small arrays are copied as usual."""
    if value.nbytes < SEVERAL:
        return value.copy()
    copy = np.ndarray(value.shape, value.dtype, mmap.mmap(-1, value.nbytes))
    if np.ascontiguousarray(value).view(np.uint8).any():
        copy[...] = value
    return copy
