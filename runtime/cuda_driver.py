"""Calls of the CUDA driver from Python: contexts, and the order of streams. The driver is opened at the first call.

Source: CUDA Driver API. A context is an address (``CUcontext``), and so is a stream (``CUstream``): 0 and 1 are the
legacy default stream of the current context, 2 is the thread's default stream.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ctypes import byref, c_int, c_uint, c_ulonglong, c_void_p
from functools import cache
from typing import Any

from mlc.errors import RunError

LEGACY = 1
_CONTEXT_OF, _DEVICE_OF, _NO_TIMING = 1, 9, 2


@cache
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        hint = "Install NVIDIA's driver, or run on a machine with a GPU"
        raise RunError(f"There is no CUDA driver ({error})", hint=hint) from None
    if result := library.cuInit(c_uint(0)):
        raise _error(library, "cuInit", result)
    return library


def call(name: str, *arguments: Any) -> None:
    """Calls a function of the driver. Raises RunError if the function fails, or there is no driver."""
    library = _library()
    if result := getattr(library, name)(*arguments):
        raise _error(library, name, result)


def _error(library: ctypes.CDLL, name: str, result: int) -> RunError:
    text = ctypes.c_char_p()
    with suppress(AttributeError):
        library.cuGetErrorName(c_int(result), byref(text))
    return RunError(f"The CUDA driver failed: {name}: {(text.value or b'error').decode()} (error {result})")


def device_count() -> int:
    """Returns the number of devices that this process may use."""
    count = c_int()
    call("cuDeviceGetCount", byref(count))
    return count.value


def context_of_memory(address: int) -> tuple[int, int]:
    """Returns the context (0 for none, as of a memory pool) and the device of an address. Some context must be
    current.

    Raises RunError if the address is in no GPU's memory.
    """
    context, device = c_void_p(), c_int(-1)
    attributes, values = (c_int * 2)(_CONTEXT_OF, _DEVICE_OF), (c_void_p * 2)()
    values[:] = [ctypes.addressof(context), ctypes.addressof(device)]
    call("cuPointerGetAttributes", c_uint(2), attributes, values, c_ulonglong(address))
    if device.value < 0:
        raise RunError(f"The address {address:#x} is not in the memory of a GPU")
    return context.value or 0, device.value


def context_of_stream(stream: int) -> int:
    """Returns the context of a stream other than a default stream."""
    context = c_void_p()
    call("cuStreamGetCtx", c_void_p(stream), byref(context))
    return context.value or 0


def current() -> int:
    """Returns the calling thread's current context, or 0."""
    context = c_void_p()
    call("cuCtxGetCurrent", byref(context))
    return context.value or 0


def device_of(context: int) -> int:
    """Returns the device of a context."""
    device = c_int()
    with pushed(context):
        call("cuCtxGetDevice", byref(device))
    return device.value


@contextmanager
def pushed(context: int) -> Iterator[None]:
    """Makes the context the thread's current one."""
    call("cuCtxPushCurrent_v2", c_void_p(context))
    try:
        yield
    finally:
        call("cuCtxPopCurrent_v2", byref(c_void_p()))


@contextmanager
def primary(device: int) -> Iterator[int]:
    """Retains the primary context of a device, and yields it."""
    context = c_void_p()
    call("cuDevicePrimaryCtxRetain", byref(context), c_int(device))
    try:
        yield context.value or 0
    finally:
        call("cuDevicePrimaryCtxRelease_v2", c_int(device))


@contextmanager
def some_context(current: int) -> Iterator[None]:
    """Makes some context current, which calls about memory need: ``current``, or else the first device's primary
    context."""
    if current:
        yield
        return
    with primary(0) as context, pushed(context):
        yield


def is_capturing(stream: int) -> bool:
    """Returns whether work that is enqueued in a stream of the current context becomes part of a graph; False without a
    driver."""
    status = c_int()
    try:
        call("cuStreamIsCapturing", c_void_p(stream), byref(status))
    except RunError:  # of the legacy stream while another one is captured: it is not
        return False
    return status.value != 0


def order(first: int, then: int) -> None:
    """Makes all later work in the stream ``then`` wait for the work in the stream ``first``; the context is current.

    A captured stream and one that is not captured cannot be ordered: captured work runs when the graph is launched.
    """
    if is_capturing(first) != is_capturing(then):
        return
    event = c_void_p()
    call("cuEventCreate", byref(event), c_uint(_NO_TIMING))
    try:
        call("cuEventRecord", event, c_void_p(first))
        call("cuStreamWaitEvent", c_void_p(then), event, c_uint(0))
    finally:
        call("cuEventDestroy_v2", event)
