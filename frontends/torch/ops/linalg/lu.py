"""Gaussian elimination: LU factors with pivots as LAPACK has them, and what they solve."""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import eye, tril, triu, zeros
from mlc.frontends.array.functions.elementwise import conj, convert, where
from mlc.frontends.array.functions.shaping import broadcast_to, concat
from mlc.frontends.array.linalg.factors import Factors, lu_factors, solve_factored, triangular_solution
from mlc.frontends.array.linalg.matrices import adjoint as adjoint_of
from mlc.frontends.array.linalg.matrices import counts, extent
from mlc.frontends.array.selecting.taking import take_along_axis
from mlc.frontends.array.transforms.control import fori_loop
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.arrays import by_arrays
from mlc.frontends.torch.ops.linalg.matrices import matrix, no_info
from mlc.frontends.torch.registry import Call


@matrix("linalg_lu_factor_ex")
def lu_factor(call: Call, x: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    return [*by_arrays(call.build, packed_lu, _with_pivots(x, pivot)), no_info(call, x)]


@matrix("linalg_lu")
def lu(call: Call, x: Any, *, pivot: bool = True) -> Any:
    """(P, L, U) of x = P L U."""

    def factored(a: Array) -> tuple[Array, Array, Array]:
        found = _factors(a)
        return _permutation(found.rows, a), *_triangles(found.lu)

    return by_arrays(call.build, factored, _with_pivots(x, pivot))


@matrix("lu_unpack")
def unpacked(call: Call, lu: Any, pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """(P, L, U) of what ``lu_factor`` gives; without elements where it is not wanted."""

    def factored(lu: Array, pivots: Array) -> tuple[Array, Array, Array]:
        none = lu.reshape(-1)[:0]
        order = _permutation(_rows(pivots, extent(lu, -2)), lu) if unpack_pivots else none
        return order, *(_triangles(lu) if unpack_data else (none, none))

    return by_arrays(call.build, factored, lu, pivots)


@matrix("linalg_lu_solve")
def solve_by_lu(call: Call, lu: Any, pivots: Tensor, b: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """``x`` of a x = b from the factors of ``a``, of a^H x = b (``adjoint``), or with x on the left of the matrix."""

    def solved(lu: Array, pivots: Array, b: Array) -> Array:
        rows = _rows(pivots, extent(lu, -1))
        if left:
            return _adjoint_solution(lu, rows, b) if adjoint else solve_factored(Factors(lu, rows), b)
        turned = adjoint_of(b)
        found = solve_factored(Factors(lu, rows), turned) if adjoint else _adjoint_solution(lu, rows, turned)
        return adjoint_of(found)

    return by_arrays(call.build, solved, lu, pivots, b)


def _adjoint_solution(lu: Array, rows: Array, b: Array) -> Array:
    """``x`` of a^H x = b."""
    above = triangular_solution(conj(lu), b, lower=False, transposed=True)
    exchanged = triangular_solution(conj(lu), above, lower=True, unit=True, transposed=True)
    return _permutation(rows, lu) @ exchanged


def _with_pivots(x: Any, pivot: bool) -> Any:
    if not pivot:
        raise NotSupported("factors without pivots")
    return x


def _factors(x: Array) -> Factors:
    """LU factors of a matrix of any shape. Rows or columns of zeros make it square, which moves no row."""
    m, n = extent(x, -2), extent(x, -1)
    if m == n:
        return lu_factors(x)
    wide = concat([x, zeros((*x.shape[:-1], m - n), dtype=x.dtype)], axis=-1) if n < m else x
    whole = concat([wide, zeros((*x.shape[:-2], n - m, n), dtype=x.dtype)], axis=-2) if m < n else wide
    found = lu_factors(whole)
    return Factors(found.lu[..., :m, :n], found.rows[..., :m])


def _triangles(lu: Array) -> tuple[Array, Array]:
    """L [m, k] and U [k, n] of factors in one matrix [m, n]."""
    least = min(extent(lu, -2), extent(lu, -1))
    below = tril(lu, k=-1)[..., :least]
    unit = eye(extent(lu, -2), least, dtype=lu.dtype)
    return below + unit, triu(lu)[..., :least, :]


def _permutation(rows: Array, like: Array) -> Array:
    """The matrix that moves each row back to where it was."""
    moved = where(counts(extent(rows, -1))[:, None] == rows[..., None, :], 1, 0)
    return convert(moved, like.element)


def packed_lu(x: Array) -> tuple[Array, Array]:
    """The factors, and the pivots as LAPACK has them: row k was exchanged with row pivots[k], from 1 on."""
    found, line = _factors(x), counts(extent(x, -2))
    steps = min(extent(x, -2), extent(x, -1))

    def step(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        order, pivots = state
        at = where(order == found.rows[..., k][..., None], line, 0).sum(axis=-1)[..., None]
        swapped = where(line == k, at, where(line == at, k, line))
        return take_along_axis(order, swapped, axis=-1), where(line == k, at + 1, pivots)

    start = broadcast_to(line, found.rows.shape)
    return found.lu, fori_loop(0, steps, step, (start, start * 0))[1][..., :steps]


def as_torch_factors(call: Call, x: Array) -> tuple[Array, Array]:
    """What ``det`` and ``slogdet`` keep for their derivatives: the factors of the transposed matrix where a real one is
    stored in rows, which LAPACK then reads without a copy."""
    given = call.node.args[0].meta["val"]
    return packed_lu(x.swapaxes(-1, -2) if given.is_contiguous() and not given.is_complex() else x)


def _rows(pivots: Array, count: int) -> Array:
    """The original number of each row, after the exchanges."""
    line = counts(count)

    def step(k: Array, order: Array) -> Array:
        at = pivots.astype("int64")[..., k][..., None] - 1
        return take_along_axis(order, where(line == k, at, where(line == at, k, line)), axis=-1)

    return fori_loop(0, extent(pivots, -1), step, broadcast_to(line, (*pivots.shape[:-1], count)))
