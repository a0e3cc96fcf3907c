"""Norms, cross products, diagonals and traces of ``linalg``. Source: Array API 2025.12."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions import products
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, convert, is_complex, operands
from mlc.frontends.array.functions.reductions import Axis, axes_of, max, min, reduced_shape, sum
from mlc.frontends.array.functions.shaping import expand_dims, moveaxis, roll
from mlc.frontends.array.linalg.decompositions import svdvals
from mlc.frontends.array.linalg.matrices import matrices, squares
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.functions import ROOT
from mlc.frontends.build.ops.linalg import norms
from mlc.frontends.build.tensors import Tensor


def vector_norm(x: Any, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Array:
    """``(sum |x|^ord)^(1 / ord)``; the largest or least |x| for infinities, the number of elements not 0 for 0."""
    given = as_array(x)
    given = given if dtypes.kind(given.element) >= 2 else convert(given, dtypes.FLOAT)
    if is_complex(given) and ord == 2:
        return apply_map(ROOT, sum(squares(given), axis=axis, keepdims=keepdims))
    size, axes = FUNCTIONS["abs"](given) if is_complex(given) else given, axes_of(given, axis)
    params = (float(ord), axes, bool(keepdims))
    return apply(normed, [size], params, size.element, reduced_shape(size, axes, keepdims))


def normed(build: Builder, xs: Sequence[Tensor], order: float, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return norms.norm(build, xs[0], order, axes, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Frobenius (``fro``), nuclear (``nuc``), or the extreme column sum (1), row sum (inf) or singular value (2).

    Raises:
        InputError: another ``ord``.
    """
    given = matrices("matrix_norm", x)
    found = _matrix_norm(given, ord)
    return expand_dims(found, (-2, -1)) if keepdims else found


def _matrix_norm(x: Array, ord: Any) -> Array:
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1))
    if ord == "nuc":
        return sum(svdvals(x), axis=-1)
    if ord not in (1, -1, 2, -2, math.inf, -math.inf):
        what = f"A matrix norm of order {ord} is not defined"
        raise InputError(what, hint="The orders are fro, nuc, ±1, ±2 and ±inf")
    extreme = max if ord > 0 else min
    if abs(ord) == 2:
        return extreme(svdvals(x), axis=-1)
    return extreme(sum(FUNCTIONS["abs"](x), axis=-2 if abs(ord) == 1 else -1), axis=-1)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """The cross products of vectors of three elements along ``axis``, broadcast over the others.

    Raises:
        InputError: another number of elements.
    """
    a, b = operands(x1, x2)
    if a.shape[axis] != 3 or b.shape[axis] != 3:
        raise InputError(f"cross takes vectors of 3 elements, not the shapes {a.shape} and {b.shape} along axis {axis}")
    a, b = moveaxis(a, axis, -1), moveaxis(b, axis, -1)
    found = roll(a, -1, axis=-1) * roll(b, 1, axis=-1) - roll(a, 1, axis=-1) * roll(b, -1, axis=-1)
    return moveaxis(found, -1, axis)


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """The diagonals of the last two dimensions, ``offset`` columns to the right of the main ones."""
    given = as_array(x)
    if given.ndim < 2:
        what = f"A diagonal of an array of shape {given.shape} is not defined"
        raise InputError(what, hint="It needs two dimensions")
    return products.diagonal(given[..., offset:] if offset >= 0 else given[..., -offset:, :])


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sums of diagonals, in the type in which ``sum`` adds."""
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)
