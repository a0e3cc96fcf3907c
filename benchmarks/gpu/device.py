"""The GPU of this machine, through the driver's interface: memory for arrays, and the time of what is enqueued."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_ulonglong, c_void_p
from typing import Any

import numpy as np

MAJOR, MINOR, CLOCK, SMS = 75, 76, 13, 16  # device attributes


class NoDevice(Exception):
    """There is no GPU that this process may use; says why."""


class Device:
    """The first device, with its primary context current in this thread."""

    def __init__(self) -> None:
        try:
            self.driver = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise NoDevice(f"there is no CUDA driver ({error})") from None
        if self.driver.cuInit(0):
            raise NoDevice("the CUDA driver finds no device")
        self.number, context = c_int(), c_void_p()
        self.call("cuDeviceGet", byref(self.number), 0)
        self.call("cuDevicePrimaryCtxRetain", byref(context), self.number)
        self.call("cuCtxPushCurrent_v2", context)

    def call(self, name: str, *arguments: Any) -> None:
        """Call the driver. RuntimeError with its message where that fails."""
        if result := getattr(self.driver, name)(*arguments):
            text = c_char_p()
            self.driver.cuGetErrorString(result, byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'error').decode()}")

    def attribute(self, which: int) -> int:
        value = c_int()
        self.call("cuDeviceGetAttribute", byref(value), which, self.number)
        return value.value

    @property
    def name(self) -> str:
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, 256, self.number)
        return text.value.decode()

    @property
    def architecture(self) -> str:
        return f"sm_{self.attribute(MAJOR)}{self.attribute(MINOR)}"

    @property
    def version(self) -> str:
        """The newest CUDA that the driver supports."""
        value = c_int()
        self.call("cuDriverGetVersion", byref(value))
        return f"{value.value // 1000}.{value.value % 1000 // 10}"

    def seconds(self, work: Callable[[], object], runs: int) -> float:
        """The device's time of one call of ``work`` on the default stream, between events around ``runs`` of them."""
        first, last, ms = c_void_p(), c_void_p(), c_float()
        for event in (first, last):
            self.call("cuEventCreate", byref(event), 0)
        self.call("cuEventRecord", first, None)
        for _ in range(runs):
            work()
        self.call("cuEventRecord", last, None)
        self.call("cuEventSynchronize", last)
        self.call("cuEventElapsedTime", byref(ms), first, last)
        for event in (first, last):
            self.call("cuEventDestroy_v2", event)
        return ms.value / 1e3 / runs


class DeviceArray:
    """A NumPy array's copy in the device's memory, freed with this object."""

    def __init__(self, device: Device, array: np.ndarray[Any, Any]) -> None:
        self.device, self.array, address = device, np.ascontiguousarray(array), c_ulonglong()
        device.call("cuMemAlloc_v2", byref(address), c_size_t(max(array.nbytes, 1)))
        self.address = address
        device.call("cuMemcpyHtoDAsync_v2", address, c_void_p(self.array.ctypes.data), c_size_t(array.nbytes), None)
        device.call("cuStreamSynchronize", None)
        about = {"data": (address.value, False), "shape": array.shape, "typestr": array.dtype.str, "version": 3}
        self.__cuda_array_interface__ = about

    def numpy(self) -> np.ndarray[Any, Any]:
        found = np.empty_like(self.array)
        pointer, size = c_void_p(found.ctypes.data), c_size_t(found.nbytes)
        self.device.call("cuMemcpyDtoHAsync_v2", pointer, self.address, size, None)
        self.device.call("cuStreamSynchronize", None)
        return found

    def __del__(self) -> None:
        self.device.driver.cuMemFree_v2(self.address)
