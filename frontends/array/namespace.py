"""The names of ``mlc.numpy``: functions, data types and constants of the Array API standard 2025.12."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from mlc.dialects.types import numpy_dtype
from mlc.frontends.array import dtypes, eager
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.compositions import (
    arithmetic,
    arranging,
    comparisons,
    construction,
    insertion,
    matrices,
    missing_values,
    selection,
    signals,
    statistics,
)
from mlc.frontends.array.compositions import sets as numpy_sets
from mlc.frontends.array.compositions.aliases import ALIASES
from mlc.frontends.array.functions import (
    creation,
    elementwise,
    floats,
    indexing,
    positions,
    products,
    reductions,
    running,
    shaping,
    sorting,
)
from mlc.frontends.array.functions.expressions import BINARY, COMPARISONS, LOGICAL, REAL_BINARY
from mlc.frontends.array.further import bits, files, histograms, polynomials, spreads, windows
from mlc.frontends.array.methods.inspection import DTYPES, __array_namespace_info__
from mlc.frontends.array.methods.operators import FUNCTIONS
from mlc.frontends.array.public import public
from mlc.frontends.array.selecting import known, sets, updates
from mlc.frontends.array.selecting.taking import take, take_along_axis

CONSTANTS = {
    "e": math.e,
    "euler_gamma": np.euler_gamma,
    "inf": math.inf,
    "nan": math.nan,
    "newaxis": None,
    "pi": math.pi,
}


def positive(x: Any, /) -> Array:
    """``x``."""
    return as_array(x)


def result_type(*given: Any) -> np.dtype[Any]:
    """The type of a result of these arrays, types and Python scalars."""
    scalars = [x for x in given if isinstance(x, bool | int | float | complex)]
    names = [x.element if isinstance(x, Array) else dtypes.element(x) for x in given if not _is_scalar(x)]
    common = dtypes.promote(*names) if names else dtypes.element_of_scalar(scalars[0])
    for each in scalars:
        common = dtypes.of_scalar_beside(each, common)
    return numpy_dtype(common)


def _is_scalar(x: Any) -> bool:
    return isinstance(x, bool | int | float | complex)


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


class FloatLimits(NamedTuple):
    """What ``finfo`` returns, as Python's numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


def finfo(type: Any, /) -> FloatLimits:
    """The limits of a float type, or of the parts of a complex type."""
    found = np.finfo(numpy_dtype(type.element if isinstance(type, Array) else dtypes.element(type)))
    eps, most, least, normal = (float(each) for each in (found.eps, found.max, found.min, found.smallest_normal))
    return FloatLimits(found.bits, eps, most, least, normal, found.dtype)


def iinfo(type: Any, /) -> np.iinfo[Any]:
    """The limits of an integer type."""
    return np.iinfo(numpy_dtype(type.element if isinstance(type, Array) else dtypes.element(type)))


def _public(module: ModuleType) -> dict[str, Callable[..., Any]]:
    return {name: getattr(module, name) for name in module.PUBLIC}


_SMALL: dict[str, Callable[..., Any]] = {
    **elementwise.FUNCTIONS,
    **_public(products),
    **_public(shaping),
    **_public(reductions),
    **_public(spreads),
    **_public(positions),
    **_public(running),
    "any": reductions.any_,
    "astype": elementwise.astype,
    **{name: f for module in (arithmetic, arranging, comparisons, missing_values, signals, statistics)
       for name, f in _public(module).items()},
}  # fmt: skip
"""Functions that are evaluated at once where arrays are small: what they do depends on types and shapes alone."""
_OTHERS: dict[str, Callable[..., Any]] = {
    **_public(creation),
    **_public(floats),
    **_public(sets),
    **_public(sorting),
    **{f.__name__: f for f in (positive, result_type, isdtype, can_cast, finfo, iinfo, take, take_along_axis)},
    **{name: f for module in (bits, construction, files, histograms, insertion, matrices, numpy_sets, polynomials,
                              selection, windows)
       for name, f in _public(module).items()},
    "__array_namespace_info__": __array_namespace_info__,
}  # fmt: skip
_NUMBERS = frozenset([*BINARY, *REAL_BINARY, *COMPARISONS, *LOGICAL]) - {"floor_divide"}
"""Of which a number beside an array is an argument, and no part of the program."""
NAMESPACE = {
    **{n: public(f"mlc.numpy.{n}", f, partial(eager.call, scalars=n in _NUMBERS)) for n, f in _SMALL.items()},
    **{n: public(f"mlc.numpy.{n}", f) for n, f in _OTHERS.items()},
}
NAMESPACE |= {name: NAMESPACE[meant] for name, meant in ALIASES.items()}
index = public("mlc.numpy.Array.__getitem__", indexing.index, known.read)
FUNCTIONS.update(NAMESPACE, __getitem__=index, __setitem__=updates.assign, at=updates.Indexer)

__all__ = ["CONSTANTS", "DTYPES", "NAMESPACE", "index"]
