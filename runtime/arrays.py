"""The caller's arrays as NumPy views: no copy where the layout allows it, no silent cast."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from mlc.errors import RunError
from mlc.runtime.signature import POINTERS, STRINGS, TensorSpec

_packed: Any = None
with suppress(ImportError):  # built where the installation has a C compiler
    from mlc.runtime._call import packed as _packed

COPIED_FRACTION = 4  # an output that uses less than one in so many elements is copied, so that the rest is freed


def layouts(arrays: Iterable[Any]) -> tuple[Any, ...]:
    """Returns the cache key of a plan: classes, dtypes, shapes and flags (such as contiguity) of the arguments.

    Raises whatever an object that is no NumPy array raises.
    """
    key: tuple[Any, ...] = ()
    for array in arrays:  # in every call: a comprehension would cost a function call
        key += (array.__class__, array.dtype, array.shape, array.flags.num)
    return key


def as_input(name: str, spec: TensorSpec, value: Any) -> np.ndarray[Any, Any]:
    """Returns a contiguous array of the specified dtype: ``value`` itself, a view of it (DLPack), or a contiguous
    copy.

    Strings become an array of pointers.

    Raises RunError if ``value`` is not an array or its dtype differs.
    """
    array = value if type(value) is np.ndarray else as_numpy(name, value)
    if spec.dtype == STRINGS:
        return pointers(name, spec, array)
    if array.dtype != spec.dtype and array is not value and array.dtype.kind in "OUS":
        what = f"Input '{name}' must be {spec}, but is {_article(type(value).__name__)}"
        raise RunError(what, hint="Give a NumPy array of numbers, or a tensor with __dlpack__")
    if array.dtype != spec.dtype:
        hint = f"Convert it, for example by .astype(numpy.{spec.dtype.name})"
        raise RunError(f"Input '{name}' must be {spec}, but has the dtype {array.dtype}", hint=hint)
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else _compact(name, array)


def _compact(name: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns a contiguous copy. Raises RunError if the copy, such as that of a large broadcast, does not fit in
    memory."""
    try:
        return np.require(array, requirements=["C", "A"])
    except MemoryError:
        what = f"Input '{name}' of the shape {array.shape} is not contiguous, and memory has no room for a copy"
        raise RunError(what, hint="Give a contiguous array, or a smaller one") from None


def as_numpy(name: str, value: Any) -> np.ndarray[Any, Any]:
    """Returns any array as a NumPy array, which is a view if the array has DLPack. Raises RunError if that fails."""
    if hasattr(value, "__cuda_array_interface__"):
        raise RunError(f"Input '{name}' is in a GPU's memory", hint="Use run_device, or copy it to the host's memory")
    try:
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray | np.generic):
            return _from_dlpack(value)
        return np.asarray(value)
    except Exception as error:  # a foreign object's own conversion may raise anything
        raise RunError(f"Input '{name}' of type {type(value).__name__} is not an array: {error}") from None


def _from_dlpack(value: Any) -> np.ndarray[Any, Any]:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError):  # such as bfloat16, which NumPy does not know
        from mlc.runtime import dlpack

        return dlpack.view(value)


def as_outputs(out: Mapping[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Returns the caller's outputs as arrays that share their memory. Raises RunError if one cannot."""
    return {name: value if isinstance(value, np.ndarray) else _as_output(name, value) for name, value in out.items()}


def _article(kind: str) -> str:
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def _as_output(name: str, value: Any) -> np.ndarray[Any, Any]:
    from mlc.runtime import dlpack

    kind = type(value).__name__
    if not hasattr(value, "__dlpack__") or isinstance(value, np.generic):
        raise RunError(f"Output '{name}' must be a NumPy array or a tensor with __dlpack__, not {kind}")
    try:
        return dlpack.view(value)
    except Exception as error:  # a foreign object's own conversion may raise anything
        raise RunError(f"Output '{name}' of type {kind} cannot be written to: {error}") from None


def pointers(name: str, spec: TensorSpec, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns strings for C: an array of pointers, in memory that contains the strings as well.

    Raises RunError if an element is no string, or contains a zero or a surrogate.
    """
    if array.dtype.kind not in "UOT":
        raise RunError(f"Input '{name}' must be {spec}, of strings, but has the dtype {array.dtype}")
    block = _packed(np.ascontiguousarray(array, STRINGS)) if _packed is not None and array.size else None
    if block is not None:
        return np.frombuffer(block, POINTERS, array.size).reshape(array.shape)
    try:
        data = [string.encode() for string in array.reshape(-1).tolist()]
    except (AttributeError, UnicodeEncodeError) as error:
        raise RunError(f"Input '{name}' has an element that is not a string: {error}") from None
    text = b"\0".join([*data, b""])
    if text.count(0) != len(data):
        raise RunError(f"Input '{name}' has a string with a zero in it, where strings end")
    first = POINTERS.itemsize * len(data)
    memory = np.empty(first + len(text), np.uint8)
    memory[first:] = np.frombuffer(text, np.uint8)
    found = memory[:first].view(POINTERS)
    found[:] = _starts(memory.__array_interface__["data"][0] + first, data)
    return found.reshape(array.shape)


def _starts(at: int, data: Sequence[bytes]) -> list[int]:
    """Returns the addresses of strings that follow each other from ``at`` on, each with a zero at its end."""
    found = []
    for string in data:  # of the usual few strings NumPy takes longer
        found.append(at)
        at += len(string) + 1
    return found


def leading_elements(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Returns an array of ``shape`` with the first elements of ``array``: a copy if most of the array is unused."""
    found = array.reshape(-1)[: math.prod(shape)].reshape(shape)
    return found if found.size * COPIED_FRACTION > array.size else found.copy()


def check_output(name: str, shape: tuple[int, ...], dtype: np.dtype[Any], array: np.ndarray[Any, Any]) -> None:
    """Raises RunError if the model cannot write its output directly into the caller's array."""
    if array.dtype != dtype or array.shape != shape:
        given = f"{array.dtype} of the shape {array.shape}"
        raise RunError(f"Output '{name}' must be {dtype} of the shape {shape}, but the given array is {given}")
    if not (array.flags.c_contiguous and array.flags.aligned and array.flags.writeable):
        raise RunError(f"The array given for output '{name}' must be contiguous, aligned and writable")


def is_same(array: np.ndarray[Any, Any], output: np.ndarray[Any, Any]) -> bool:
    """Returns whether both arrays are all of the same memory."""
    return array.nbytes == output.nbytes and array.ctypes.data == output.ctypes.data


def check_disjoint(arrays: Iterable[np.ndarray[Any, Any]], name: str, output: np.ndarray[Any, Any]) -> None:
    """Raises RunError if a caller's output shares memory with another array of the call."""
    if any(np.may_share_memory(array, output) for array in arrays):
        raise RunError(f"The array given for output '{name}' overlaps another input or output")
