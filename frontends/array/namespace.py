"""The names of ``mlc.numpy``: functions, data types and constants of the Array API standard 2025.12."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from mlc.dialects.types import numpy_dtype
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions import creation, elementwise, products, reductions, shaping
from mlc.frontends.array.functions.indexing import index, take, take_along_axis

DTYPES = {
    name: np.dtype(name)
    for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32")
    + ("float64",)
}
CONSTANTS = {"e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None, "pi": math.pi}


def positive(x: Any, /) -> Array:
    """``x``."""
    return as_array(x)


def result_type(*given: Any) -> np.dtype[Any]:
    """The type of a result of these arrays, types and Python scalars."""
    scalars = [x for x in given if isinstance(x, bool | int | float)]
    names = [x.element if isinstance(x, Array) else dtypes.element(x) for x in given if not _is_scalar(x)]
    common = dtypes.promote(*names) if names else dtypes.element_of_scalar(scalars[0])
    for each in scalars:
        common = dtypes.of_scalar_beside(each, common)
    return numpy_dtype(common)


def _is_scalar(x: Any) -> bool:
    return isinstance(x, bool | int | float)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: str | None = None) -> Array:
    """``x`` in another type; floats are truncated towards 0 where it is an integer type."""
    return elementwise.astype(x, dtype)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a type is of a kind: a type, ``"bool"``, ``"integral"``, ``"numeric"``, …, or several."""
    return bool(np.isdtype(np.dtype(dtype), kind))


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether promotion may turn one type into another."""
    source = from_.element if isinstance(from_, Array) else dtypes.element(from_)
    try:
        return dtypes.promote(source, dtypes.element(to)) == dtypes.element(to)
    except dtypes.InputError:
        return False


def finfo(type: Any, /) -> np.finfo[Any]:
    """The limits of a float type."""
    return np.finfo(numpy_dtype(type.element if isinstance(type, Array) else dtypes.element(type)))


def iinfo(type: Any, /) -> np.iinfo[Any]:
    """The limits of an integer type."""
    return np.iinfo(numpy_dtype(type.element if isinstance(type, Array) else dtypes.element(type)))


def _public(module: ModuleType) -> dict[str, Callable[..., Any]]:
    return {name: getattr(module, name) for name in module.PUBLIC}


NAMESPACE: dict[str, Callable[..., Any]] = {
    **elementwise.FUNCTIONS,
    **_public(elementwise),
    **_public(creation),
    **_public(products),
    **_public(shaping),
    **_public(reductions),
    "any": reductions.any_,
    **{f.__name__: f for f in (positive, result_type, astype, isdtype, can_cast, finfo, iinfo, take, take_along_axis)},
}

__all__ = ["CONSTANTS", "DTYPES", "NAMESPACE", "index"]
