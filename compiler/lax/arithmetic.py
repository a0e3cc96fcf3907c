"""Elementwise functions, reductions and creation by the names and parameters of ``jax.lax``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.elementwise import apply_map, operands
from mlc.frontends.array.special import errors, gammas


def rsqrt(x: Any) -> Array:
    """``1 / sqrt(x)``."""
    return apply_map("rsqrt(x0)", *operands(x, lowest=2))


def logistic(x: Any) -> Array:
    """``1 / (1 + exp(-x))``."""
    return apply_map("sigmoid(x0)", *operands(x, lowest=2))


def integer_pow(x: Any, y: int) -> Array:
    """``x`` to the power of an integer."""
    return mnp.pow(as_array(x), y)


def clamp(min: Any, x: Any, max: Any) -> Array:
    """``x`` moved into [min, max], in its own type."""
    given = as_array(x)
    return mnp.minimum(mnp.maximum(given, as_array(min, given.element)), as_array(max, given.element))


def select(pred: Any, on_true: Any, on_false: Any) -> Array:
    """``on_true`` where ``pred`` holds, else ``on_false``."""
    return mnp.where(pred, on_true, on_false)


def select_n(which: Any, *cases: Any) -> Array:
    """Of each place the element of the case that ``which`` counts, from 0, or of two by a truth value."""
    at, found = as_array(which), as_array(cases[0])
    for n, case in enumerate(cases[1:], 1):
        found = mnp.where(at if at.element == "i1" else at >= n, case, found)
    return found


def reshape(operand: Any, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None) -> Array:
    """The elements in another shape; ``dimensions`` is their order before."""
    given = as_array(operand)
    return mnp.reshape(given if dimensions is None else mnp.transpose(given, dimensions), new_sizes)


def concatenate(operands: Sequence[Any], dimension: int) -> Array:
    """Arrays one after the other along ``dimension``."""
    return mnp.concatenate(operands, axis=dimension)


def sort(operand: Any, dimension: int = -1, is_stable: bool = True) -> Array:
    """The elements along ``dimension`` in order.

    Raises:
        InputError: several operands.
    """
    if isinstance(operand, tuple | list):
        raise InputError("mlc.lax.sort takes one operand", hint="Sort by mlc.numpy.lexsort, and take at its indices")
    return mnp.sort(operand, axis=dimension)


def convert_element_type(operand: Any, new_dtype: Any) -> Array:
    """``operand`` in another type."""
    return mnp.astype(as_array(operand), new_dtype)


def iota(dtype: Any, size: int) -> Array:
    """0, 1, 2, …."""
    return mnp.arange(size, dtype=dtype)


def broadcasted_iota(dtype: Any, shape: Sequence[int], dimension: int) -> Array:
    """The index along ``dimension`` of each element."""
    line = mnp.arange(shape[dimension], dtype=dtype)
    ones = [-1 if n == dimension % len(shape) else 1 for n in range(len(shape))]
    return mnp.broadcast_to(mnp.reshape(line, ones), shape)


def optimization_barrier(operand: Any) -> Any:
    """``operand``: there is nothing to hold back."""
    return operand


def _reduced(name: str, function: str) -> Callable[..., Array]:
    def reduce(operand: Any, axes: Sequence[int]) -> Array:
        x = as_array(operand)
        typed = {"dtype": x.dtype} if function in ("sum", "prod") else {}
        return getattr(mnp, function)(x, axis=tuple(axes), **typed)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"``{function}`` along ``axes``, in the operand's type."
    return reduce


reduce_sum, reduce_prod = _reduced("reduce_sum", "sum"), _reduced("reduce_prod", "prod")
reduce_max, reduce_min = _reduced("reduce_max", "max"), _reduced("reduce_min", "min")
reduce_and, reduce_or = _reduced("reduce_and", "all"), _reduced("reduce_or", "any")
erf, erfc, erf_inv, lgamma, digamma = errors.erf, errors.erfc, errors.erfinv, gammas.gammaln, gammas.digamma

PUBLIC = (
    *("broadcasted_iota", "clamp", "concatenate", "convert_element_type", "digamma", "erf", "erf_inv", "erfc"),
    *("integer_pow", "iota", "lgamma", "logistic", "optimization_barrier", "reduce_and", "reduce_max", "reduce_min"),
    *("reduce_or", "reduce_prod", "reduce_sum", "reshape", "rsqrt", "select", "select_n", "sort"),
)
