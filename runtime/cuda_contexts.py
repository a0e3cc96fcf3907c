"""CUDA contexts and streams as callers give them: objects of pycuda, CuPy, PyTorch and Numba, addresses, devices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

from mlc.errors import InputError, RunError
from mlc.runtime import cuda_driver

_FIRST_ADDRESS = 4096  # a smaller number is a device's


@contextmanager
def entered(context: Any) -> Iterator[None]:
    """Makes a context current: a context of pycuda (``handle``), the one at an address, or the primary context of a
    device.

    Raises InputError if ``context`` is none of these, RunError if CUDA cannot use it.
    """
    if (device := device_number(context)) is None:
        with cuda_driver.pushed(_address(context)):
            yield
        return
    if device >= (count := cuda_driver.device_count()):
        raise InputError(f"There is no CUDA device {device}: this process may use {count}", hint="Devices count from 0")
    with cuda_driver.primary(device) as primary, cuda_driver.pushed(primary):
        yield


def device_number(context: Any) -> int | None:
    """Returns the number of the device whose primary context is meant; None for another context."""
    is_number = isinstance(context, Integral) and not isinstance(context, bool)
    return int(context) if is_number and 0 <= context < _FIRST_ADDRESS else None


def _address(context: Any) -> int:
    handle = getattr(context, "handle", context)
    handle = getattr(handle, "value", handle)  # of ctypes
    if isinstance(handle, bool) or not isinstance(handle, Integral) or handle < _FIRST_ADDRESS:
        message = f"A CUDA context cannot be {context!r}"
        raise InputError(message, hint="Give one of pycuda, its address, or the number of a device")
    return int(handle)


def stream_address(stream: Any) -> int:
    """Returns the address of a stream: 0 for None, an integer itself, or the address of a stream of PyTorch
    (``cuda_stream``), CuPy (``ptr``), pycuda or Numba (``handle``), or of an object with ``__cuda_stream__``. Raises
    RunError for others."""
    if stream is None:
        return 0
    handle = stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        handle = (protocol() if callable(protocol) else protocol)[1]
    else:
        for name in ("cuda_stream", "ptr", "handle"):
            if hasattr(stream, name):
                handle = getattr(stream, name)
                break
    handle = getattr(handle, "value", handle) or 0
    if isinstance(handle, bool) or not isinstance(handle, Integral) or handle < 0:
        message = f"A CUDA stream cannot be {stream!r}"
        raise RunError(message, hint="Give a stream of PyTorch, CuPy, pycuda or Numba, its address, or None")
    return int(handle)
