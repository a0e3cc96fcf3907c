"""Generalized minimal residuals over Krylov spaces.

Source: Saad and Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems",
1986; Jiránek and Rozložník, "Adaptive version of simpler GMRES", 2010: products with the matrix are made orthonormal,
and the residual is reduced by one after the other, so that no small system is solved.
"""

from __future__ import annotations

from collections.abc import Callable

import mlc.numpy as mnp
from mlc.frontends.array.array import Array
from mlc.frontends.array.transforms.control import fori_loop, while_loop
from mlc.scipy.vectors import norm

Operator = Callable[[Array], Array]
REDUCED = 0.9
"""The next direction is the residual where the last one reduced it to this, else the last product."""


def minimal_residuals(restart: int, A: Operator, b: Array, x: Array, M: Operator, limit: Array, steps: int) -> Array:
    """``x`` of ``A x = b`` from ``x``, restarted until the residual is at most ``limit``, or after ``steps`` restarts.

    Each restart finds the least ``|b - A x|`` in a space of ``restart`` vectors, products with ``A M``.
    """
    count = min(restart, int(b.shape[0]))  # type: ignore[arg-type]

    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        n, x, r = state
        x = _restarted(A, M, x, r, count)
        return n + 1, x, b - A(x)

    start = (mnp.asarray(0), x, b - A(x))
    return while_loop(lambda s: (norm(s[2]) > limit) & (s[0] < steps), step, start)[1]


def _restarted(A: Operator, M: Operator, x: Array, r: Array, count: int) -> Array:
    vectors = mnp.zeros((count, int(x.shape[0])), dtype=x.dtype)  # type: ignore[arg-type]

    def extended(k: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
        x, r, direction, vectors, images = state
        v, image = _orthonormal(A, M(direction), vectors, images)
        along = mnp.sum(r * image)
        x, after = x + along * v, r - along * image
        direction = mnp.where(norm(after) <= REDUCED * norm(r), after, image)
        return x, after, direction, vectors.at[k].set(v), images.at[k].set(image)

    found: Array = fori_loop(0, count, extended, (x, r, r, vectors, vectors))[0]
    return found


def _orthonormal(A: Operator, v: Array, vectors: Array, images: Array) -> tuple[Array, Array]:
    """``v`` and its image ``A v``, less the part of the image that other images have; the image has length 1. Both are
    0 where that length is rounding: the space is exhausted."""
    image = A(v)
    size = norm(image)
    for _ in range(2):  # a single pass loses orthogonality by rounding
        part = images @ image
        v, image = v - part @ vectors, image - part @ images
    length = norm(image)
    found = length > 4 * float(mnp.finfo(v.dtype).eps) * size
    scale = mnp.where(found, 1 / mnp.where(found, length, 1.0), 0.0)
    return scale * v, scale * image
