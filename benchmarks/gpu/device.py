"""Arrays in the memory of this machine's GPU."""

from __future__ import annotations

from ctypes import byref, c_size_t, c_ulonglong, c_void_p
from typing import Any

import numpy as np

from mlc.tools.cuda_device import Device


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
