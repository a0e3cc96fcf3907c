"""Eigenvalues of Hermitian matrices and singular values by Jacobi rotations.

Source: Golub and Van Loan, "Matrix Computations", 8.5 and 8.6; Hestenes (1958) for the one-sided method. Every round
rotates n / 2 disjoint pairs of rows and columns at once; n - 1 rounds, a sweep, meet every pair (round robin). Sweeps
repeat until no rotation changes anything that the type could show, about log n times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mlc.frontends.array.array import Array, as_array, from_numpy
from mlc.frontends.array.functions.creation import eye, ones
from mlc.frontends.array.functions.elementwise import FUNCTIONS, conj, real, where
from mlc.frontends.array.functions.products import diagonal
from mlc.frontends.array.functions.reductions import max, sum
from mlc.frontends.array.functions.shaping import broadcast_to, concat
from mlc.frontends.array.functions.sorting import argsort
from mlc.frontends.array.linalg.elimination import householder
from mlc.frontends.array.linalg.matrices import counts, epsilon, extent, lengths, phase, squares
from mlc.frontends.array.selecting.taking import take_along_axis
from mlc.frontends.array.transforms.control import fori_loop, while_loop

SWEEPS = 40  # at most; ten are enough for matrices of thousands of rows


class Rotations(NamedTuple):
    """The rotations of one round: column i becomes ``cosine[i] (column i - slope[i] column partner[i])``."""

    partner: Array
    cosine: Array
    slope: Array

    def columns(self, x: Array) -> Array:
        turned = x - x[..., self.partner] * self.slope[..., None, :]
        return turned * self.cosine[..., None, :]

    def rows(self, x: Array) -> Array:
        turned = x - x[..., self.partner, :] * conj(self.slope)[..., None]
        return turned * self.cosine[..., None]


def hermitian_eigen(x: Array) -> tuple[Array, Array]:
    """The eigenvalues [..., n] of Hermitian matrices in ascending order, and the eigenvectors as columns."""
    n = extent(x, -1)
    x, scale_back = _scaled(x)
    identity = broadcast_to(eye(n, dtype=x.dtype), x.shape)

    def step(partner: Array, state: tuple[Array, Array]) -> tuple[tuple[Array, Array], Array]:
        matrix, vectors = state
        across = matrix[..., counts(n), partner]
        values = real(diagonal(matrix))
        scale = max(lengths(matrix), axis=-1)[..., None]
        turn, changed = _rotations(partner, values, across, FUNCTIONS["abs"](across) / where(scale == 0, 1, scale))
        return (turn.rows(turn.columns(matrix)), turn.columns(vectors)), changed

    matrix, vectors = _sweeps(n, step, (x, identity), n * epsilon(x))
    values = real(diagonal(matrix))
    order = argsort(values, axis=-1)
    return take_along_axis(values, order, axis=-1) * scale_back, _ordered(vectors, order)


def _scaled(x: Array) -> tuple[Array, Array]:
    """Matrices whose largest elements are 1, so that no square overflows, and by what [..., 1] they were divided."""
    if 0 in x.shape:
        return x, ones((1,), dtype=real(x).dtype)
    top = max(FUNCTIONS["abs"](x), axis=(-2, -1), keepdims=True)
    top = where(top == 0, 1, top)
    return x / top, top[..., 0]


def singular(x: Array) -> tuple[Array, Array, Array]:
    """U [..., m, m], the singular values [..., n] in descending order and V [..., n, n] of x [..., m, n], m >= n."""
    n = extent(x, -1)
    x, scale_back = _scaled(x)
    q, r = householder(x)

    def step(partner: Array, state: tuple[Array, Array]) -> tuple[tuple[Array, Array], Array]:
        columns, vectors = state
        values = sum(squares(columns), axis=-2)
        across = sum(conj(columns) * columns[..., partner], axis=-2)
        size = FUNCTIONS["sqrt"](values) * FUNCTIONS["sqrt"](values[..., partner])
        turn, changed = _rotations(partner, values, across, FUNCTIONS["abs"](across) / where(size == 0, 1, size))
        return (turn.columns(columns), turn.columns(vectors)), changed

    start = broadcast_to(eye(n, dtype=x.dtype), (*x.shape[:-2], n, n))
    columns, vectors = _sweeps(n, step, (r[..., :n, :], start), n * epsilon(x))
    order = argsort(lengths(columns, -2), axis=-1, descending=True)
    columns = _ordered(columns, order)
    return _completed(q, columns), lengths(columns, -2) * scale_back, _ordered(vectors, order)


def _completed(q: Array, columns: Array) -> Array:
    """The product of ``q`` and ``columns``, whose columns have length 1, made unitary: a column of 0 is replaced by one
    that is orthogonal to the others.
    """
    n = columns.shape[-1]
    left, right = householder(columns)
    within = left * phase(diagonal(right))[..., None, :]
    return concat([q[..., :n] @ within, q[..., n:]], axis=-1)


def _ordered(x: Array, order: Array) -> Array:
    return take_along_axis(x, order[..., None, :], axis=-1)


def _rotations(partner: Array, values: Array, across: Array, size: Array) -> tuple[Rotations, Array]:
    """Rotations that make ``across``, the elements between each row and its partner, zero; and the largest ``size``."""
    alone = (partner == counts(partner.shape[0])) | (across == 0)
    height = where(alone, 1, FUNCTIONS["abs"](across))
    cotangent = (values[..., partner] - values) / (2 * height)
    first = counts(partner.shape[0]) < partner
    sign = where((cotangent > 0) | ((cotangent == 0) & first), 1, -1)
    tangent = where(alone, 0, sign / (FUNCTIONS["abs"](cotangent) + FUNCTIONS["hypot"](cotangent, as_array(1.0))))
    cosine = 1 / FUNCTIONS["sqrt"](1 + tangent * tangent)
    return Rotations(partner, cosine, conj(phase(across)) * tangent), max(where(alone, 0, size))


def _sweeps(
    n: int, step: Callable[..., tuple[tuple[Array, Array], Array]], start: tuple[Array, Array], enough: float
) -> tuple[Array, Array]:
    """Sweeps of rounds until the largest relative element that was made zero was not more than ``enough``."""
    if n < 2 or 0 in start[0].shape:
        return start
    table = from_numpy(round_robin(n))

    def rotate(r: Array, state: tuple[tuple[Array, Array], Array]) -> tuple[tuple[Array, Array], Array]:
        turned, changed = step(table[r], state[0])
        return turned, FUNCTIONS["maximum"](state[1], changed)

    def sweep(state: tuple[tuple[Array, Array], Array]) -> tuple[tuple[Array, Array], Array]:
        return fori_loop(0, len(table), rotate, (state[0], state[1] * 0))

    first = ones((), dtype=real(start[0]).dtype)
    found, _ = while_loop(lambda state: state[1] > enough, sweep, (start, first), max_iterations=SWEEPS)
    return found


def round_robin(n: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """[rounds, n]: the partner of each of n players in each round; one that pauses is its own."""
    even = n + n % 2
    rounds = np.tile(np.arange(even), (even - 1, 1))
    for r in range(even - 1):
        others = np.roll(np.arange(even - 1), r)
        ring = np.concatenate([[even - 1], others])
        left, right = ring[: even // 2], ring[even // 2 :][::-1]
        rounds[r, left], rounds[r, right] = right, left
    table = rounds[:, :n]
    return np.where(table < n, table, np.arange(n)).astype(np.int64)
