"""Winograd's minimal filtering: its matrices, and their rows applied to terms with shared sums.

``F(m, r)`` makes m outputs of an r-tap filter from a = m + r - 1 products instead of m*r: y = Aᵀ((G g) ⊙ (Bᵀ d)), and
in two dimensions with a matrix on either side (Lavin and Gray, arXiv 1509.09308). Here r is 3, m 2 or 4. The matrices
come from the points 0, ±5/8, ±3/2 and infinity: their transforms are exact in binary, and the error is half of that
with 0, ±1, 1/2, -2 and a quarter of that with 0, ±1, ±2 (512 channels, sums in blocks of 128).

Of integers, F(2, 3) takes the points 0, ±1 and infinity, and G twice as large: all matrices are integers, so the
outputs are exact, 4 times as large in two dimensions.

The derivative of the outputs by the filter has the same products, transposed: ḡ = Gᵀ((A ȳ) ⊙ (Bᵀ d)), which is F(r, m).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm

TAPS = 3
POINTS = (Fraction(0), Fraction(5, 8), Fraction(-5, 8), Fraction(3, 2), Fraction(-3, 2))
WHOLE_POINTS = (Fraction(0), Fraction(1), Fraction(-1))
WHOLE_TILE = 2  # of integers
QUARTER = 2  # bits by which outputs of integers are shifted
Matrix = tuple[tuple[float, ...], ...]


@lru_cache
def matrices(m: int, whole: bool = False) -> tuple[Matrix, Matrix, Matrix]:
    """Return (Aᵀ [m, a], G [a, 3], Bᵀ [a, a]) of F(m, 3), by Cook's and Toom's construction. All but the thirds in G
    are exact. ``whole``: integers, with 2 G in the place of G."""
    points = (WHOLE_POINTS if whole else POINTS)[: m + TAPS - 2]
    scales = [_value([p - q for q in points if q != p]) for p in points]
    at = [[p**i for p in points] + [Fraction(i == m - 1)] for i in range(m)]
    g = [[p**k / scale for k in range(TAPS)] for p, scale in zip(points, scales, strict=True)]
    bt = [[*_polynomial([q for q in points if q != p]), Fraction(0)] for p in points]
    g.append([Fraction(k == TAPS - 1) for k in range(TAPS)])
    bt.append(_polynomial(points))
    if whole:
        scale = lcm(*(v.denominator for row in g for v in row))
        return _whole(at), _whole([[scale * v for v in row] for row in g]), _whole(bt)
    return _floats(at), _floats(g), _floats(bt)


def transform(m: int, adjoint: bool, whole: bool = False) -> Matrix:
    """Return the matrix that computes the a points of a tile: Bᵀ [a, a] for data, A [a, m] for an ``adjoint`` of
    outputs."""
    at, _, bt = matrices(m, whole)
    return tuple(zip(*at, strict=True)) if adjoint else bt


def _value(factors: Sequence[Fraction]) -> Fraction:
    total = Fraction(1)
    for factor in factors:
        total *= factor
    return total


def _polynomial(roots: Sequence[Fraction]) -> list[Fraction]:
    """Return the coefficients of ∏(x - root), the constant one first."""
    total = [Fraction(1)]
    for root in roots:
        total = [low - root * high for low, high in zip([Fraction(0), *total], [*total, Fraction(0)], strict=True)]
    return total


def _floats(rows: Sequence[Sequence[Fraction]]) -> Matrix:
    return tuple(tuple(float(v) for v in row) for row in rows)


def _whole(rows: Sequence[Sequence[Fraction]]) -> Matrix:
    return tuple(tuple(int(v) for v in row) for row in rows)


def _plain(coefficients: Sequence[float], terms: Sequence[str]) -> tuple[bool, str] | None:
    """Return a sum of products as (is it negated, text), or None if it is 0. The last coefficient of the text is
    positive, so sums that differ only in sign have equal text."""
    parts = [(c, t) for c, t in zip(coefficients, terms, strict=True) if c]
    if not parts:
        return None
    negative = parts[-1][0] < 0
    scaled = [(-c if negative else c, t) for c, t in parts]
    return negative, "(" + " + ".join(t if c == 1 else f"{c!r}*{t}" for c, t in scaled) + ")"


def even_odd(coefficients: Sequence[float], terms: Sequence[str]) -> str:
    """Return a row of Bᵀ times ``terms``. The rows of the points p and -p are E + O and E - O, and share both sums."""
    halves = [_plain(coefficients[k::2], terms[k::2]) for k in (0, 1)]
    found = sorted(half for half in halves if half)  # what is added first
    (negative, text), rest = found[0], found[1:]
    text = f"-{text}" if negative else text
    return text + "".join(f" {'-' if minus else '+'} {other}" for minus, other in rest)


def paired(coefficients: Sequence[float], terms: Sequence[str]) -> str:
    """Return a row of Aᵀ times ``terms``. The columns of p and -p differ at most in sign, so rows share sums of two
    terms."""
    c, last = coefficients, len(terms) - 1
    parts = [(c[k], f"({terms[k]} {'+' if c[k] == c[k + 1] else '-'} {terms[k + 1]})") for k in range(1, last, 2)]
    parts = [(c[0], terms[0]), *parts, (c[last], terms[last])]
    return " + ".join(t if k == 1 else f"{k!r}*{t}" for k, t in parts if k)
