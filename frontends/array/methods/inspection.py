"""Inspection of the namespace: devices, data types, capabilities. Source: Array API 2025.12, inspection."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.dialects.types import numpy_dtype
from mlc.frontends.array import dtypes

NAMES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32")
DTYPES = {name: np.dtype(name) for name in (*NAMES, "float64", "complex64", "complex128")}
DTYPES["bfloat16"] = numpy_dtype("bf16")
_BEYOND = {"float16", "bfloat16"}  # the standard's
DEVICE = "cpu"


class Info:
    """What ``__array_namespace_info__()`` returns."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> str:
        return DEVICE

    def devices(self) -> tuple[str, ...]:
        return (DEVICE,)

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype[Any]]:
        real, integer = numpy_dtype(dtypes.FLOAT), numpy_dtype(dtypes.INTEGER)
        complex_ = numpy_dtype(dtypes.COMPLEX[dtypes.FLOAT])
        return {"real floating": real, "complex floating": complex_, "integral": integer, "indexing": integer}

    def dtypes(self, *, device: str | None = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """The data types of a kind, or of several: ``bool``, ``integral``, ``numeric``, …"""
        given = {name: dtype for name, dtype in DTYPES.items() if name not in _BEYOND}
        return given if kind is None else {name: dtype for name, dtype in given.items() if np.isdtype(dtype, kind)}


def __array_namespace_info__() -> Info:
    """The inspection functions of the namespace."""
    return Info()
