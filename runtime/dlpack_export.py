"""Tensors in a GPU's memory as DLPack capsules, which keep the object that owns the memory.

Source: DLPack 1.1. A consumer calls the deleter, and renames the capsule; an unconsumed capsule calls it itself.
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, PYFUNCTYPE, Structure, addressof, c_char_p, c_int, c_int64, c_void_p, cast
from typing import Any

import numpy as np

from mlc.runtime import dlpack

_NAMES = {False: b"dltensor", True: b"dltensor_versioned"}
_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_NAMED = {"bfloat16": 4} | {name: code for code, name in dlpack.NARROW.items()}


class _Managed(Structure):
    """The struct DLManagedTensor."""

    _fields_ = [("tensor", dlpack.Tensor), ("context", c_void_p), ("deleter", c_void_p)]


_live: dict[int, object] = {}  # by the address of a managed tensor: what it refers to


@CFUNCTYPE(None, c_void_p)
def _delete(address: int) -> None:
    _live.pop(address, None)


_new = PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_is_valid = PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


@PYFUNCTYPE(None, c_void_p)
def _destroy(capsule: int) -> None:
    for name in _NAMES.values():
        if _is_valid(capsule, name):
            _live.pop(_pointer(capsule, name), None)


def export(
    owner: object,
    address: int,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    device: int,
    version: tuple[int, int] | None,
) -> object:
    """Returns the capsule of a row-major tensor. Raises BufferError if DLPack has no such dtype."""
    extents = (c_int64 * max(len(shape), 1))(*shape)
    code = _NAMED.get(dtype.name, _KINDS.get(dtype.kind, -1))
    if code < 0:
        raise BufferError(f"DLPack has no elements of dtype {dtype}")
    tensor = dlpack.Tensor(
        data=address, device_type=dlpack.CUDA, device_id=device, rank=len(shape), code=code, bits=8 * dtype.itemsize,
        lanes=1, shape=cast(extents, POINTER(c_int64)), strides=None,
    )  # fmt: skip
    versioned, deleter = version is not None and version[0] >= 1, cast(_delete, c_void_p).value
    managed: Structure = (
        dlpack.Versioned(major=1, minor=1, deleter=deleter, tensor=tensor)
        if versioned
        else _Managed(tensor=tensor, deleter=deleter)
    )
    _live[addressof(managed)] = (managed, extents, owner)
    return _new(addressof(managed), _NAMES[versioned], cast(_destroy, c_void_p))
