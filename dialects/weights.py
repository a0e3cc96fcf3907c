"""The weight store: named tensors that never enter the IR and are loaded one at a time.

An entry is a range of a file (the model itself, or external data) or an array. Large arrays computed during compilation
are spooled to a temporary file, so that compiling needs memory for one weight, not for all.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType

from mlc.dialects.types import element_of_dtype, tensor

Array = np.ndarray[Any, Any]
SPOOL_FROM = 1 << 16  # bytes; smaller arrays stay in memory


@dataclass(frozen=True)
class Entry:
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    load: Callable[[], Array]
    ranks: int = 1
    """Of a job in which each rank has its own value, which ``load`` gives a thread of that rank alone."""

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @property
    def type(self) -> TensorType:
        return tensor(element_of_dtype(self.dtype), self.shape)


class WeightStore:
    """Named tensors of a model: ``store["conv1.weight"]`` reads one as an array."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._spool: int | None = None
        self._end = 0
        self._copied: WeightStore | None = None  # the store whose file the copied entries read

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> Array:
        return self._entries[name].load()

    def __iter__(self) -> Any:
        return iter(self._entries)

    def entry(self, name: str) -> Entry:
        return self._entries[name]

    def knows(self, name: str) -> bool:
        """Return whether there is one value, which a pass may read; a tensor that ranks divide has one a rank."""
        return name in self._entries and self._entries[name].ranks == 1

    def copy(self) -> WeightStore:
        """Return a store with the same entries; arrays that are added to it are not in this one."""
        made = WeightStore()
        made._entries, made._copied = dict(self._entries), self
        return made

    def add(self, name: str, array: Array) -> str:
        """Store ``array`` under ``name``, or under a fresh variation of a name in use; return the name used."""
        name = self.fresh(name)
        array = np.ascontiguousarray(array).reshape(array.shape)
        load = (lambda: array) if array.nbytes < SPOOL_FROM else self._spooled(array)
        self._entries[name] = Entry(array.dtype, array.shape, load)
        return name

    def add_file(self, name: str, path: str, offset: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
        """Store a little-endian, row-major range of a file, which is read on demand."""
        name = self.fresh(name)
        entry = Entry(dtype, shape, lambda: _read(path, offset, dtype, shape))
        self._entries[name] = entry
        return name

    def add_lazy(
        self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], load: Callable[[], Array], ranks: int = 1
    ) -> str:
        """Store a function that computes a tensor on demand; the tensor itself is not stored. ``ranks``: of a job in
        which each has its own value."""
        name = self.fresh(name)
        self._entries[name] = Entry(dtype, shape, lambda: np.ascontiguousarray(load()).reshape(shape), ranks)
        return name

    def fresh(self, name: str) -> str:
        candidate, n = name, 1
        while candidate in self._entries:
            candidate, n = f"{name}.{n}", n + 1
        return candidate

    def _spooled(self, array: Array) -> Callable[[], Array]:
        if self._spool is None:
            self._spool, path = tempfile.mkstemp(prefix="mlc-weights-")
            os.unlink(path)  # the open descriptor keeps the file until it is closed
        fd, offset, dtype, shape = self._spool, self._end, array.dtype, array.shape
        _write_all(fd, array.reshape(-1).view(np.uint8).data, offset)
        self._end += array.nbytes
        return lambda: _read_fd(fd, offset, dtype, shape)

    def __del__(self) -> None:
        if self._spool is not None:
            os.close(self._spool)


def _write_all(fd: int, data: memoryview, offset: int) -> None:
    while data:
        written = os.pwrite(fd, data[: 1 << 24], offset)
        data, offset = data[written:], offset + written


def _read(path: str, offset: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    fd = os.open(path, os.O_RDONLY)
    try:
        return _read_fd(fd, offset, dtype, shape)
    finally:
        os.close(fd)


def _read_fd(fd: int, offset: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    array = np.empty(shape, dtype)
    view, done = array.reshape(-1).view(np.uint8).data, 0
    while done < array.nbytes:
        got = os.preadv(fd, [view[done:]], offset + done)
        if got == 0:
            raise EOFError(f"weights end {array.nbytes - done} bytes early")
        done += got
    return array
