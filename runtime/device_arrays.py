"""The caller's arrays in a GPU's memory: their addresses, by ``__cuda_array_interface__`` or DLPack, without a copy.

Source: Numba, "CUDA Array Interface (Version 3)"; DLPack 1.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from mlc.errors import RunError
from mlc.runtime import dlpack
from mlc.runtime.signature import STRINGS, TensorSpec


class DeviceArray(NamedTuple):
    """A contiguous array in the device's memory; ``owner`` keeps the memory while this is referenced."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    owner: object


def device_array(kind: str, name: str, spec: TensorSpec, value: Any) -> DeviceArray:
    """The array of an input or output (``kind``). Raises RunError where it is none of a GPU, or does not fit."""
    if spec.dtype == STRINGS:
        raise RunError(f"{kind} '{name}' has strings, which a GPU's memory cannot have", hint="Use run")
    read = _of_interface if hasattr(value, "__cuda_array_interface__") else _of_dlpack
    found = read(kind, name, value)
    if found.dtype != spec.dtype and not _same_bits(found.dtype, spec.dtype):
        raise RunError(f"{kind} '{name}' must be {spec}, but has the dtype {found.dtype}")
    return found


def _same_bits(given: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Whether the interface, which has no bfloat16 or 8-bit floats, can only say the size of a ``wanted`` element."""
    return wanted.kind == "V" and given.itemsize == wanted.itemsize


def _of_interface(kind: str, name: str, value: Any) -> DeviceArray:
    about: Mapping[str, Any] = value.__cuda_array_interface__
    shape, dtype = tuple(about["shape"]), np.dtype(about["typestr"])
    strides = about.get("strides")
    if strides is not None and not _is_contiguous(shape, tuple(strides), dtype.itemsize):
        raise RunError(f"{kind} '{name}' must be contiguous", hint="Copy it, for example by .contiguous()")
    address, read_only = about["data"]
    if read_only and kind == "Output":
        raise RunError(f"{kind} '{name}' is read-only")
    return DeviceArray(address or 0, shape, dtype, value)


def _of_dlpack(kind: str, name: str, value: Any) -> DeviceArray:
    if not hasattr(value, "__dlpack__"):
        what = "an array with __cuda_array_interface__ or __dlpack__"
        raise RunError(f"{kind} '{name}' must be {what}, not {type(value).__name__}")
    try:
        address, shape, strides, dtype = dlpack.on_gpu(value)
    except Exception as error:  # a foreign object's own export may raise anything
        raise RunError(f"{kind} '{name}' of type {type(value).__name__} is not in a GPU's memory: {error}") from None
    if strides is not None and not _is_contiguous(shape, strides, dtype.itemsize):
        raise RunError(f"{kind} '{name}' must be contiguous", hint="Copy it, for example by .contiguous()")
    return DeviceArray(address, shape, dtype, value)


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    expected = itemsize
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size > 1 and stride != expected:
            return 0 in shape
        expected *= size
    return True
