"""NumPy views of what a caller passes: no copy where layout allows, no silent cast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlc.runtime import memory
from mlc.runtime.errors import RunError
from mlc.runtime.signature import TensorSpec


def as_input(name: str, spec: TensorSpec, value: Any) -> np.ndarray[Any, Any]:
    """A contiguous array of the specified dtype: ``value`` itself, a view of it (DLPack), or a contiguous copy.

    Raises RunError where it is no array or its dtype differs.
    """
    array = value if type(value) is np.ndarray else _convert(name, value)
    if array.dtype != spec.dtype:
        hint = f"Convert it, for example by .astype(numpy.{spec.dtype.name})"
        raise RunError(f"Input '{name}' must be {spec}, but has the dtype {array.dtype}", hint=hint)
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else np.require(array, requirements=["C", "A"])


def _convert(name: str, value: Any) -> np.ndarray[Any, Any]:
    try:
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray | np.generic):
            return np.from_dlpack(value)
        return np.asarray(value)
    except Exception as error:  # a foreign object's own conversion may raise anything
        raise RunError(f"Input '{name}' of type {type(value).__name__} is not an array: {error}") from None


def check_output(name: str, spec: TensorSpec, shape: tuple[int, ...], array: Any) -> None:
    """Raises RunError where the model cannot write its output straight into a caller's array."""
    if not isinstance(array, np.ndarray):
        raise RunError(f"Output '{name}' must be a NumPy array, not {type(array).__name__}")
    if array.dtype != spec.dtype or array.shape != shape:
        given = f"{array.dtype} of the shape {array.shape}"
        raise RunError(f"Output '{name}' must be {spec.dtype} of the shape {shape}, but the given array is {given}")
    if not (array.flags.c_contiguous and array.flags.aligned and array.flags.writeable):
        raise RunError(f"The array given for output '{name}' must be contiguous, aligned and writable")


def check_disjoint(arrays: Sequence[np.ndarray[Any, Any]], name: str, output: np.ndarray[Any, Any]) -> None:
    """Raises RunError where a caller's output shares memory with another array of the call."""
    if any(np.may_share_memory(array, output) for array in arrays if array is not None):
        raise RunError(f"The array given for output '{name}' overlaps another input or output")


def allocate(name: str, spec: TensorSpec, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """An uninitialised output. Raises RunError where the shape is impossible or memory is short."""
    size = math.prod(shape) * spec.dtype.itemsize
    try:
        return memory.empty(shape, spec.dtype, size)
    except (ValueError, MemoryError):
        message = f"Cannot allocate output '{name}' of the shape {shape}, {size} bytes"
        raise RunError(message, hint="Check the shapes of the inputs") from None
