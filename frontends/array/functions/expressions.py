"""Elementwise functions of real arrays as scalar expressions, by the type that they need. Source: Array API 2025.12."""

from __future__ import annotations

from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.build.ops.functions import HYPOT, LOGADDEXP

UNARY = {
    "abs": "abs(x0)",
    "bitwise_invert": "not_(x0)",
    "ceil": "ceil(x0)",
    "floor": "floor(x0)",
    "logical_not": "not_(x0)",
    "negative": "-x0",
    "round": "round(x0)",
    "sign": "sign(x0)",
    "square": "x0 * x0",
    "trunc": "trunc(x0)",
}
REAL = {
    "acos": "acos(x0)",
    "acosh": "acosh(x0)",
    "asin": "asin(x0)",
    "asinh": "asinh(x0)",
    "atan": "atan(x0)",
    "atanh": "atanh(x0)",
    "cos": "cos(x0)",
    "cosh": "cosh(x0)",
    "erf": "erf(x0)",
    "exp": "exp(x0)",
    "expm1": "expm1(x0)",
    "log": "log(x0)",
    "log1p": "log1p(x0)",
    "log2": "log2(x0)",
    "log10": "log10(x0)",
    "reciprocal": "1 / x0",
    "sigmoid": "sigmoid(x0)",
    "sin": "sin(x0)",
    "sinh": "sinh(x0)",
    "sqrt": "sqrt(x0)",
    "tan": "tan(x0)",
    "tanh": "tanh(x0)",
}
TESTS = {"isnan": "isnan(x0)", "isinf": "isinf(x0)", "isfinite": "abs(x0) < inf"}
BINARY = {
    "add": "x0 + x1",
    "bitwise_and": "x0 & x1",
    "bitwise_or": "x0 | x1",
    "bitwise_xor": "x0 ^ x1",
    "floor_divide": "x0 // x1",  # of floats: FLOOR_DIVIDE
    "maximum": "max(x0, x1)",
    "minimum": "min(x0, x1)",
    "multiply": "x0 * x1",
    "remainder": "x0 % x1",
    "subtract": "x0 - x1",
}
FLOOR_DIVIDE = (
    "where((abs(x0) == inf) | (abs(x1) == inf), "
    "where((x0 != 0) & (abs(x0) < inf) & ((x0 < 0) != (x1 < 0)), -1, floor(x0 / x1)), x0 // x1)"
)
"""Of floats: infinite where the quotient is, and -1 where it is a negative number over an infinity."""
REAL_BINARY = {
    "atan2": "atan2(x0, x1)",
    "divide": "x0 / x1",
    "hypot": HYPOT,
    "logaddexp": LOGADDEXP,
}
COMPARISONS = {
    "equal": "x0 == x1",
    "greater": "x0 > x1",
    "greater_equal": "x0 >= x1",
    "less": "x0 < x1",
    "less_equal": "x0 <= x1",
    "not_equal": "x0 != x1",
}
LOGICAL = {"logical_and": "x0 & x1", "logical_or": "x0 | x1", "logical_xor": "x0 ^ x1"}
SAME_ON_INTEGERS = {"ceil", "floor", "round", "trunc"}


def check_kind(name: str, element: str) -> None:
    """Raise InputError where a function of bits gets floats, or a function of signs gets booleans."""
    kind = dtypes.kind(element)
    if name.startswith("bitwise_") and kind >= 2:
        raise InputError(f"mlc.numpy.{name} is not defined on {element}", hint="Give integers or booleans")
    if name in ("negative", "sign", "subtract", "floor_divide", "remainder", "pow") and kind == 0:
        raise InputError(
            f"mlc.numpy.{name} is not defined on booleans", hint="Use logical_not, or astype to a type of numbers"
        )
