"""Tensors that ``run_device`` allocates in a GPU's memory, for every library that reads a GPU's arrays.

Source: Numba, "CUDA Array Interface (Version 3)"; DLPack 1.1 and Python Specification for DLPack.
"""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from ctypes import byref, c_size_t, c_ulonglong, c_void_p
from typing import Any

import numpy as np

from mlc.errors import RunError
from mlc.runtime import cuda_driver, dlpack
from mlc.runtime.dlpack_export import export


class DeviceTensor:
    """A contiguous tensor in the memory of a GPU. The last reference to the tensor frees it once, in its context.

    It has ``__cuda_array_interface__`` and ``__dlpack__``: ``torch.from_dlpack(y)``, ``cupy.asarray(y)``. Both name the
    stream in which the tensor is written, for which the reader waits. ``context`` and ``stream`` are addresses.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], context: int, stream: int) -> None:
        """Raises RunError if the device has no memory for the tensor."""
        self.shape, self.dtype, self.context, self.stream = shape, dtype, context, stream
        self.size = int(np.prod(shape, dtype=np.int64))
        self.nbytes = self.size * dtype.itemsize
        self.device = cuda_driver.device_of(context)
        self.address = _allocate(self.nbytes, context) if self.nbytes else 0
        if self.address:
            weakref.finalize(self, _free, self.address, context, os.getpid())

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "strides": None,
            "stream": self.stream or cuda_driver.LEGACY, "version": 3,
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Returns a capsule that keeps the tensor; ``stream`` (None: the legacy one, -1: none) waits for what writes
        the tensor."""
        if copy or (dl_device is not None and dl_device != self.__dlpack_device__()):
            raise BufferError("an output of a model is exported where it is, without a copy")
        reader = cuda_driver.LEGACY if stream is None else stream
        if reader >= 0:
            self._order(reader)
        return export(self, self.address, self.shape, self.dtype, self.device, max_version)

    def _order(self, reader: int) -> None:
        if (reader or cuda_driver.LEGACY) != (self.stream or cuda_driver.LEGACY):
            with cuda_driver.pushed(self.context):
                cuda_driver.order(self.stream, reader)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Returns a copy in the host's memory, after what writes the tensor has ended. Raises RunError if that has
        failed."""
        found = np.empty(self.shape, self.dtype)
        if self.nbytes:
            target, source = c_void_p(found.ctypes.data), c_ulonglong(self.address)
            with cuda_driver.pushed(self.context):
                cuda_driver.call("cuMemcpyDtoHAsync_v2", target, source, c_size_t(self.nbytes), c_void_p(self.stream))
                cuda_driver.call("cuStreamSynchronize", c_void_p(self.stream))
        return found

    def __repr__(self) -> str:
        return f"<DeviceTensor {self.dtype}{list(self.shape)} on CUDA device {self.device}>"


def _allocate(size: int, context: int) -> int:
    address = c_ulonglong()
    with cuda_driver.pushed(context):
        try:
            cuda_driver.call("cuMemAlloc_v2", byref(address), c_size_t(size))
        except RunError as error:
            hint = "Free memory of the device; while a stream is captured, give the outputs"
            raise RunError(f"Cannot allocate an output of {size} bytes in a GPU's memory: {error}", hint=hint) from None
    return address.value


def _free(address: int, context: int, process: int) -> None:
    """Frees memory, after what uses it has ended. A child of the process has no CUDA; a destroyed context has freed it
    already."""
    if os.getpid() == process:
        with suppress(RunError), cuda_driver.pushed(context):
            cuda_driver.call("cuMemFree_v2", c_ulonglong(address))
