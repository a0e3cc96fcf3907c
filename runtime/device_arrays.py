"""The caller's arrays in a GPU's memory: their addresses, by ``__cuda_array_interface__`` or DLPack, without a copy.

Source: Numba, "CUDA Array Interface (Version 3)"; DLPack 1.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from mlc.errors import RunError
from mlc.runtime import dlpack
from mlc.runtime.cuda_driver import is_capturing
from mlc.runtime.signature import STRINGS, TensorSpec

_UNORDERED, _LEGACY = -1, 1  # what DLPack's exporters take for a stream


class DeviceArray(NamedTuple):
    """A contiguous array in the device's memory; ``owner`` keeps the memory while this is referenced.

    ``stream``: the stream in which the array is written; None if the array names none, or DLPack has ordered it
    already.
    """

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    owner: object
    stream: int | None


def device_array(kind: str, name: str, spec: TensorSpec, value: Any, stream: int, ordered: bool) -> DeviceArray:
    """Returns the array of an input or output (``kind``). Raises RunError if it is in no GPU's memory, or does not
    fit.

    ``stream`` waits for what an exporter of DLPack has enqueued. ``ordered``: arrays that name no stream are ready in
    ``stream``; otherwise such an array is taken by DLPack if it has it.
    """
    if spec.dtype == STRINGS:
        raise RunError(f"{kind} '{name}' has strings, which a GPU's memory cannot have", hint="Use run")
    if getattr(value, "requires_grad", False):
        hint = f"Give {name}.detach(), or compile a function's derivative with mlc.grad"
        raise RunError(f"{kind} '{name}' requires gradients, which a compiled model does not record", hint=hint)
    about = _interface(value)
    if about is None or (not ordered and "stream" not in about and hasattr(value, "__dlpack__")):
        found = _of_dlpack(kind, name, value, stream)
    else:
        found = _of_interface(kind, name, value, about)
    if found.dtype != spec.dtype and not _same_bits(found.dtype, spec.dtype):
        swapped = found.dtype.newbyteorder("=") == spec.dtype
        hint = "Convert it" if not swapped else "Its bytes are in the other order: convert it"
        raise RunError(f"{kind} '{name}' must be {spec}, but has the dtype {found.dtype}", hint=hint)
    if found.address % found.dtype.itemsize and 0 not in found.shape:
        message = f"{kind} '{name}' begins at {found.address:#x}, no multiple of the size of its elements"
        raise RunError(f"{message}, {found.dtype.itemsize} bytes", hint="Copy it")
    return found


def _same_bits(given: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Returns whether the interface, which has no bfloat16 or 8-bit floats, gives at least the size of a ``wanted``
    element."""
    return wanted.kind == "V" and given.itemsize == wanted.itemsize


def _interface(value: Any) -> Mapping[str, Any] | None:
    try:
        return value.__cuda_array_interface__
    except Exception:  # AttributeError, or whatever a property raises: DLPack says why
        return None


def _of_interface(kind: str, name: str, value: Any, about: Mapping[str, Any]) -> DeviceArray:
    if about.get("mask") is not None:
        raise RunError(f"{kind} '{name}' has a mask, which a model does not read", hint="Give the array without it")
    shape, dtype = tuple(about["shape"]), np.dtype(about["typestr"])
    strides, stream = about.get("strides"), about.get("stream")
    _check_contiguous(kind, name, shape, strides, dtype.itemsize)
    address, read_only = about["data"]
    _check_writable(kind, name, read_only)
    if stream == 0:
        message = f"{kind} '{name}' says the stream 0, which __cuda_array_interface__ does not allow"
        raise RunError(message, hint="1 is the legacy default stream, 2 that of the thread")
    return DeviceArray(address or 0, shape, dtype, value, stream)


def _of_dlpack(kind: str, name: str, value: Any, stream: int) -> DeviceArray:
    if not hasattr(value, "__dlpack__"):
        what = "an array with __cuda_array_interface__ or __dlpack__"
        raise RunError(f"{kind} '{name}' must be {what}, not {type(value).__name__}")
    try:
        found = dlpack.on_gpu(value, _UNORDERED if is_capturing(stream) else stream or _LEGACY)  # 0 is not allowed
    except Exception as error:  # a foreign object's own export may raise anything
        raise RunError(f"{kind} '{name}' of type {type(value).__name__} is not in a GPU's memory: {error}") from None
    _check_contiguous(kind, name, found.shape, found.strides, found.dtype.itemsize)
    _check_writable(kind, name, found.read_only)
    return DeviceArray(found.address, found.shape, found.dtype, (value, found.capsule), None)


def _check_writable(kind: str, name: str, read_only: bool) -> None:
    if read_only and kind == "Output":
        raise RunError(f"{kind} '{name}' is read-only", hint="Give an array that may be written")


def _check_contiguous(
    kind: str, name: str, shape: tuple[int, ...], strides: tuple[int, ...] | None, itemsize: int
) -> None:
    if strides is None or 0 in shape:
        return
    expected = itemsize
    for size, stride in zip(reversed(shape), reversed(tuple(strides)), strict=True):
        if size > 1 and stride != expected:
            hint = "Copy it, for example by .contiguous()"
            message = f"{kind} '{name}' must be contiguous, but has strides of {tuple(strides)} bytes"
            raise RunError(message, hint=hint)
        expected *= size
