"""DLPack tensors as arrays where numpy.from_dlpack refuses: bfloat16 and 8-bit floats, and memory to write to.

The array keeps the unconsumed capsule, and so the memory: the capsule's destructor frees both.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any, NamedTuple

import numpy as np

from mlc.runtime.signature import dtype_of

_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
NARROW = {10: "float8_e4m3fn", 11: "float8_e4m3fnuz", 12: "float8_e5m2", 13: "float8_e5m2fnuz"}
_CPU, CUDA = 1, 2
_READ_ONLY = 1


class Tensor(Structure):
    """The struct DLTensor."""

    _fields_ = [
        ("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("rank", c_int32), ("code", c_uint8),
        ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]  # fmt: skip


class Versioned(Structure):
    """The struct DLManagedTensorVersioned. Before version 1, a struct held the tensor alone, then context and
    deleter."""

    _fields_ = [
        ("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", c_void_p), ("flags", c_uint64),
        ("tensor", Tensor),
    ]  # fmt: skip


_pointer = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))


class _Memory:
    """The owner of an array's bytes, for numpy.asarray."""

    def __init__(self, capsule: object, address: int, size: int, read_only: bool) -> None:
        self.capsule = capsule
        self.__array_interface__ = {"data": (address, read_only), "shape": (size,), "typestr": "|u1", "version": 3}


def view(value: Any) -> np.ndarray[Any, Any]:
    """Returns an array that shares the tensor's memory, writable unless the tensor is read-only.

    Raises BufferError if the memory is not the CPU's, and whatever the object's own export raises.
    """
    if value.__dlpack_device__()[0] != _CPU:
        raise BufferError("its memory is on another device than the CPU")
    capsule = _export(value)
    return _array(capsule, *_tensor(capsule))


class OnGpu(NamedTuple):
    """A tensor in a GPU's memory: strides in bytes (None: row-major); ``capsule`` keeps the memory."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: np.dtype[Any]
    read_only: bool
    capsule: object


def on_gpu(value: Any, stream: int) -> OnGpu:
    """Returns a tensor in a GPU's memory; the stream ``stream`` waits for what its exporter has enqueued.

    Raises BufferError if the tensor is elsewhere, and whatever the object's own export raises.
    """
    if value.__dlpack_device__()[0] != CUDA:
        raise BufferError("its memory is on another device")
    capsule = _export(value, stream=stream)
    tensor, read_only = _tensor(capsule)
    dtype, shape = _dtype(tensor), tuple(tensor.shape[: tensor.rank])
    strides = tuple(each * dtype.itemsize for each in tensor.strides[: tensor.rank]) if tensor.strides else None
    return OnGpu((tensor.data or 0) + tensor.byte_offset, shape, strides, dtype, read_only, capsule)


def _tensor(capsule: object) -> tuple[Tensor, bool]:
    """Returns the tensor, and whether it is read-only."""
    if _is_valid(capsule, b"dltensor_versioned"):
        managed = Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        return managed.tensor, bool(managed.flags & _READ_ONLY)
    return Tensor.from_address(_pointer(capsule, b"dltensor")), False


def _export(value: Any, **stream: int) -> object:
    try:
        return value.__dlpack__(max_version=(1, 1), **stream)
    except TypeError:  # an exporter from before version 1
        return value.__dlpack__(**stream)


def _array(capsule: object, tensor: Tensor, read_only: bool) -> np.ndarray[Any, Any]:
    dtype = _dtype(tensor)
    shape = tuple(tensor.shape[: tensor.rank])
    strides = tuple(each * dtype.itemsize for each in tensor.strides[: tensor.rank]) if tensor.strides else None
    if 0 in shape:
        return np.empty(shape, dtype)
    address = tensor.data + tensor.byte_offset
    first = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides or (), strict=False))
    last = sum(max(0, (n - 1) * s) for n, s in zip(shape, strides or (), strict=False)) + dtype.itemsize
    size = last - first if strides is not None else int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory: Any = _Memory(capsule, address + first, size, read_only)
    return np.ndarray(shape, dtype, np.asarray(memory), -first, strides)


def _dtype(tensor: Tensor) -> np.dtype[Any]:
    kind = NARROW.get(tensor.code) or _KINDS.get(tensor.code, "")
    if tensor.lanes != 1 or tensor.bits % 8 or not kind:
        raise BufferError(f"its DLPack type {tensor.code}, {tensor.bits} bits, is not known")
    return dtype_of(kind if kind == "bool" or tensor.code in NARROW else f"{kind}{tensor.bits}")
