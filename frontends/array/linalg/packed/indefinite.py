"""Symmetric and Hermitian matrices that need not be definite: L D L^T with pivots, and what it solves.

D has blocks of 1 or 2 on its diagonal, whichever keeps the elements of L small. Factors are kept as LAPACK's sytrf and
hetrf keep them: D on and L below the diagonal, where the element below a block of 2 is D's. ``pivots`` counts from 1:
row k was exchanged with row pivots[k]; of a block in rows k and k + 1 both are -p, and row k + 1 was exchanged with
row p. Source: Bunch and Kaufman (1977), "Some Stable Methods for Calculating Inertia and Solving Symmetric Linear
Systems".
"""

from __future__ import annotations

from typing import NamedTuple

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import eye, tril, zeros, zeros_like
from mlc.frontends.array.functions.elementwise import FUNCTIONS, broadcast, conj, convert, real, where
from mlc.frontends.array.functions.positions import argmax
from mlc.frontends.array.functions.reductions import max, sum
from mlc.frontends.array.functions.shaping import broadcast_to, concat
from mlc.frontends.array.functions.sorting import argsort
from mlc.frontends.array.linalg.elimination import sum_of_parts
from mlc.frontends.array.linalg.factors import triangular_solution
from mlc.frontends.array.linalg.matrices import counts, extent
from mlc.frontends.array.selecting.taking import take_along_axis
from mlc.frontends.array.transforms.control import fori_loop

SHARE = (1 + 17**0.5) / 8
"""A diagonal element is a pivot from this share of its column's largest one on."""


class Elimination(NamedTuple):
    """``rest``: the matrix still to be factored, in rows and columns from the step's on; ``done``: whether the step's
    column was taken together with the one before it; ``singular``: the first step, from 1 on, whose column is 0."""

    rest: Array
    factors: Array
    pivots: Array
    done: Array
    singular: Array


class Pivot(NamedTuple):
    """Row ``k``, or of a block of ``two`` the row after it, is exchanged with row ``at``."""

    two: Array
    at: Array
    is_zero: Array


def indefinite_factors(x: Array, hermitian: bool = False) -> tuple[Array, Array, Array]:
    """(factors [..., n, n], pivots [..., n], the first step whose column is 0 or else 0) of the matrix whose lower
    triangle is that of ``x``."""
    n, outer = extent(x, -1), x.shape[:-2]
    none = zeros(outer, dtype="int64")
    pivots = zeros((*outer, n), dtype="int64")
    start = Elimination(_of_lower(x, hermitian), zeros_like(x), pivots, none != 0, none)

    def step(k: Array, state: Elimination) -> Elimination:
        made = _eliminated(k, state, _pivot(k, state.rest), hermitian)
        kept = [_where(state.done, old, new) for old, new in zip(state, made, strict=True)]
        return Elimination(*kept)._replace(done=made.done & ~state.done)

    found = fori_loop(0, n, step, start)
    return found.factors, found.pivots, found.singular


def _where(condition: Array, a: Array, b: Array) -> Array:
    """``where`` of a condition for each matrix."""
    return where(condition.reshape((*condition.shape, *[1] * (a.ndim - condition.ndim))), a, b)


def _flipped(x: Array, hermitian: bool) -> Array:
    turned = x.swapaxes(-1, -2)
    return conj(turned) if hermitian else turned


def _of_lower(x: Array, hermitian: bool) -> Array:
    below, along = tril(x, k=-1), convert(real(x), x.element) if hermitian else x
    return below + _flipped(below, hermitian) + where(eye(extent(x, -1), dtype=bool), along, 0)


def _pivot(k: Array, rest: Array) -> Pivot:
    """Of column ``k``: its diagonal element, another one, or a block of 2."""
    line = counts(extent(rest, -1))
    size = sum_of_parts(rest[..., k])
    here, sizes = sum(where(line == k, size, 0), axis=-1), where(line > k, size, 0)
    row, most = argmax(where(line > k, size, -1), axis=-1), max(sizes, axis=-1)
    other = sum_of_parts(take_along_axis(rest, row[..., None, None], axis=-1)[..., 0])
    is_row = line == row[..., None]
    widest = max(where((line >= k) & ~is_row, other, 0), axis=-1)
    least = SHARE * most * (most / where(widest == 0, 1, widest))
    stays = ~(here < SHARE * most) | ~(here < least)  # also where it is NaN
    alone = sum(where(is_row, other, 0), axis=-1) >= SHARE * widest
    return Pivot(~stays & ~alone, where(stays, k, row), (here == 0) & (most == 0))


def _exchange(line: Array, own: Array, other: Array) -> Array:
    """The order of rows [..., n] in which two are exchanged."""
    a, b = own[..., None], other[..., None]
    return where(line == a, b, where(line == b, a, line))


