"""A kernel that does nothing for some time: what is enqueued after it begins at once when it ends.

Without it the time between two events is that of the CPU that enqueues short kernels, not that of the device.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int, c_int64, c_void_p
from typing import TYPE_CHECKING

from mlc.driver.artifact.cubins import cached_cubin
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain.cuda_compiler import find_cuda

if TYPE_CHECKING:
    from mlc.tools.cuda_device import Device

NAME = "mlc_delay"
SOURCE = f"""#include <stdint.h>

extern "C" __global__ void __launch_bounds__(32, 1) {NAME}(int64_t nanoseconds) {{
#ifndef MLC_EMULATED
  uint64_t first, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(first));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - first < (uint64_t)nanoseconds);
#endif
}}
"""
MOST = 0.02  # seconds of a delay


class Delay:
    """The kernel, in the context of a device until ``close``. ToolchainError without a CUDA compiler."""

    def __init__(self, device: Device) -> None:
        architecture = device.architecture
        code = cached_cubin("delay.cu", {"delay.cu": SOURCE}, architecture, find_cuda(), Cache.default())
        self.device, self.module, self.function = device, c_void_p(), c_void_p()
        device.call("cuModuleLoadData", byref(self.module), code)
        device.call("cuModuleGetFunction", byref(self.function), self.module, NAME.encode())

    def __call__(self, seconds: float) -> None:
        """Enqueue so many seconds, ``MOST`` at most, on the default stream."""
        nanoseconds = c_int64(int(1e9 * min(seconds, MOST)))
        arguments = (c_void_p * 1)(ctypes.addressof(nanoseconds))
        one_warp = map(c_int, (1, 1, 1, 32, 1, 1))
        self.device.call("cuLaunchKernel", self.function, *one_warp, c_int(0), None, arguments, None)

    def close(self) -> None:
        self.device.call("cuModuleUnload", self.module)
