"""Functions of scalars that more than one frontend has, each an expression with its edge cases; frontends add names,
orders of arguments and type promotion.

The derivative follows from the expression (``dialects/autodiff/scalar.py``), so it is written with that in mind: of
equal arguments, at kinks and where a branch is not taken.
"""

from __future__ import annotations

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
XLOGY = "where(x1 != x1, x1, where(x0 == 0, 0, x0 * log(x1)))"
"""x0 ln x1, and 0 where x0 is 0."""
PROBABLE = "where(x1 == 0, 0, x0 * x1)"
"""A value times its probability: an impossible one, such as a logarithm of 0, counts nothing."""
AT_LEAST, AT_MOST = "where((x0 < x1) | (x1 != x1), x1, x0)", "where((x0 > x1) | (x1 != x1), x1, x0)"
"""A value moved to a bound, which itself is within: there the derivative is the value's, as PyTorch's of ``clamp``."""
