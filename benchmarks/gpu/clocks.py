"""The clocks, power and temperature of the first GPU, by NVML, which starts no CUDA driver.

Source: NVML API, "Device Queries".
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from ctypes import byref, c_uint, c_ulonglong, c_void_p
from functools import cache
from typing import Any

SM, MEMORY = 1, 2  # NVML_CLOCK_SM, NVML_CLOCK_MEM
CORE = 0  # NVML_TEMPERATURE_GPU


def clocks() -> dict[str, Any]:
    """MHz of the multiprocessors and of the memory, watts, degrees, and the bits of what holds clocks down (8: power,
    0x20 and 0x40: heat). What NVML does not know, or all where it is not installed, is left out."""
    found = _opened()
    return {name: value for name, value in _read(*found).items() if value is not None} if found else {}


@cache
def _opened() -> tuple[ctypes.CDLL, c_void_p] | None:
    with suppress(OSError):
        nvml, device = ctypes.CDLL("libnvidia-ml.so.1"), c_void_p()
        if not nvml.nvmlInit_v2() and not nvml.nvmlDeviceGetHandleByIndex_v2(0, byref(device)):
            return nvml, device
    return None


def _read(nvml: ctypes.CDLL, device: c_void_p) -> dict[str, Any]:
    watts = _number(nvml, "PowerUsage", device)
    return {
        "SM MHz": _number(nvml, "ClockInfo", device, SM),
        "memory MHz": _number(nvml, "ClockInfo", device, MEMORY),
        "W": None if watts is None else round(watts / 1e3, 1),
        "°C": _number(nvml, "Temperature", device, CORE),
        "held down": _number(nvml, "CurrentClocksThrottleReasons", device, kind=c_ulonglong),
    }


def _number(nvml: ctypes.CDLL, what: str, device: c_void_p, *which: int, kind: Any = c_uint) -> int | None:
    """What a query gives; None where it fails, or this version of NVML has none of that name."""
    value, query = kind(), getattr(nvml, f"nvmlDeviceGet{what}", None)
    return None if query is None or query(device, *which, byref(value)) else int(value.value)
