"""Formulas of complex functions as scalar expressions of the parts. Source: C99 annex G.

``x0 + i x1`` is the first operand, ``x2 + i x3`` the second; steps come after those that there are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from mlc.frontends.array.functions.expressions import HYPOT


class Formula(NamedTuple):
    """The two parts of a result as expressions. ``steps`` are computed first and follow the operands as further
    ones.
    """

    re: str
    im: str
    steps: tuple[str, ...] = ()


def _times(a: str, b: str, zero: str | None = None) -> str:
    """A product of a size ``a`` and the sine or cosine of an angle: 0 times infinity or NaN is 0.

    ``zero``: where ``a`` is 0 and not just too small, if it can be.
    """
    absent = f"where(({zero or f'{a} == 0'}) & isnan({b}), {a}, {a} * {b})"
    return f"where(({b} == 0) & not_(abs({a}) < inf), {b}, {absent})"


def _grown(a: str, b: str, by: str, zero: str | None = None) -> str:
    """``_times``, but infinite where the exponent ``by`` is, even if the angle is not finite."""
    return f"where(({by} == inf) & isnan({b}), {a}, {_times(a, b, zero)})"


_INFINITE = "(abs(x0) == inf) | (abs(x1) == inf)"
_LOG = (
    f"{HYPOT}",
    "max(abs(x0), abs(x1))",
    "min(abs(x0), abs(x1))",
    "where((x3 > 0.5) & (x3 < 2), 0.5 * log1p((x3 - 1) * (x3 + 1) + x4 * x4), log(x2))",
)
"""The logarithm of the absolute value, accurate where that is near 1."""
_NONE = "x0 == -inf"  # where an exponential is 0
_LOG2_E, _LOG10_E = 1.4426950408889634, 0.4342944819032518

FORMULAS = {
    "add": Formula("x0 + x2", "x1 + x3"),
    "atanh": Formula(
        f"where({_INFINITE}, where(x0 < 0, -0.0, 0.0), where(x0 == 0, x0, x2))",
        f"where({_INFINITE}, where(isnan(x1), x1, where(x1 < 0, {-math.pi / 2!r}, {math.pi / 2!r})), x3)",
        (
            "0.25 * log1p(4 * x0 / ((1 - x0) * (1 - x0) + x1 * x1))",
            "0.5 * atan2(2 * x1, (1 - x0) * (1 + x0) - x1 * x1)",
        ),
    ),
    "conj": Formula("x0", "-x1"),
    "cos": Formula(
        _grown("x3", "x4", "abs(x1)"), f"-({_times('x2', 'x5')})", ("sinh(x1)", "cosh(x1)", "cos(x0)", "sin(x0)")
    ),
    "cosh": Formula(_grown("x3", "x4", "abs(x0)"), _times("x2", "x5"), ("sinh(x0)", "cosh(x0)", "cos(x1)", "sin(x1)")),
    "exp": Formula(_grown("x2", "x3", "x0", _NONE), _times("x2", "x4", _NONE), ("exp(x0)", "cos(x1)", "sin(x1)")),
    "expm1": Formula(
        f"where(abs(x0) < 1, expm1(x0) * x3 - 2 * x5 * x5 + 0, ({_grown('x2', 'x3', 'x0', _NONE)}) - 1)",
        _times("x2", "x4", _NONE),
        ("exp(x0)", "cos(x1)", "sin(x1)", "sin(x1 * 0.5)"),
    ),
    "log": Formula("x5", "atan2(x1, x0)", _LOG),
    "log10": Formula(f"{_LOG10_E} * x5", f"{_LOG10_E} * atan2(x1, x0)", _LOG),
    "log2": Formula(f"{_LOG2_E} * x5", f"{_LOG2_E} * atan2(x1, x0)", _LOG),
    "multiply": Formula("x0 * x2 - x1 * x3", "x0 * x3 + x1 * x2"),
    "negative": Formula("-x0", "-x1"),
    "round": Formula("round(x0)", "round(x1)"),
    "sign": Formula("where(x2 == 0, 0, x0 / x2)", "where(x2 == 0, 0, x1 / x2)", (HYPOT,)),
    "sin": Formula(_times("x3", "x5"), _grown("x2", "x4", "abs(x1)"), ("sinh(x1)", "cosh(x1)", "cos(x0)", "sin(x0)")),
    "sinh": Formula(_grown("x2", "x4", "abs(x0)"), _times("x3", "x5"), ("sinh(x0)", "cosh(x0)", "cos(x1)", "sin(x1)")),
    "sqrt": Formula(
        "where(abs(x1) == inf, inf, where(x2 == 0, x2, where(x0 >= 0, x3, abs(x1) / (2 * x3))))",
        "where(abs(x1) == inf, x1, where(x2 == 0, x1, where(x0 >= 0, x1 / (2 * x3), where(1 / x1 < 0, -x3, x3))))",
        (HYPOT, "sqrt(0.5 * abs(x0) + 0.5 * x2)"),
    ),
    "square": Formula("(x0 - x1) * (x0 + x1)", "2 * x0 * x1"),
    "subtract": Formula("x0 - x2", "x1 - x3"),
    "tanh": Formula(
        "where(x4, sign(x0), where(x0 == 0, x0, sinh(2 * x0) / x2))",
        "where(abs(x0) == inf, where(x1 < 0, -0.0, 0.0), where(x4, 4 * x3 * exp(-2 * abs(x0)), "
        "where(x1 == 0, x1, 2 * x3 / x2)))",
        ("cosh(2 * x0) + cos(2 * x1)", "sin(x1) * cos(x1)", "(abs(x0) == inf) | ((abs(x0) > 20) & not_(isnan(x3)))"),
    ),
}
"""Complex results."""
REAL = {
    "abs": HYPOT,
    "equal": "(x0 == x2) & (x1 == x3)",
    "isfinite": "(abs(x0) < inf) & (abs(x1) < inf)",
    "isinf": _INFINITE,
    "isnan": "isnan(x0) | isnan(x1)",
    "not_equal": "(x0 != x2) | (x1 != x3)",
}
"""Results that are not complex."""
