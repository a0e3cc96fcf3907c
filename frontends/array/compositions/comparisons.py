"""Comparisons of whole arrays, and tests of values and types. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import numpy_dtype
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array, known
from mlc.frontends.array.functions.elementwise import FUNCTIONS, is_complex, operands
from mlc.frontends.array.functions.reductions import all as every
from mlc.frontends.array.functions.shaping import broadcast


def isclose(x1: Any, x2: Any, /, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Whether elements differ by at most ``atol + rtol * abs(x2)``; infinities equal themselves alone."""
    a, b = operands(x1, x2, lowest=2)
    size = FUNCTIONS["abs"]
    near = FUNCTIONS["isfinite"](b) & (size(a - b) <= atol + rtol * size(b))
    found = near | (a == b)
    return found | (FUNCTIONS["isnan"](a) & FUNCTIONS["isnan"](b)) if equal_nan else found


def allclose(x1: Any, x2: Any, /, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Whether ``isclose`` holds for all elements."""
    return every(isclose(x1, x2, rtol, atol, equal_nan))


def array_equal(x1: Any, x2: Any, /, equal_nan: bool = False) -> Array:
    """Whether two arrays have the same shape and elements."""
    a, b = as_array(x1), as_array(x2)
    if a.shape != b.shape:
        return known(False, "i1")
    same = a == b
    if equal_nan:
        same = same | ((a != a) & (b != b))
    return every(same)


def array_equiv(x1: Any, x2: Any, /) -> Array:
    """Whether two arrays have the same elements where they are broadcast."""
    a, b = as_array(x1), as_array(x2)
    try:
        broadcast(a.shape, b.shape)
    except ValueError:
        return known(False, "i1")
    return every(a == b)


def isposinf(x: Any, /) -> Array:
    """Whether elements are +infinity."""
    return as_array(x) == math.inf


def isneginf(x: Any, /) -> Array:
    """Whether elements are -infinity."""
    return as_array(x) == -math.inf


def iscomplex(x: Any, /) -> Array:
    """Whether elements have an imaginary part that is not 0."""
    return FUNCTIONS["imag"](x) != 0


def isreal(x: Any, /) -> Array:
    """Whether elements have no imaginary part, or one of 0."""
    return FUNCTIONS["imag"](x) == 0


def iscomplexobj(x: Any, /) -> bool:
    """Whether the type is complex."""
    return is_complex(as_array(x))


def isrealobj(x: Any, /) -> bool:
    """Whether the type is not complex."""
    return not iscomplexobj(x)


def isscalar(x: Any, /) -> bool:
    """Whether ``x`` is a number, or an array of rank 0."""
    return isinstance(x, bool | int | float | complex | np.generic) or (isinstance(x, Array) and x.ndim == 0)


def ndim(x: Any, /) -> int:
    """The number of dimensions."""
    return as_array(x).ndim


def shape(x: Any, /) -> tuple[DimLike, ...]:
    """The extents."""
    return as_array(x).shape


def size(x: Any, /, axis: int | None = None) -> DimLike:
    """The number of elements, or the extent of one axis."""
    given = as_array(x)
    return given.size if axis is None else given.shape[axis]


def issubdtype(dtype: Any, kind: Any, /) -> bool:
    """Whether a type is of a kind of NumPy's, such as ``np.floating``."""
    return bool(np.issubdtype(np.dtype(dtype) if not isinstance(dtype, type) else dtype, kind))


def promote_types(first: Any, second: Any, /) -> np.dtype[Any]:
    """The common type of arrays of two types."""
    return numpy_dtype(dtypes.promote(dtypes.element(first), dtypes.element(second)))


PUBLIC = (
    *("isclose", "allclose", "array_equal", "array_equiv", "isposinf", "isneginf", "iscomplex", "isreal"),
    *("iscomplexobj", "isrealobj", "isscalar", "ndim", "shape", "size", "issubdtype", "promote_types"),
)
