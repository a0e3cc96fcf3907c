"""Memory of large outputs, kept for the next call.

What the C library gives back to the system on every free it gets back as fresh pages, and clearing those takes longer
than most kernels take to fill them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LARGE = 32 << 20  # bytes; below, glibc comes to keep the memory itself
KEPT = 2  # blocks, of different sizes

_free: dict[int, np.ndarray[Any, Any]] = {}


class _Lease:
    """What the arrays in a block are views of: it goes when the last of them goes, and the block is free again."""

    def __init__(self, block: np.ndarray[Any, Any]) -> None:
        self.block = block
        self.__array_interface__ = block.__array_interface__

    def __del__(self) -> None:
        if len(_free) >= KEPT:
            _free.clear()
        _free[self.block.nbytes] = self.block


def empty(shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> np.ndarray[Any, Any]:
    """An uninitialised array of ``size`` bytes, in memory that no other array lives in."""
    if size < LARGE:
        return np.empty(shape, dtype)
    block = _free.pop(size, None)
    lease: Any = _Lease(np.empty(size, np.uint8) if block is None else block)
    return np.asarray(lease).view(dtype).reshape(shape)
