"""Intervals of scalar expressions: for each expression one of its least and one of its largest value.

The operands of the new expressions are the least values, followed by the largest ones: operand n of N is ``xn`` and
``x(n + N)``. Source: Moore, "Interval analysis", 1966.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mlc.dialects.semantics.expr import CASTS, Call, Const, Expr, Index, Load, parse, substitute

Interval = tuple[Expr, Expr]
RISING = frozenset(
    ("exp", "log", "sqrt", "tanh", "erf", "asin", "atan", "sinh", "asinh", "acosh", "atanh", "expm1", "log1p", "log2")
    + ("log10", "sigmoid", "floor", "ceil", "round", "trunc", "sign", "add", "max", "min", "and_", "or_")
    + tuple(each for each in CASTS if each[0] != "i1")
)
"""Functions that rise in each argument."""
FALLING = frozenset(("neg", "not_", "erfc", "acos", "rsqrt"))
FORMS: dict[str, tuple[str, str]] = {
    "sub": ("x0 - x3", "x1 - x2"),
    "mul": (
        "min(min(x0 * x2, x0 * x3), min(x1 * x2, x1 * x3))",
        "max(max(x0 * x2, x0 * x3), max(x1 * x2, x1 * x3))",
    ),
    "div": (
        "where((x2 > 0) | (x3 < 0), min(min(x0 / x2, x0 / x3), min(x1 / x2, x1 / x3)), -inf)",
        "where((x2 > 0) | (x3 < 0), max(max(x0 / x2, x0 / x3), max(x1 / x2, x1 / x3)), inf)",
    ),
    "abs": ("max(max(x0, -x1), 0)", "max(x1, -x0)"),
    "sin": ("where(x0 == x1, sin(x0), -1)", "where(x0 == x1, sin(x0), 1)"),
    "cos": ("where(x0 == x1, cos(x0), -1)", "where(x0 == x1, cos(x0), 1)"),
    "lt": ("x1 < x2", "x0 < x3"),
    "le": ("x1 <= x2", "x0 <= x3"),
    "gt": ("x0 > x3", "x1 > x2"),
    "ge": ("x0 >= x3", "x1 >= x2"),
    "eq": ("(x0 == x3) & (x1 == x2)", "(x0 <= x3) & (x2 <= x1)"),
    "ne": ("(x0 > x3) | (x2 > x1)", "(x0 != x3) | (x1 != x2)"),
    "isnan": ("isnan(x0) & isnan(x1)", "isnan(x0) | isnan(x1)"),
    "where": (
        "where(x0, x2, where(x1, min(x2, x4), x4))",
        "where(x0, x3, where(x1, max(x3, x5), x5))",
    ),
    "square": ("max(max(x0, -x1), 0) * max(max(x0, -x1), 0)", "max(x1 * x1, x0 * x0)"),
}
"""The least and the largest value, of the ends x0 and x1 of the first argument, x2 and x3 of the second, and so on."""


class NoInterval(Exception):
    """An expression of which no interval is known; names the function."""


def interval(expr: Expr, count: int) -> Interval:
    """The least and the largest value of an expression over ``count`` operands.

    Raises:
        NoInterval: a function without a form here.
    """
    match expr:
        case Const() | Index():
            return expr, expr
        case Load(operand=n, index=index):
            return expr, Load(n + count, index)
    assert isinstance(expr, Call)
    ends = [interval(arg, count) for arg in expr.args]
    if expr.fn == "pow":
        return _power(expr.args[1], ends[0])
    if expr.fn == "mul" and expr.args[0] == expr.args[1]:
        return _formed("square", ends[:1])
    if expr.fn in RISING:
        return Call(expr.fn, tuple(low for low, _ in ends)), Call(expr.fn, tuple(high for _, high in ends))
    if expr.fn in FALLING:
        return Call(expr.fn, tuple(high for _, high in ends)), Call(expr.fn, tuple(low for low, _ in ends))
    if expr.fn in FORMS:
        return _formed(expr.fn, ends)
    if all(low == high for low, high in ends):
        return expr, expr
    raise NoInterval(expr.fn)


def _formed(name: str, ends: list[Interval]) -> Interval:
    flat = [end for pair in ends for end in pair]
    low, high = (substitute(parse(form), partial(_given, flat)) for form in FORMS[name])
    return low, high


def _given(flat: list[Expr], load: Load) -> Expr:
    return flat[load.operand]


def _power(exponent: Expr, base: Interval) -> Interval:
    """Of constant whole exponents; of others where the base is positive."""
    power: Callable[[Expr], Expr] = lambda x: Call("pow", (x, exponent))  # noqa: E731
    if not isinstance(exponent, Const):
        raise NoInterval("pow")
    low, high = base
    if exponent.value == int(exponent.value) and exponent.value > 0 and int(exponent.value) % 2:
        return power(low), power(high)
    if exponent.value == int(exponent.value) and exponent.value > 0:
        ends = _formed("abs", [base])
        return power(ends[0]), power(ends[1])
    falls = exponent.value < 0
    first, last = (high, low) if falls else (low, high)
    positive = Call("gt", (low, Const(0.0)))
    unknown = Const(float("-inf")), Const(float("inf"))
    return Call("where", (positive, power(first), unknown[0])), Call("where", (positive, power(last), unknown[1]))
