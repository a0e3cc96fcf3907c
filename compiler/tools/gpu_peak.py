"""The peak rates of this machine's GPU, measured by events: multiply-adds in registers, and a copy in its memory."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int, c_size_t, c_ulonglong, c_void_p

from mlc.driver.toolchain.cuda_compiler import find_cuda
from mlc.tools.cuda_device import SMS, Device

COPIED = 1 << 29  # bytes: more than any L2 holds
ROUNDS, CHAINS = 4096, 8  # of multiply-adds; independent ones in flight
THREADS, BLOCKS = 256, 8  # of a block; blocks of a multiprocessor
RUNS = 5

Rates = tuple[float, float]


def measure_gpu_peak() -> Rates:
    """FLOP/s of fp32 multiply-adds (two each), and bytes/s read and written by a copy, on the first device.

    Raises:
        NoDevice: there is none.
        ToolchainError: there is no CUDA compiler.
    """
    device = Device()
    try:
        return _flops(device), copy_rate(device)
    finally:
        device.close()


def copy_rate(device: Device) -> float:
    """Bytes/s read and written by a copy in the device's memory."""
    first, second = c_ulonglong(), c_ulonglong()
    device.call("cuMemAlloc_v2", byref(first), c_size_t(COPIED))
    device.call("cuMemAlloc_v2", byref(second), c_size_t(COPIED))
    try:
        copy = lambda: device.call("cuMemcpyDtoDAsync_v2", second, first, c_size_t(COPIED), None)  # noqa: E731
        device.seconds(copy, 1)
        return 2 * COPIED / device.seconds(copy, RUNS)
    finally:
        device.call("cuMemFree_v2", first)
        device.call("cuMemFree_v2", second)


def _flops(device: Device) -> float:
    code = find_cuda().cubin("peak.cu", {"peak.cu": _source()}, device.architecture)
    module, function, result = c_void_p(), c_void_p(), c_ulonglong()
    device.call("cuModuleLoadData", byref(module), code)
    device.call("cuModuleGetFunction", byref(function), module, b"peak_fma")
    device.call("cuMemAlloc_v2", byref(result), c_size_t(4))
    blocks, rounds = BLOCKS * max(device.attribute(SMS), 1), c_int(ROUNDS)
    arguments = (c_void_p * 2)(*(ctypes.cast(byref(each), c_void_p).value for each in (result, rounds)))
    size = (blocks, 1, 1, THREADS, 1, 1)
    launch = lambda: device.call("cuLaunchKernel", function, *map(c_int, size), c_int(0), None, arguments, None)  # noqa: E731
    try:
        device.seconds(launch, 1)
        return 2 * CHAINS * ROUNDS * THREADS * blocks / device.seconds(launch, RUNS)
    finally:
        device.call("cuMemFree_v2", result)
        device.call("cuModuleUnload", module)


def _source() -> str:
    """CUDA of CHAINS accumulators of a thread; their sum is never what makes a thread write."""
    names = [f"a{n}" for n in range(CHAINS)]
    declared = ", ".join(f"{name} = x + {n}" for n, name in enumerate(names))
    update = " ".join(f"{name} = {name} * x + y;" for name in names)
    head = f'extern "C" __global__ void __launch_bounds__({THREADS}, 1) peak_fma'
    return f"""{head}(float *__restrict__ b0, int rounds) {{
  const float x = 0.5f + threadIdx.x, y = 0.25f;
  float {declared};
  for (int i = 0; i < rounds; i++) {{ {update} }}
  if ({" + ".join(names)} == 0.125f) *b0 = x;
}}
"""
