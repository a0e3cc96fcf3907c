"""Polynomials from roots, and division. Coefficients are the highest power first. Source: NumPy 2."""

from __future__ import annotations

from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.compositions.signals import convolve
from mlc.frontends.array.functions.creation import ones, zeros
from mlc.frontends.array.functions.elementwise import operands
from mlc.frontends.array.functions.shaping import concat, stack
from mlc.frontends.array.linalg.decompositions import eigvals


def poly(seq_of_zeros: Any, /) -> Array:
    """The coefficients of the polynomial with these roots, or of the characteristic polynomial of a matrix (complex).

    Raises:
        InputError: neither a vector nor a square matrix.
    """
    (given,) = operands(seq_of_zeros, lowest=2)
    if given.ndim == 2:
        given = eigvals(given)
    if given.ndim != 1:
        raise InputError(
            f"poly takes no array of shape {given.shape}", hint="Give a vector of roots or a square matrix"
        )
    found = ones((1,), dtype=given.dtype)
    for n in range(len(given)):
        found = convolve(found, stack([given[n] * 0 + 1, -given[n]]))
    return found


def polydiv(u: Any, v: Any, /) -> tuple[Array, Array]:
    """The quotient of two polynomials and the rest, which has as many coefficients as ``v`` less one (at least one).

    The rest keeps leading zeros, since shapes do not depend on elements: NumPy removes them. ``v[0]`` is not 0.
    """
    rest, divisor = operands(u, v, lowest=2)
    steps, m = len(rest) - len(divisor) + 1, len(divisor)
    if steps < 1:
        return zeros((1,), dtype=rest.dtype), rest
    found = []
    for n in range(steps):
        found.append(rest[n] / divisor[0])
        rest = concat([rest[:n], rest[n : n + m] - found[-1] * divisor, rest[n + m :]])
    return stack(found), rest[steps:] if m > 1 else zeros((1,), dtype=rest.dtype)


PUBLIC = ("poly", "polydiv")
