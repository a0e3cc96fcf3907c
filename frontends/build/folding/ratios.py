"""Floats that a model computes of sizes, as fractions of dimensions: floor(f32(h) * 1.5) is (3*h)//2.

Only where f32 gives what the fraction says, at sizes that tensors have: factors are fractions of few bits, and after a
quotient that may be rounded nothing comes but floor, ceil or a cast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mlc.dialects.semantics.dims import Dim, DimLike, floordiv
from mlc.frontends.build.folding.prove import lower_bound

FLOATS = ("f32", "f64")
LARGEST = 1 << 12  # numerator and denominator of a factor
Number = int | float | Dim


class Inexact(Exception):
    """The floats that a model computes may differ from the fraction."""


@dataclass(frozen=True)
class Ratio:
    """``numerator / denominator``, the second at least 1; ``rounded``: in floats it may be rounded."""

    numerator: DimLike
    denominator: DimLike = 1
    rounded: bool = False

    @staticmethod
    def of(value: Any) -> Ratio:
        """A number or dimension as a fraction."""
        if isinstance(value, Ratio | Dim):
            return value if isinstance(value, Ratio) else Ratio(value)
        fraction = Fraction(float(value)) if abs(float(value)) < LARGEST else Fraction(LARGEST)
        if abs(fraction.numerator) >= LARGEST or fraction.denominator >= LARGEST:
            raise Inexact
        return Ratio(fraction.numerator, fraction.denominator)

    def floor(self) -> Ratio:
        return Ratio(floordiv(self.numerator, self.denominator))

    def ceil(self) -> Ratio:
        return Ratio(-floordiv(-self.numerator, self.denominator))

    def whole(self) -> DimLike:
        """Rounded towards 0, as a cast does."""
        low = lower_bound(self.numerator)
        if low is None or low < 0:
            raise Inexact
        return floordiv(self.numerator, self.denominator)


def _product(a: Ratio, b: Ratio) -> Ratio:
    return Ratio(a.numerator * b.numerator, a.denominator * b.denominator)


def _quotient(a: Ratio, b: Ratio) -> Ratio:
    low = lower_bound(b.numerator)
    if low is None or low < 1:
        raise Inexact
    by = b.numerator
    rounded = isinstance(by, Dim) or by & (by - 1) != 0
    return Ratio(a.numerator * b.denominator, a.denominator * by, rounded)


def _sum(a: Ratio, b: Ratio) -> Ratio:
    return Ratio(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator)


_FUNCTIONS: dict[str, Callable[..., Ratio]] = {
    "mul": _product,
    "div": _quotient,
    "add": _sum,
    "sub": lambda a, b: _sum(a, Ratio(-b.numerator, b.denominator, b.rounded)),
}


def ratio_function(fn: str, args: list[Any]) -> Any:
    """A function of the scalar expressions on fractions; casts to integers give dimensions.

    Raises:
        Inexact: floats may give something else.
    """
    values = [Ratio.of(a) for a in args]
    if fn in FLOATS:
        return values[0]
    if fn in ("i32", "i64"):
        return values[0].whole()
    if fn in ("floor", "ceil"):
        return values[0].floor() if fn == "floor" else values[0].ceil()
    if fn not in _FUNCTIONS or any(v.rounded for v in values):
        raise Inexact
    return _FUNCTIONS[fn](*values)