def _eliminated(k: Array, state: Elimination, pivot: Pivot, hermitian: bool) -> Elimination:
    n = extent(state.rest, -1)
    line, after = counts(n), FUNCTIONS["minimum"](k + 1, n - 1)
    own = where(pivot.two, after, k)
    order = _exchange(line, own, pivot.at)
    rows = take_along_axis(state.rest, order[..., None], axis=-2)
    rest = take_along_axis(rows, order[..., None, :], axis=-1)
    here, there = line == k, pivot.two[..., None] & (line == after)
    a, b, c = rest[..., k, k], rest[..., after, after], rest[..., after, k]
    x, y = (where(line > own[..., None], rest[..., at], 0) for at in (k, after))
    left, right = _multipliers(x, y, (a, b, c), pivot.two, hermitian)
    first = left + where(here, a[..., None], 0) + where(there, c[..., None], 0)
    second = right + where(there, b[..., None], 0)
    factors = where(here, first[..., None], where(there[..., None, :], second[..., None], state.factors))
    count = where(pivot.two, -(pivot.at + 1), pivot.at + 1)[..., None]
    update = left[..., None] * _flipped(x[..., None], hermitian) + right[..., None] * _flipped(y[..., None], hermitian)
    singular = where((state.singular == 0) & pivot.is_zero, k + 1, state.singular)
    return Elimination(rest - update, factors, where(here | there, count, state.pivots), pivot.two, singular)


def _multipliers(
    x: Array, y: Array, block: tuple[Array, Array, Array], two: Array, hermitian: bool
) -> tuple[Array, Array]:
    """The columns of L: x / a or, of a block of 2, (x, y) D^-1; D has a, b on and c below its diagonal."""
    a, b, c = (each[..., None] for each in block)
    below = where(two[..., None], c, 1)
    above, wide = conj(below) if hermitian else below, two[..., None]
    left = (x * (b / below) - y) / (a * (b / below) - above)
    right = (y * (a / above) - x) / (b * (a / above) - below)
    alone = where(a == 0, 0, x / where(a == 0, 1, a))
    return where(wide, left, alone), where(wide, right, 0)


def solve_indefinite(factors: Array, pivots: Array, b: Array, hermitian: bool = False) -> Array:
    """``x`` [..., n, m] of a x = b, from the factors of ``a``."""
    lower, order, begins = _standard(factors, pivots)
    order = broadcast_to(order, (*broadcast(order.shape[:-1], b.shape[:-2]), order.shape[-1]))
    given = broadcast_to(b, (*order.shape, b.shape[-1]))
    y = triangular_solution(lower, take_along_axis(given, order[..., None], axis=-2), lower=True, unit=True)
    z = _blocks_solved(factors, begins, y, hermitian)
    flipped = conj(lower) if hermitian else lower
    x = triangular_solution(flipped, z, lower=True, unit=True, transposed=True)
    return take_along_axis(x, argsort(order, axis=-1)[..., None], axis=-2)


def _standard(factors: Array, pivots: Array) -> tuple[Array, Array, Array]:
    """(L with all rows exchanged, which row each one was, whether a block of 2 begins in it)."""
    n = extent(factors, -1)
    line = counts(n)

    def step(k: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
        lower, order, begins, inside = state
        at = pivots[..., k]
        first = (at < 0) & ~inside
        moved = _exchange(line, where(first, k + 1, k), where(inside, k, FUNCTIONS["abs"](at) - 1))
        lower = where(line < k, take_along_axis(lower, moved[..., None], axis=-2), lower)
        order = take_along_axis(order, moved, axis=-1)
        return lower, order, where(line == k, first[..., None], begins), first

    none = zeros(pivots.shape, dtype=bool)
    start = (tril(factors, k=-1), broadcast_to(line, pivots.shape), none, zeros(pivots.shape[:-1], dtype=bool))
    lower, order, begins, _ = fori_loop(0, n, step, start)
    return where(eye(n, k=-1, dtype=bool) & begins[..., None, :], 0, lower), order, begins


def _blocks_solved(factors: Array, begins: Array, y: Array, hermitian: bool) -> Array:
    """D^-1 y: each row by its own element and, in a block of 2, by the other row and its element."""
    n = extent(factors, -1)
    line, none = counts(n), begins[..., :1] & False
    ends = concat([none, begins[..., :-1]], axis=-1)
    other = where(begins, line + 1, where(ends, line - 1, line))
    own = sum(where(eye(n, dtype=bool), factors, 0), axis=-1)
    along = sum(where(eye(n, k=-1, dtype=bool), factors, 0), axis=-2)
    below = where(begins, along, 1)
    above = conj(below) if hermitian else below
    last = where(ends, take_along_axis(below, other, axis=-1), 1)
    here, there = where(begins, above, last), where(begins, below, conj(last) if hermitian else last)
    ratio = (take_along_axis(own, other, axis=-1) / there)[..., None]
    partner = take_along_axis(y, broadcast_to(other[..., None], y.shape), axis=-2)
    block = (ratio * y - (here / there)[..., None] * partner) / (own[..., None] * ratio - here[..., None])
    return where((begins | ends)[..., None], block, y / own[..., None])
