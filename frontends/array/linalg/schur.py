"""Eigenvalues and eigenvectors of general matrices: complex Schur form by the shifted QR algorithm.

Source: Golub and Van Loan, "Matrix Computations", 7.4 to 7.6. A Hessenberg matrix is multiplied by Givens rotations
from the left, row by row, and from the right, column by column; each is a scan, so a step takes O(n²) operations.
"""

from __future__ import annotations

from typing import NamedTuple

from mlc.frontends.array.array import Array
from mlc.frontends.array.complex.formulas import as_complex
from mlc.frontends.array.functions.creation import eye, zeros, zeros_like
from mlc.frontends.array.functions.elementwise import FUNCTIONS, conj, real, where
from mlc.frontends.array.functions.products import diagonal
from mlc.frontends.array.functions.reductions import any_, max, sum
from mlc.frontends.array.functions.shaping import broadcast_to, concat, moveaxis
from mlc.frontends.array.linalg.elimination import reflector
from mlc.frontends.array.linalg.matrices import (
    adjoint,
    apply_matrix,
    counts,
    epsilon,
    extent,
    lengths,
    outer_products,
    squares,
)
from mlc.frontends.array.transforms.control import fori_loop, scan, while_loop

STEPS = 40  # for each row, at most; two or three are usual


class State(NamedTuple):
    """``x = vectors matrix vectors^H``; ``step``: how many there were."""

    matrix: Array
    vectors: Array
    step: Array


def schur(x: Array) -> tuple[Array, Array]:
    """T, upper triangular, and Q, unitary, both complex: ``x = Q T Q^H``."""
    n = extent(x, -1)
    z = as_complex(x, "c128" if x.element in ("f64", "c128") else "c64")
    identity = broadcast_to(eye(n, dtype=z.dtype), z.shape)
    if n < 2 or 0 in z.shape:
        return z, identity
    matrix, vectors = _hessenberg(z, identity)
    start = State(_deflated(matrix), vectors, zeros((), dtype=int))
    found = while_loop(lambda s: any_(_below(s.matrix)), _step, start, max_iterations=STEPS * n)
    return found.matrix, found.vectors


