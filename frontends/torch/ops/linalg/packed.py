"""Factors that are kept in one matrix: Householder's reflections, L D L^T; products with them, and what they solve."""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import eye
from mlc.frontends.array.functions.shaping import broadcast_to
from mlc.frontends.array.linalg.matrices import extent
from mlc.frontends.array.linalg.packed.indefinite import indefinite_factors, solve_indefinite
from mlc.frontends.array.linalg.packed.reflections import multiplied, reflections
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.arrays import by_arrays
from mlc.frontends.torch.ops.linalg.matrices import matrix
from mlc.frontends.torch.registry import Call


@matrix("geqrf")
def factor(call: Call, x: Any) -> Any:
    """(R and the vectors of the reflections below it, their factors)."""
    return by_arrays(call.build, reflections, x)


@matrix("linalg_householder_product")
def orthogonal(call: Call, a: Any, factors: Any) -> Any:
    """The first columns of Q, as many as ``a`` has."""

    def product(a: Array, factors: Array) -> Array:
        unit = eye(extent(a, -2), extent(a, -1), dtype=a.dtype)
        return multiplied(a, factors, broadcast_to(unit, a.shape))

    return by_arrays(call.build, product, a, factors)


@matrix("ormqr")
def multiply(call: Call, a: Any, factors: Any, b: Any, left: bool = True, transpose: bool = False) -> Any:
    return by_arrays(
        call.build, lambda a, factors, b: multiplied(a, factors, b, left=left, inverse=transpose), a, factors, b
    )


@matrix("linalg_ldl_factor_ex")
def factor_indefinite(call: Call, x: Any, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """(factors, pivots, the first column of zeros from 1 on, or else 0)."""
    return by_arrays(call.build, lambda a: indefinite_factors(a, hermitian), x)


@matrix("linalg_ldl_solve")
def solve_by_ldl(call: Call, factors: Any, pivots: Tensor, b: Any, *, hermitian: bool = False) -> Any:
    def solved(factors: Array, pivots: Array, b: Array) -> Array:
        return solve_indefinite(factors, pivots.astype("int64"), b, hermitian)

    return by_arrays(call.build, solved, factors, pivots, b)
