"""Functions of scalars that more than one frontend has, each an expression with its edge cases; frontends add names,
orders of arguments and type promotion.

The derivative follows from the expression (``dialects/autodiff/scalar.py``), so it is written with that in mind: of
equal arguments, at kinks and where a branch is not taken.
"""

from __future__ import annotations

from mlc.dialects.types import is_float

_LARGE, _SMALL = "max(abs(x0), abs(x1))", "min(abs(x0), abs(x1))"
_RATIO = f"({_SMALL} / {_LARGE})"
HYPOT = (
    f"where((abs(x0) == inf) | (abs(x1) == inf), inf, "
    f"where({_LARGE} == 0, {_LARGE}, {_LARGE} * sqrt(1 + {_RATIO} * {_RATIO})))"
)
"""The length of (x0, x1), whose squares may over- and underflow; infinite beside NaN too (C11 F.10.4.3)."""
LOGADDEXP = (
    "where((x0 == x1) & (abs(x0) == inf), x0, "
    "where(x0 > x1, x0, x1) + log1p(exp(where(x0 > x1, x1 - x0, x0 - x1))))"
)
"""ln(exp(x0) + exp(x1)). Of equal arguments the derivatives are a half each, and the second ones a quarter."""
XLOGY = "where(x1 != x1, x1, where((x0 == 0) & ((x1 <= 0) | (x1 == inf)), 0, x0 * log(x1)))"
"""x0 ln x1, and 0 where x0 is 0; there the derivative by x0 is ln x1, as PyTorch's, where that is a number."""
PROBABLE = "where(x1 == 0, 0, x0 * x1)"
"""A value times its probability: an impossible one, such as a logarithm of 0, counts nothing."""
AT_LEAST, AT_MOST = "where((x0 < x1) | (x1 != x1), x1, x0)", "where((x0 > x1) | (x1 != x1), x1, x0)"
"""A value moved to a bound, which itself is within: there the derivative is the value's, as PyTorch's of ``clamp``."""
ROOT = "where(x0 == 0, 0, sqrt(x0))"
"""The root of a sum of squares: where all are 0 its derivative is 0, as PyTorch's of a norm, and not infinity · 0."""


def inserted_after(side: str, element: str) -> str:
    """Whether x1 is inserted after x0 into a sorted vector: ``left`` before equal elements, ``right`` after them; NaN
    is last (NumPy, PyTorch)."""
    test = "x0 < x1" if side == "left" else "x0 <= x1"
    if not is_float(element):
        return test
    return f"({test}) | (isnan(x1) & {'not_(isnan(x0))' if side == 'left' else '(x1 != x1)'})"


def signbit(element: str, x: str = "x0") -> str:
    """Whether a float has its sign set, as -0 and some NaN have."""
    return f"as_{'i16' if element == 'bf16' else element.replace('f', 'i')}({x}) < 0"


def copysign(element: str) -> str:
    """x0 with the sign of x1."""
    return f"where({signbit(element, 'x1')}, -abs(x0), abs(x0))"
