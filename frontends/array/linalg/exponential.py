"""The exponential of a matrix. Source: Higham, "The scaling and squaring method for the matrix exponential revisited"
(2005); Al-Mohy and Higham (2009) for its derivative."""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.array import Array
from mlc.frontends.array.compositions.arithmetic import exp2
from mlc.frontends.array.functions.creation import eye
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert, where
from mlc.frontends.array.functions.reductions import max, sum
from mlc.frontends.array.functions.shaping import broadcast_to
from mlc.frontends.array.linalg.closed_forms import solution
from mlc.frontends.array.linalg.matrices import extent, matrices
from mlc.frontends.array.transforms.control import fori_loop
from mlc.frontends.array.transforms.custom import stop_gradient

PADE = {
    "f32": ((17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1), 3.925724783138660),
    "f64": (
        (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
         670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1),
        5.371920351148152,
    ),
}  # fmt: skip
"""The coefficients of the numerator of the diagonal approximants of degree 7 and 13, and the norms up to which each is
exact in its type."""
SQUARINGS = 16


def expm(A: Any, /, *, upper_triangular: bool = False, max_squarings: int = SQUARINGS) -> Array:
    """The exponential of matrices [..., n, n]; NaN where it needs more than ``max_squarings`` squarings.

    ``upper_triangular`` is a hint of SciPy's, which changes nothing here.
    """
    given = matrices("expm", A, square=True)
    wide = convert(given, {"f16": "f32", "bf16": "f32"}.get(given.element, given.element))
    double = wide.element in ("f64", "c128")
    coefficients, least = PADE["f64" if double else "f32"]
    norm = stop_gradient(max(sum(FUNCTIONS["abs"](wide), axis=-2), axis=-1)) if extent(wide, -1) else None
    if norm is None:
        return given
    ratio = FUNCTIONS["log2"](where(norm > least, norm / least, 1))
    times = FUNCTIONS["minimum"](FUNCTIONS["ceil"](ratio), max_squarings + 1.0)[..., None, None]
    scaled = wide * convert(exp2(-times), wide.element)
    found = _approximant(scaled, coefficients)
    found = fori_loop(0, max_squarings, lambda k, x: where(k < times, x @ x, x), found)
    bad = (times > max_squarings) | (norm != norm)[..., None, None]
    return convert(where(bad, float("nan"), found), given.element)


def _approximant(x: Array, coefficients: tuple[int, ...]) -> Array:
    """``(V - U)^-1 (V + U)``: V and U are the even and the odd powers."""
    identity = broadcast_to(eye(extent(x, -1), dtype=x.dtype), x.shape)
    square, power = x @ x, identity
    even, odd = identity * float(coefficients[0]), identity * float(coefficients[1])
    for n in range(2, len(coefficients), 2):
        power = power @ square if n > 2 else square
        even, odd = even + power * float(coefficients[n]), odd + power * float(coefficients[n + 1])
    odd = x @ odd
    return solution(even - odd, even + odd)
