"""Systems with sparse matrices by elimination. Source: ``scipy.sparse.linalg``: ``spsolve``, ``splu``, ``factorized``.

The positions of the values are known while a function is traced, so unknowns are ordered then, and what is compiled is
the elimination of a band with exchanges of rows, or of a dense matrix where the band is wide. Derivatives are implicit:
of ``x = A⁻¹ b`` one more solution with the same factors, of the transposed matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.linalg.systems import lu_factor, lu_solve
from mlc.frontends.array.transforms.custom import custom_vjp
from mlc.scipy.sparse.band_factors import BandFactors, factored, solved, solved_transposed
from mlc.scipy.sparse.compressed import Compressed
from mlc.scipy.sparse.ordering import bandwidths, narrow_order
from mlc.scipy.sparse.structure import known_entries

DENSE_FROM = 8
"""A band wider than one in so many unknowns is eliminated as a dense matrix, by blocks."""


@dataclass(frozen=True)
class Pattern:
    """Where the values of a square matrix of ``n`` unknowns are: rows and columns [2, nnz] as bytes, so that equal
    patterns are equal."""

    n: int
    entries: bytes

    @property
    def rows(self) -> np.ndarray[Any, Any]:
        return np.frombuffer(self.entries, np.int64).reshape(2, -1)[0]

    @property
    def columns(self) -> np.ndarray[Any, Any]:
        return np.frombuffer(self.entries, np.int64).reshape(2, -1)[1]

    @cached_property
    def order(self) -> np.ndarray[Any, Any]:
        return narrow_order(self.rows, self.columns, self.n)

    @cached_property
    def band(self) -> tuple[int, int]:
        """The diagonals below and above the main one, in the order."""
        return bandwidths(self.order, self.rows, self.columns)

    @property
    def dense(self) -> bool:
        return self.n < 2 or sum(self.band) * DENSE_FROM > self.n

    def factors(self, data: Array) -> Any:
        """What is kept of the matrix with these values."""
        if self.dense:
            return lu_factor(mnp.zeros((self.n, self.n), dtype=data.dtype).at[self.rows, self.columns].add(data))
        (lower, upper), number = self.band, np.argsort(self.order)
        rows, columns = number[self.rows], number[self.columns]
        band = mnp.zeros((self.n, lower + upper + 1), dtype=data.dtype)
        return factored(band.at[rows, columns - rows + lower].add(data), lower)

    def solution(self, factors: Any, right: Array, transposed: bool) -> Array:
        """``x`` [n, m] of the matrix, or its transpose."""
        if self.dense:
            return lu_solve(factors, right, trans=int(transposed))
        solve = solved_transposed if transposed else solved
        return solve(BandFactors(*factors), right[self.order])[np.argsort(self.order)]


class SparseLU:
    """The factors of a square sparse matrix, which solve systems for many right sides. ``splu`` makes them."""

    shape: tuple[int, int]
    pattern: Pattern
    data: Array
    factors: Any

    def __init__(self, A: Any) -> None:
        """``A``: a ``csr_array`` or ``csc_array`` [n, n] of floats, whose positions are known while a function is
        traced.

        Raises:
            InputError: it is another matrix, or not square.
        """
        if not isinstance(A, Compressed) or A.shape[0] != A.shape[1]:
            shape = list(getattr(A, "shape", []))
            what = f"A {type(A).__name__} of shape {shape} has no sparse factors"
            raise InputError(what, hint="Give a square csr_array or csc_array; dense matrices: mlc.scipy.linalg")
        if A.dtype.kind == "c":
            raise InputError("Sparse factors are of real matrices, not complex", hint="Solve with A.toarray()")
        entries = np.ascontiguousarray(known_entries(A), np.int64)
        self.shape, self.pattern = A.shape, Pattern(A.shape[0], entries.tobytes())
        self.data = A.data.astype(np.result_type(A.dtype, np.float32))
        self.factors = tuple(self.pattern.factors(self.data))

    def solve(self, rhs: Any, trans: str = "N") -> Array:
        """``x`` of ``A x = b``, or with ``trans="T"`` of ``Aᵀ x = b``, for ``b`` [n] or [n, m].

        A singular matrix gives infinities and NaN. Derivatives are by the values of the matrix and by ``b``.

        Raises:
            InputError: another ``trans``, or ``b`` of another length.
        """
        if trans not in ("N", "T", "H"):
            raise InputError(f"solve has no trans={trans!r}", hint="Give 'N', 'T' or 'H'")
        b = as_array(rhs)
        if b.ndim not in (1, 2) or b.shape[0] != self.shape[0]:
            what = f"A system of {self.shape[0]} unknowns has no right side of shape {list(b.shape)}"
            raise InputError(what, hint=f"Give [{self.shape[0]}] or [{self.shape[0]}, m]")
        kind = np.result_type(self.data.dtype, b.dtype)
        right = (b if b.ndim == 2 else b[:, None]).astype(kind)
        factors = tuple(x if x.dtype.kind != "f" else x.astype(kind) for x in self.factors)
        found: Array = _solver(self.pattern, trans != "N")(self.data.astype(kind), factors, right)
        return found if b.ndim == 2 else found[:, 0]


trees.register_fields(SparseLU, ("data", "factors"), ("shape", "pattern"))


def _solver(pattern: Pattern, transposed: bool) -> Callable[..., Any]:
    """``solve(data, factors, b)``, whose derivative is a solution with the transposed matrix.

    The factors depend on the data, but the rule takes the whole derivative by the data. Derivatives of the rule go
    through the elimination.
    """
    solves: list[Any] = []
    for turned in (False, True):
        solve = custom_vjp(lambda data, factors, b, turned=turned: pattern.solution(factors, b, turned))
        solve.order = 1
        solves.append(solve)

    def forward(turned: bool, data: Array, factors: Any, b: Array) -> tuple[Array, Any]:
        x = solves[turned](data, factors, b)
        return x, (data, factors, x)

    def backward(turned: bool, residuals: Any, bar: Array) -> tuple[Any, ...]:
        data, factors, x = residuals
        by_right = solves[not turned](data, factors, bar)
        left, right = (x, by_right) if turned else (by_right, x)
        by_data = -mnp.sum(left[pattern.rows] * right[pattern.columns], axis=1)
        return by_data, None, by_right

    for solve, turned in zip(solves, (False, True), strict=True):
        solve.defvjp(partial(forward, turned), partial(backward, turned))
    return solves[transposed]


def splu(A: Any) -> SparseLU:
    """The factors of a square ``csr_array`` or ``csc_array``: ``splu(A).solve(b)``, for as many ``b`` as there are.

    Unknowns are ordered so that the band is narrow (reverse Cuthill and McKee); a band of l and u diagonals costs
    n (l + 1) (l + u + 1) operations, with exchanges of rows. A wide one is eliminated as a dense matrix.

    Raises:
        InputError: another matrix, or not square; or its positions depend on an argument of a function that is traced.
    """
    return SparseLU(A)


def factorized(A: Any) -> Callable[[Any], Array]:
    """The function from ``b`` to ``x`` of ``A x = b``, by factors that are made once; errors as ``splu``."""
    return splu(A).solve


def spsolve(A: Any, b: Any) -> Array:
    """``x`` of ``A x = b`` for a square sparse matrix, and ``b`` [n] or [n, m].

    Derivatives are by the values of ``A`` and by ``b``, in both modes; errors as ``splu``.
    """
    return splu(A).solve(b)
