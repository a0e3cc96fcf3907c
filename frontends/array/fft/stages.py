"""Stages of a Fourier transform: Stockham's autosort algorithm in mixed radix, a matrix product for each factor.

A stage of radix r of a transform of length n = r q takes elements j q + i to outputs k of q transforms each,

    y[i, k, m] = sum over j of exp(sign 2πi (j k / r + i k / n)) x[j, i, m],

where m counts what earlier stages made: no element is moved to another position afterwards. The twiddle factors are
part of the matrices, of which each i has one. Complex numbers are planes of real and of imaginary parts, so a stage is
one product of reals whose vectors run along the batch. Source: C. Van Loan, Computational Frameworks for the FFT, 1992.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, Literal, cast

import numpy as np

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import Shape, numpy_dtype
from mlc.frontends.array.array import Array, from_numpy
from mlc.frontends.array.fft.padding import padded
from mlc.frontends.array.functions.products import contract
from mlc.frontends.array.functions.shaping import concat, moveaxis, permute_dims, reshape

LARGEST = 32  # radix, where the length has smaller factors
LARGEST_PRIME = 128  # for which a product with a whole matrix costs less than a convolution
PASS = 8  # terms of a product in the time in which a stage reads and writes an element
LANES = 16  # the fewest transforms side by side, which fill a vector
Matrix = np.ndarray[Any, Any]
Sign = Literal[-1, 1]


@lru_cache(4096)
def radices(n: int) -> tuple[int, ...] | None:
    """The factors of ``n`` whose stages take the least time; None where a prime factor is too large."""
    if n < 1:
        raise ValueError(f"there is no Fourier transform of {n} elements")
    if n == 1:
        return ()
    least = next((d for d in range(2, int(n**0.5) + 1) if n % d == 0), n)
    fitting = [d for d in range(2, LARGEST + 1) if n % d == 0] or [least] * (least <= LARGEST_PRIME)
    plans = [(d, *rest) for d in fitting if (rest := radices(n // d)) is not None]
    return min(plans, key=lambda plan: sum(plan) + PASS * len(plan), default=None)


def transformed(lines: Sequence[Array], sign: Sign, rows: int) -> list[Array]:
    """The real and imaginary parts [batch, rows] of the first ``rows`` elements of the transforms of ``lines``: the
    real and for complex numbers the imaginary parts [batch, n]."""
    batch, n = lines[0].shape
    assert isinstance(n, int)
    plan = radices(n)
    assert plan is not None
    if len(plan) > 1 and isinstance(batch, int) and batch < LANES:
        return [each[:, :rows] for each in _in_two(lines, sign, plan)]
    planes = concat([moveaxis(each, 1, 0)[None] for each in lines], axis=0)
    found = _staged(planes, _matrices(n, sign, plan, rows, _element(planes), len(lines), 2), rows)
    return [moveaxis(found[part], 0, 1) for part in (0, 1)]


def real_of_half(lines: Sequence[Array], n: int, sign: Sign) -> Array:
    """The real transforms [batch, n] of ``n`` elements, of which ``lines`` are the first: real and imaginary parts
    [batch, n // 2 + 1]. The others are their conjugates, so the first ones count twice."""
    plan = radices(n)
    assert plan is not None
    rest = n // plan[0] if plan else 1
    used = -(-(n // 2 + 1) // rest) * rest
    planes = concat([padded(moveaxis(each, 1, 0), 0, used)[None] for each in lines], axis=0)
    return moveaxis(_staged(planes, _matrices(n, sign, plan, n, _element(planes), 2, 1, used), n)[0], 0, 1)


def _element(planes: Array) -> str:
    return "f64" if planes.element == "f64" else "f32"


def _staged(x: Array, matrices: tuple[Array, ...], rows: int) -> Array:
    batch, made = x.shape[2], cast(DimLike, 1)
    for matrix in matrices:
        rest, parts, radix, terms = matrix.shape
        x = contract("iCkj,jib->Cikb", matrix, reshape(x, (terms, rest, made * batch)))
        made = made * radix
        x = reshape(x, (parts, rest * made, batch))
    return x if x.shape[1] == rows else x[:, :rows]


def _in_two(lines: Sequence[Array], sign: Sign, plan: tuple[int, ...]) -> list[Array]:
    """A few long transforms, as many short ones side by side (Bailey's four steps): along the columns of a matrix, and
    after a transposition along its rows."""
    batch, n = lines[0].shape
    assert isinstance(n, int)
    first = min((prod(plan[:k]) for k in range(1, len(plan))), key=lambda each: abs(each - n / each))
    second = n // first
    columns = [moveaxis(reshape(each, (batch, first, second)), 1, 0) for each in lines]
    planes = concat([reshape(each, (1, first, batch * second)) for each in columns], axis=0)
    turned = _twiddled(_side_by_side(planes, sign, (first, batch, second)), _roots(first, second, n, sign))
    planes = reshape(permute_dims(turned, (0, 3, 2, 1)), (2, second, batch * first))
    found = _side_by_side(planes, sign, (second, batch, first))
    return [reshape(moveaxis(found[part], 0, 1), (batch, n)) for part in (0, 1)]


def _side_by_side(planes: Array, sign: Sign, shape: Shape) -> Array:
    """The transforms of ``planes`` along their second axis, [2, *shape]."""
    n = shape[0]
    assert isinstance(n, int)
    plan = radices(n)
    assert plan is not None
    matrices = _matrices(n, sign, plan, n, _element(planes), int(planes.shape[0]), 2)  # type: ignore[arg-type]
    return reshape(_staged(planes, matrices, n), (2, *shape))


def _twiddled(x: Array, roots: Matrix) -> Array:
    re, im = (from_numpy(part[None, :, None].astype(numpy_dtype(_element(x)))) for part in (roots.real, roots.imag))
    return concat([x[:1] * re - x[1:] * im, x[:1] * im + x[1:] * re], axis=0)


def _roots(rows: int, columns: int, n: int, sign: Sign) -> Matrix:
    """[rows, columns]: ``exp(sign 2πi j k / n)``."""
    return np.asarray(np.exp(sign * 2j * np.pi * (np.outer(np.arange(rows), np.arange(columns)) % n) / n))


@lru_cache(256)
def _matrices(
    n: int, sign: Sign, plan: tuple[int, ...], rows: int, element: str, given: int, parts: int, used: int | None = None
) -> tuple[Array, ...]:
    """The matrix [i, part, k, part and j] of each stage. ``given``: parts of the first one's operand; ``used``: the
    elements of half a spectrum that it has."""
    made, rest, found = 1, n, []
    for radix in plan or (1,):
        last = made * radix == n
        rest //= radix
        outputs = -(-rows // made) if last else radix
        twiddles = _roots(rest, outputs, radix * rest, sign)[:, :, None]
        terms = twiddles * _roots(radix, radix, radix, sign)[:outputs]  # [i, k, j]
        if used is not None and made == 1:
            terms = (terms * _weights(n, radix, rest))[:, :, : used // rest]
        blocks = np.array([[terms.real, -terms.imag], [terms.imag, terms.real]])  # [part, part, i, k, j]
        blocks = blocks[: parts if last else 2, : given if made == 1 else 2]
        matrix = blocks.transpose(2, 0, 3, 1, 4).reshape(rest, blocks.shape[0], outputs, -1)
        found.append(from_numpy(np.ascontiguousarray(matrix).astype(numpy_dtype(element))))
        made *= radix
    return tuple(found)


def _weights(n: int, radix: int, rest: int) -> Matrix:
    """[i, 1, j]: how often element j q + i of half a spectrum counts in a sum over all of it."""
    at = np.arange(n).reshape(radix, rest).T[:, None, :]
    return np.where(at > n // 2, 0, np.where((at == 0) | (2 * at == n), 1, 2))
