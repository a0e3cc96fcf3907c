"""``mlc.numpy``: lazy arrays with the functions of NumPy, and of the Array API standard 2025.12.

    import mlc.numpy as mnp

    x = mnp.linspace(0, 1, 5)
    print(mnp.sum(mnp.sin(x)))     # evaluated when it is printed

The same functions trace in ``mlc.jit`` and have derivatives (``mlc.grad``). The default types are float32 and
int64. ``x[key] = v`` changes the array ``x`` and no other one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.frontends.array.array import Array as Array
from mlc.frontends.array.array import TraceError as TraceError
from mlc.frontends.array.missing import missing
from mlc.frontends.array.namespace import CONSTANTS, DTYPES, NAMESPACE
from mlc.frontends.array.selecting.grids import OBJECTS
from mlc.numpy import fft as fft
from mlc.numpy import linalg as linalg
from mlc.numpy import random as random
from mlc.tracing import eager  # noqa: F401 - compiles what repeats

__array_api_version__ = "2025.12"
ndarray = Array
"""NumPy's name of the class."""
_TYPES: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("dtype", "floating", "inexact", "integer", "number")},
    **{name: getattr(np, name) for name in ("complexfloating", "signedinteger", "unsignedinteger")},
    **{"bool_": DTYPES["bool"], "int_": DTYPES["int64"], "float_": DTYPES["float32"], "complex_": DTYPES["complex64"]},
}
"""Kinds of types for ``issubdtype``, and the default types by NumPy's names."""
_TYPES |= {"single": DTYPES["float32"], "double": DTYPES["float64"], "csingle": DTYPES["complex64"]}
_TYPES |= {"half": DTYPES["float16"], "cdouble": DTYPES["complex128"], "uint": DTYPES["uint64"], "generic": np.generic}
_TYPES |= {"intp": DTYPES["int64"], "byte": DTYPES["int8"], "ubyte": DTYPES["uint8"]}
_NUMPYS = {
    name: getattr(np, name)
    for name in ("set_printoptions", "get_printoptions", "printoptions", "base_repr", "binary_repr", "ndindex")
}
"""What has to do with no array of ours."""
_NAMES = CONSTANTS | DTYPES | NAMESPACE | OBJECTS | _TYPES | _NUMPYS
__all__ = sorted(["Array", "TraceError", "fft", "linalg", "ndarray", "random", *_NAMES])

globals().update(_NAMES)


def __getattr__(name: str) -> Any:
    raise missing("mlc.numpy", name, __all__)
