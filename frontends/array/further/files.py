"""Files of arrays, buffers and strings: NumPy's functions, of arrays of known elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import asarray

ARRAYS = "Give a .npy or .npz file without objects"


def save(file: Any, arr: Any, /) -> None:
    """Write an array to a ``.npy`` file."""
    np.save(file, np.asarray(arr))


def savez(file: Any, /, *arrays: Any, **named: Any) -> None:
    """Write arrays to an ``.npz`` file, under their names or as ``arr_0``, ``arr_1``, …"""
    _write(np.savez, file, arrays, named)


def savez_compressed(file: Any, /, *arrays: Any, **named: Any) -> None:
    """``savez`` with compression."""
    _write(np.savez_compressed, file, arrays, named)


def _write(how: Callable[..., None], file: Any, arrays: tuple[Any, ...], named: dict[str, Any]) -> None:
    how(file, *map(np.asarray, arrays), **{name: np.asarray(x) for name, x in named.items()})


def load(file: Any, /) -> Array | dict[str, Array]:
    """The array of a ``.npy`` file, or those of an ``.npz`` file by name.

    Raises:
        InputError: no such file, a damaged one, one with objects, or more elements than fit into memory.
    """
    found = read_arrays(file)
    return {name: asarray(x) for name, x in found.items()} if isinstance(found, dict) else asarray(found)


def read_arrays(file: Any) -> np.ndarray[Any, Any] | dict[str, np.ndarray[Any, Any]]:
    """What ``load`` gives, as NumPy's arrays. Raises as ``load`` does."""
    try:
        found = np.load(file, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found
        with found:
            return {name: found[name] for name in found.files}
    except MemoryError as error:
        raise InputError(f"The arrays in {file} do not fit into memory: {error}", hint=ARRAYS) from error
    except Exception as error:  # of the archive, its compression, the header, which is Python's text: there are a dozen
        raise InputError(f"Cannot read the array {file}: {error}", hint=ARRAYS) from error


def frombuffer(buffer: Any, /, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """The elements of a buffer, copied; float32 by default."""
    kind = np.float32 if dtype is float else dtype
    return asarray(np.frombuffer(buffer, kind, count, offset))


def fromiter(iterable: Iterable[Any], /, dtype: Any, count: int = -1) -> Array:
    """The values of an iterable."""
    return asarray(np.fromiter(iterable, dtype, count))


def iterable(y: Any, /) -> bool:
    """Whether Python can iterate over it."""
    return np.iterable(y)


def array_repr(arr: Any, /, *args: Any, **kwargs: Any) -> str:
    """NumPy's text of an array."""
    return np.array_repr(np.asarray(arr), *args, **kwargs)


def array_str(a: Any, /, *args: Any, **kwargs: Any) -> str:
    """NumPy's text of the elements."""
    return np.array_str(np.asarray(a), *args, **kwargs)


def array2string(a: Any, /, *args: Any, **kwargs: Any) -> str:
    """NumPy's text of the elements, with its options."""
    return np.array2string(np.asarray(a), *args, **kwargs)


PUBLIC = ("save", "savez", "savez_compressed", "load", "frombuffer", "fromiter", "iterable", "array_repr") + (
    "array_str", "array2string",
)  # fmt: skip