def _hessenberg(x: Array, identity: Array) -> tuple[Array, Array]:
    """Zero below the first subdiagonal, by a reflection from both sides for each column."""
    n = extent(x, -1)
    line = counts(n)

    def reflect(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        matrix, vectors = state
        v = reflector(where(line > k, matrix[..., k], 0), k + 1, line)
        weight = sum(squares(v), axis=-1)
        scale = where(weight == 0, 0, 2 / where(weight == 0, 1, weight))[..., None, None]
        matrix = matrix - outer_products(v, apply_matrix(adjoint(matrix), v)) * scale
        matrix = matrix - outer_products(apply_matrix(matrix, v), v) * scale
        return matrix, vectors - outer_products(apply_matrix(vectors, v), v) * scale

    matrix, vectors = fori_loop(0, n - 2, reflect, (x, identity))
    return where(line[:, None] > line + 1, 0, matrix), vectors


def _below(x: Array) -> Array:
    """[..., n - 1]: whether the subdiagonal is not 0."""
    return diagonal(x[..., 1:, :-1]) != 0


def _deflated(x: Array) -> Array:
    """Subdiagonal elements that are negligible beside the diagonal, as 0; and those that are not numbers."""
    n = extent(x, -1)
    size = FUNCTIONS["abs"](diagonal(x))
    near = size[..., 1:] + size[..., :-1]
    near = where(near == 0, max(lengths(x), axis=-1)[..., None], near)
    keep = FUNCTIONS["abs"](diagonal(x[..., 1:, :-1])) > epsilon(x) * near
    keep = concat([broadcast_to(zeros(1, dtype=bool), (*x.shape[:-2], 1)), keep], axis=-1)
    line = counts(n)
    return where((line[:, None] == line + 1) & FUNCTIONS["logical_not"](keep[..., None]), 0, x)


def _step(state: State) -> State:
    """A QR step of the last block that is not triangular yet, of each matrix: shift, rotate rows, rotate columns."""
    matrix, vectors, step = state
    n = extent(matrix, -1)
    line, below = counts(n - 1), _below(matrix)
    last = max(where(below, line, -1), axis=-1)  # the block's last rotation is of rows `last` and `last + 1`
    ended = max(where(FUNCTIONS["logical_not"](below) & (line < last[..., None]), line, -1), axis=-1)
    active = (line > ended[..., None]) & (line <= last[..., None])
    rows = counts(n)
    block = (rows > ended[..., None]) & (rows <= last[..., None] + 1) & (last[..., None] >= 0)
    shift = where(block, _shift(matrix, last, step)[..., None], 0)
    shifts = where(rows[:, None] == rows, shift[..., None], 0)
    upper, rotations = _rotated_rows(matrix - shifts, active)
    both = _rotated_columns(concat([upper, vectors], axis=-2), rotations)
    return State(_deflated(both[..., :n, :] + shifts), both[..., n:, :], step + 1)


def _shift(x: Array, last: Array, step: Array) -> Array:
    """Wilkinson's: the eigenvalue of the block's last two rows that is nearer to its last element. Now and then another
    number, since there are matrices that the usual one leaves as they are.
    """
    at = where(last < 0, 0, last)
    values = diagonal(x)
    a, d = _at(values, at), _at(values, at + 1)
    b, c = _at(diagonal(x[..., :-1, 1:]), at), _at(diagonal(x[..., 1:, :-1]), at)
    half = (a - d) * 0.5
    root = FUNCTIONS["sqrt"](half * half + b * c)
    root = where(real(half * conj(root)) < 0, root, -root)
    usual = d + half + root
    return where(step % 10 == 9, d + FUNCTIONS["abs"](c), usual)


def _at(x: Array, index: Array) -> Array:
    """Element ``index`` [...] of the last axis."""
    chosen = counts(x.shape[-1]) == index[..., None]
    return sum(where(chosen, x, 0), axis=-1)


def _rotated_rows(x: Array, active: Array) -> tuple[Array, tuple[Array, Array]]:
    """Upper triangular rows where rotations are active; the cosines and sines [n - 1, ...]."""
    columns = counts(x.shape[-1])

    def rotate(above: Array, given: tuple[Array, Array, Array]) -> tuple[Array, tuple[Array, Array, Array]]:
        below, chosen, at = given
        here = columns == at
        a, b = (sum(where(here, each, 0), axis=-1) for each in (above, below))
        length = FUNCTIONS["hypot"](FUNCTIONS["abs"](a), FUNCTIONS["abs"](b))
        idle = FUNCTIONS["logical_not"](chosen) | (length == 0)
        size = where(idle, 1, length)
        cosine, sine = where(idle, 1, a / size), where(idle, 0, b / size)
        c, s = cosine[..., None], sine[..., None]
        return c * below - s * above, (conj(c) * above + conj(s) * below, cosine, sine)

    rows = moveaxis(x, -2, 0)
    given = (rows[1:], moveaxis(active, -1, 0), counts(extent(x, -1) - 1))
    last, (upper, cosine, sine) = scan(rotate, rows[0], given)
    return moveaxis(concat([upper, last[None]], axis=0), 0, -2), (cosine, sine)


def _rotated_columns(x: Array, rotations: tuple[Array, Array]) -> Array:
    """``x`` times the adjoints of the rotations of rows."""

    def rotate(left: Array, given: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        right, cosine, sine = given
        c, s = cosine[..., None], sine[..., None]
        return conj(c) * right - conj(s) * left, c * left + s * right

    columns = moveaxis(x, -1, 0)
    last, others = scan(rotate, columns[0], (columns[1:], *rotations))
    return moveaxis(concat([others, last[None]], axis=0), 0, -1)


def triangular_eigenvectors(x: Array) -> Array:
    """Eigenvectors of an upper triangular matrix, of length 1, by backward substitution for each eigenvalue at once.

    Where eigenvalues are equal, a small difference stands in for 0, as in LAPACK's trevc.
    """
    n = extent(x, -1)
    line, values = counts(n), diagonal(x)
    least = epsilon(x) * max(lengths(x), axis=-1)[..., None]

    def row(step: Array, y: Array) -> Array:
        i = n - 1 - step
        rest = (where(line > i, x[..., i, :], 0)[..., None, :] @ y)[..., 0, :]
        gap = values[..., i][..., None] - values
        gap = where(FUNCTIONS["abs"](gap) < least, where(least == 0, 1, least), gap)
        found = where(line == i, 1, where(line > i, -rest / gap, 0))
        return where((line == i)[:, None], found[..., None, :], y)

    found = fori_loop(0, n, row, zeros_like(x))
    return found / lengths(found, -2)[..., None, :]
