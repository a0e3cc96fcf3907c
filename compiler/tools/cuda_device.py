"""The GPU of this machine, through the driver's interface: what it is, and the time of what is enqueued.

Source: CUDA driver API.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import ExitStack
from ctypes import byref, c_char_p, c_float, c_int, c_void_p
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mlc.errors import MlcError

if TYPE_CHECKING:
    from mlc.tools.gpu_delay import Delay

MAJOR, MINOR, SMS = 75, 76, 16  # device attributes


class NoDevice(MlcError):
    """There is no GPU that this process may use; says why."""


def open_driver() -> ctypes.CDLL:
    """The CUDA driver, initialised. NoDevice where there is none, or no device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise NoDevice("there is no CUDA driver on this machine") from error
    count = c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(byref(count)) or not count.value:
        raise NoDevice("the CUDA driver finds no device on this machine")
    return driver


class Device:
    """The first device, with its primary context current in this thread until ``close``."""

    def __init__(self) -> None:
        self.driver, self._owned = open_driver(), ExitStack()
        self.number, context = c_int(), c_void_p()
        self.call("cuDeviceGet", byref(self.number), 0)
        self.call("cuDevicePrimaryCtxRetain", byref(context), self.number)
        self.call("cuCtxPushCurrent_v2", context)

    @cached_property
    def _delay(self) -> Delay:
        from mlc.tools.gpu_delay import Delay  # needs the CUDA compiler

        self._owned.callback((made := Delay(self)).close)
        return made

    def close(self) -> None:
        self._owned.close()
        context = c_void_p()
        self.driver.cuCtxPopCurrent_v2(byref(context))
        self.driver.cuDevicePrimaryCtxRelease_v2(self.number)

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

    def seconds(self, work: Callable[[], object], runs: int, delay: float = 0.0) -> float:
        """The device's time of one call of ``work`` on the default stream, between events around ``runs`` of them.

        Before the first event the device waits ``delay`` seconds: in these the CPU enqueues the calls, which it takes
        longer for than the device for short kernels."""
        first, last, ms = c_void_p(), c_void_p(), c_float()
        for event in (first, last):
            self.call("cuEventCreate", byref(event), 0)
        if delay:
            self._delay(delay)
        self.call("cuEventRecord", first, None)
        for _ in range(runs):
            work()
        self.call("cuEventRecord", last, None)
        self.call("cuEventSynchronize", last)
        self.call("cuEventElapsedTime", byref(ms), first, last)
        for event in (first, last):
            self.call("cuEventDestroy_v2", event)
        return ms.value / 1e3 / runs
