"""Whether this process can use a GPU, as the CUDA driver says."""

from __future__ import annotations

import ctypes


def missing() -> str | None:
    """Why there is no GPU to measure on; None where there is one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "there is no CUDA driver on this machine"
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return "the CUDA driver finds no device on this machine"
    return None
