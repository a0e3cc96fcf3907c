"""``mlc.numpy``: lazy arrays with the functions of the Array API standard 2025.12.

    import mlc.numpy as mnp

    x = mnp.linspace(0, 1, 5)
    print(mnp.sum(mnp.sin(x)))     # evaluated when it is printed

The same functions trace in ``mlc.jit`` and have derivatives (``mlc.grad``). Arrays are never mutated; their default
types are float32 and int64.
"""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.array import Array as Array
from mlc.frontends.array.array import TraceError as TraceError
from mlc.frontends.array.namespace import CONSTANTS, DTYPES, NAMESPACE
from mlc.numpy import fft as fft
from mlc.numpy import linalg as linalg
from mlc.numpy import random as random
from mlc.tracing import eager  # noqa: F401 - compiles what repeats

__array_api_version__ = "2025.12"
__all__ = sorted(["Array", "TraceError", "fft", "linalg", "random", *CONSTANTS, *DTYPES, *NAMESPACE])

globals().update(CONSTANTS | DTYPES | NAMESPACE)


def __getattr__(name: str) -> Any:  # for type checkers: the names are put in above
    raise AttributeError(f"module 'mlc.numpy' has no attribute '{name}'")
