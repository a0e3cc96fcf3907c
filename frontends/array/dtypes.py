"""Data types of arrays and their promotion, as in the Array API standard 2025.12.

A Python scalar takes the type of the array beside it. Beyond the standard, an integer beside a float takes the
float's type, as in JAX: a sum of int64 and float32 is float32.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from mlc.dialects.types import ITEMSIZE, Shape, element_of_dtype, element_of_name, is_float, is_unsigned, numpy_dtype
from mlc.errors import InputError

Scalar = bool | int | float | complex | np.generic

FLOAT, INTEGER = "f32", "i64"
"""What Python's floats and integers become where no array says otherwise."""
COMPLEX = {"f32": "c64", "f64": "c128"}
"""The complex type of pairs of these floats."""
PART = {pair: part for part, pair in COMPLEX.items()}
SUPPORTED = frozenset(["i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f32", "f64"])
PYTHON: dict[type, str] = {float: FLOAT, int: INTEGER, bool: "i1", complex: COMPLEX[FLOAT]}


def element(dtype: Any) -> str:
    """``f32`` of ``float32``, ``np.float32``, ``"float32"`` or Python's ``float``.

    Raises:
        InputError: arrays have no such type.
    """
    if isinstance(dtype, type) and dtype in PYTHON:
        return PYTHON[dtype]
    try:
        named = element_of_name(dtype) if isinstance(dtype, str) else None
        found = named or element_of_dtype(dtype if isinstance(dtype, np.dtype) else np.dtype(dtype))
    except (TypeError, KeyError):
        found = ""
    if found not in SUPPORTED and found not in PART:
        raise InputError(
            f"Arrays of dtype {dtype} do not exist", hint="Use bool, an integer, a float or a complex type"
        )
    return found


def text(element: str, shape: Shape) -> str:
    """``float32[3, n]``."""
    return f"{numpy_dtype(element)}[{', '.join(map(str, shape))}]"


def element_of_scalar(value: Any) -> str:
    if isinstance(value, np.generic):
        return element(value.dtype)
    return PYTHON[type(value)]


def default_types(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Python's numbers in the default types."""
    wanted = {"f": FLOAT, "c": COMPLEX[FLOAT]}.get(data.dtype.kind)
    return data if wanted is None else data.astype(numpy_dtype(wanted))


@cache
def kind(name: str) -> int:
    """The order of kinds: 0 for bool, 1 for integers, 2 for floats, 3 for complex numbers."""
    return 0 if name == "i1" else 2 if is_float(name) else 3 if name in PART else 1


@cache
def promote(*names: str) -> str:
    """The common type of arrays.

    Raises:
        InputError: ui64 beside a signed integer: no integer holds both.
    """
    highest = max(map(kind, names))
    if highest == 3:
        return "c128" if {"c128", "f64"} & set(names) else "c64"
    among = sorted({name for name in names if kind(name) == highest}, key=lambda n: ITEMSIZE[n])
    if {"f16", "bf16"} <= set(among):
        return "f32" if among[-1] != "f64" else "f64"
    if highest == 1:
        return _integers(among)
    return among[-1]


def _integers(names: list[str]) -> str:
    signed, unsigned = ([n for n in names if is_unsigned(n) == which] for which in (False, True))
    if not signed or not unsigned:
        return names[-1]
    wanted = max(ITEMSIZE[signed[-1]], 2 * ITEMSIZE[unsigned[-1]])
    if wanted > 8:
        why = f"{numpy_dtype(unsigned[-1])} and {numpy_dtype(signed[-1])} have no common integer type"
        raise InputError(why, hint="Convert one of them by astype")
    return f"i{8 * wanted}"


def of_scalar_beside(value: Scalar, name: str) -> str:
    """The type that a Python scalar takes beside an array."""
    own = element_of_scalar(value)
    if isinstance(value, np.generic | complex):
        return promote(own, name)
    return own if kind(own) > kind(name) else name


def accumulator(name: str) -> str:
    """The type of a sum or product: the default integer for narrower ones, as in the standard."""
    if name == "i1":
        return INTEGER
    if kind(name) == 1 and ITEMSIZE[name] < 8:
        return "ui64" if is_unsigned(name) else INTEGER
    return name


def limits(name: str) -> np.finfo[Any]:
    """The limits of a float type, or of the parts of a complex type."""
    return np.finfo(numpy_dtype(PART.get(name, name)))


def is_array_like(x: Any) -> bool:
    """Whether ``x`` is an array: of NumPy, of mlc, or of another package that has DLPack."""
    return isinstance(x, np.ndarray) or hasattr(x, "__dlpack__")
