"""Building blocks of factorizations: operands as float matrices, rows and columns at a counter, adjoints."""

from __future__ import annotations

from typing import Any

from mlc.dialects.semantics.dims import DimLike
from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.evaluate import evaluate
from mlc.frontends.array.functions.creation import arange
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, conj, convert, real, where
from mlc.frontends.array.functions.reductions import sum
from mlc.frontends.array.functions.shaping import matrix_transpose
from mlc.frontends.array.record import where_called
from mlc.frontends.build.ops.functions import ROOT


def matrices(name: str, x: Any, square: bool = False) -> Array:
    """``x`` [..., m, n] as floats.

    Raises:
        InputError: fewer dimensions than two, or not square where it must be.
    """
    given = as_array(x)
    if given.ndim < 2 or (square and given.shape[-1] != given.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise InputError(f"{where_called()}: {name} takes {kind}, not an array of shape {given.shape}")
    return given if dtypes.kind(given.element) >= 2 else convert(given, dtypes.FLOAT)


def extent(x: Array, axis: int) -> int:
    """An extent that must be a number.

    Raises:
        InputError: it is an open dimension.
    """
    found = x.shape[axis]
    if not isinstance(found, int):
        raise InputError(
            f"An array of shape {x.shape} has open dimensions, and no factorization", hint="Fix its last two"
        )
    return found


def adjoint(x: Array) -> Array:
    """The conjugate transpose."""
    return conj(matrix_transpose(x))


def counts(n: DimLike) -> Array:
    """[n]: 0, 1, …"""
    return arange(n)


def apply_matrix(a: Array, v: Array) -> Array:
    """The products of matrices [..., m, n] and vectors [..., n]."""
    return (a @ v[..., None])[..., 0]


def outer_products(u: Array, v: Array) -> Array:
    """``u v^H`` of vectors [..., m] and [..., n]."""
    return u[..., None] * conj(v)[..., None, :]


def squares(x: Array) -> Array:
    """The squares of absolute values, real."""
    return real(x) ** 2 + FUNCTIONS["imag"](x) ** 2 if dtypes.kind(x.element) == 3 else x * x


def lengths(x: Array, axis: int = -1) -> Array:
    """Euclidean norms along an axis."""
    return apply_map(ROOT, sum(squares(x), axis=axis))


def phase(x: Array) -> Array:
    """``x / |x|``, and 1 where ``x`` is 0."""
    return where(x == 0, 1, FUNCTIONS["sign"](x))


def epsilon(x: Array) -> float:
    """The distance from 1 to the next float."""
    return float(dtypes.limits(x.element).eps)


def together(*results: Array) -> tuple[Array, ...]:
    """Results of one loop, evaluated together where their operands are known. Evaluated one by one, each would run the
    loop again.
    """
    parts = trees.leaves(results)
    if not any(x.traced or x.is_varied() for x in parts):
        evaluate(parts)
    return results
