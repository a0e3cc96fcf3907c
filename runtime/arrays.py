"""NumPy views of what a caller passes: no copy where layout allows, no silent cast."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from mlc.runtime.errors import RunError
from mlc.runtime.signature import POINTERS, TEXTS, TensorSpec

FEW = 4  # of an array, a part below one in so many is copied, so that the rest is free


def layouts(arrays: Iterable[Any]) -> tuple[Any, ...]:
    """All that decides how arrays fit a model, as a key: classes, dtypes, shapes, and flags such as contiguity.

    Raises anything where one is not NumPy's.
    """
    key: tuple[Any, ...] = ()
    for array in arrays:  # in every call: a comprehension would cost a function call
        key += (array.__class__, array.dtype, array.shape, array.flags.num)
    return key


def as_input(name: str, spec: TensorSpec, value: Any) -> np.ndarray[Any, Any]:
    """A contiguous array of the specified dtype: ``value`` itself, a view of it (DLPack), or a contiguous copy.

    Of texts it is one of pointers.

    Raises RunError where it is no array or its dtype differs.
    """
    array = value if type(value) is np.ndarray else _convert(name, value)
    if spec.dtype == TEXTS:
        return pointers(name, spec, array)
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


def pointers(name: str, spec: TensorSpec, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Texts as C has them: a pointer each, in memory that also holds the texts.

    Raises RunError where an element is no text, or has a zero in it or a surrogate.
    """
    if array.dtype.kind not in "UOT":
        raise RunError(f"Input '{name}' must be {spec}, of texts, but has the dtype {array.dtype}")
    try:
        data = [text.encode() for text in array.reshape(-1).tolist()]
    except (AttributeError, UnicodeEncodeError) as error:
        raise RunError(f"Input '{name}' has an element that is no text: {error}") from None
    if any(b"\0" in text for text in data):
        raise RunError(f"Input '{name}' has a text with a zero in it, where texts end")
    ends = np.cumsum([len(text) + 1 for text in data], dtype=np.uintp)
    memory = np.empty(POINTERS.itemsize * len(data) + int(ends[-1] if data else 0), np.uint8)
    places = memory[: POINTERS.itemsize * len(data)].view(POINTERS)
    memory[places.nbytes :] = np.frombuffer(b"\0".join([*data, b""]), np.uint8)
    places[:] = memory.ctypes.data + places.nbytes + np.concatenate([[0], ends[:-1]]) if data else 0
    return places.reshape(array.shape)


def beginning(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """An array of ``shape`` with the first elements of ``array``: a copy where they are few."""
    found = array.reshape(-1)[: math.prod(shape)].reshape(shape)
    return found if found.size * FEW > array.size else found.copy()


def check_output(name: str, shape: tuple[int, ...], dtype: np.dtype[Any], array: Any) -> None:
    """Raises RunError where the model cannot write its output straight into a caller's array."""
    if not isinstance(array, np.ndarray):
        raise RunError(f"Output '{name}' must be a NumPy array, not {type(array).__name__}")
    if array.dtype != dtype or array.shape != shape:
        given = f"{array.dtype} of the shape {array.shape}"
        raise RunError(f"Output '{name}' must be {dtype} of the shape {shape}, but the given array is {given}")
    if not (array.flags.c_contiguous and array.flags.aligned and array.flags.writeable):
        raise RunError(f"The array given for output '{name}' must be contiguous, aligned and writable")


def check_disjoint(arrays: Iterable[np.ndarray[Any, Any]], name: str, output: np.ndarray[Any, Any]) -> None:
    """Raises RunError where a caller's output shares memory with another array of the call."""
    if any(np.may_share_memory(array, output) for array in arrays):
        raise RunError(f"The array given for output '{name}' overlaps another input or output")
