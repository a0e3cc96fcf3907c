"""Elementwise functions: each is a scalar expression (``dialects/semantics/expr.py``). Source: Array API 2025.12."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph import broadcast_shapes
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.expr import element_type, parse
from mlc.dialects.types import Shape
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops import casts, elementwise
from mlc.frontends.build.tensors import Tensor

UNARY = {
    "abs": "abs(x0)",
    "bitwise_invert": "x0 ^ -1",
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
    "log2": "log(x0) * 1.4426950408889634",
    "log10": "log(x0) * 0.4342944819032518",
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
    "floor_divide": "x0 // x1",
    "maximum": "max(x0, x1)",
    "minimum": "min(x0, x1)",
    "multiply": "x0 * x1",
    "remainder": "x0 % x1",
    "subtract": "x0 - x1",
}
REAL_BINARY = {"atan2": "atan2(x0, x1)", "divide": "x0 / x1", "hypot": "sqrt(x0 * x0 + x1 * x1)"}
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


def mapped(build: Builder, operands: Sequence[Tensor], expr: str) -> Tensor:
    return build.formula(expr, *operands)


def apply_map(expr: str, *operands: Array) -> Array:
    """An elementwise expression of arrays of one type each as it is, with broadcasting."""
    element = _element(expr, *(x.element for x in operands))
    return apply(mapped, operands, (expr,), element, broadcast(*(x.shape for x in operands)))


@cache
def _element(expr: str, *operands: str) -> str:
    found = element_type(parse(expr), operands)
    assert found is not None
    return found


def broadcast(*shapes: Sequence[DimLike]) -> Shape:
    """InputError where shapes do not broadcast."""
    return _broadcast(*map(tuple, shapes))


@lru_cache(4096)
def _broadcast(*shapes: Shape) -> Shape:
    try:
        return broadcast_shapes(shapes)
    except VerifyException as error:
        raise InputError(str(error).capitalize(), hint="Insert dimensions of 1 by x[:, None] or reshape") from error


def casted(build: Builder, operands: Sequence[Tensor], element: str) -> Tensor:
    return casts.cast(build, operands[0], element)


def convert(x: Array, element: str) -> Array:
    return x if x.element == element else apply(casted, [x], (element,), element, x.shape)


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: str | None = None) -> Array:
    """``x`` in another type; floats are truncated towards 0 where it is an integer type."""
    return convert(as_array(x), dtypes.element(dtype))


def operands(*values: Any, lowest: int = 0) -> list[Array]:
    """Operands in their common type, which is at least of this kind (2: floats); scalars take it."""
    beside = [x.element for x in values if isinstance(x, Array)]
    arrays = [as_array(x, dtypes.promote(*beside) if beside else None) for x in values]
    common = dtypes.promote(*(x.element for x in arrays))
    common = dtypes.FLOAT if dtypes.kind(common) < lowest == 2 else common
    return [convert(x, common) for x in arrays]


def _unary(name: str, expr: str, lowest: int) -> Callable[[Any], Array]:
    def function(x: Any, /) -> Array:
        (given,) = operands(x, lowest=lowest)
        if name in SAME_ON_INTEGERS and dtypes.kind(given.element) < 2:
            return given
        if name == "bitwise_invert" and given.element == "i1":
            return apply_map("not_(x0)", given)
        return apply_map(expr, convert(given, "i1") if name == "logical_not" else given)

    return _named(function, name, expr)


def _test(name: str, expr: str) -> Callable[[Any], Array]:
    def function(x: Any, /) -> Array:
        (given,) = operands(x)
        if dtypes.kind(given.element) < 2:
            return apply_map("x0 == x0" if name == "isfinite" else "x0 != x0", given)
        return apply_map(expr, given)

    return _named(function, name, expr)


def _binary(name: str, expr: str, lowest: int) -> Callable[[Any, Any], Array]:
    def function(x1: Any, x2: Any, /) -> Array:
        return apply_map(expr, *operands(x1, x2, lowest=lowest))

    return _named(function, name, expr)


def _logical(name: str, expr: str) -> Callable[[Any, Any], Array]:
    def function(x1: Any, x2: Any, /) -> Array:
        return apply_map(expr, *(convert(as_array(x), "i1") for x in (x1, x2)))

    return _named(function, name, expr)


def _named(function: Any, name: str, expr: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{expr}`` of each element, with broadcasting and type promotion."
    return function


FUNCTIONS: dict[str, Callable[..., Array]] = {
    **{name: _unary(name, expr, 0) for name, expr in UNARY.items()},
    **{name: _unary(name, expr, 2) for name, expr in REAL.items()},
    **{name: _test(name, expr) for name, expr in TESTS.items()},
    **{name: _binary(name, expr, 0) for name, expr in (BINARY | COMPARISONS).items()},
    **{name: _binary(name, expr, 2) for name, expr in REAL_BINARY.items()},
    **{name: _logical(name, expr) for name, expr in LOGICAL.items()},
}


def shifted(build: Builder, operands: Sequence[Tensor], left: bool) -> Tensor:
    return elementwise.bit_shift(build, operands[0], operands[1], left)


def bitwise_left_shift(x1: Any, x2: Any, /) -> Array:
    """``x1 << x2``; 0 where the amount is not from 0 to the number of bits."""
    a, b = operands(x1, x2)
    return apply(shifted, [a, b], (True,), a.element, broadcast(a.shape, b.shape))


def bitwise_right_shift(x1: Any, x2: Any, /) -> Array:
    """``x1 >> x2`` with the sign; only the sign stays where the amount is not from 0 to the number of bits."""
    a, b = operands(x1, x2)
    return apply(shifted, [a, b], (False,), a.element, broadcast(a.shape, b.shape))


def powered(build: Builder, operands: Sequence[Tensor]) -> Tensor:
    return elementwise.power(build, *operands)


def pow(x1: Any, x2: Any, /) -> Array:
    """``x1 ** x2``; small known exponents are products, roots and reciprocals."""
    a, b = operands(x1, x2)
    return apply(powered, [a, b], (), a.element, broadcast(a.shape, b.shape))


def where(condition: Any, x1: Any, x2: Any, /) -> Array:
    """``x1`` where the condition holds, ``x2`` elsewhere."""
    return apply_map("where(x0, x1, x2)", convert(as_array(condition), "i1"), *operands(x1, x2))


def clip(x: Any, /, min: Any = None, max: Any = None) -> Array:
    """``x`` moved into [min, max], in its own type; a bound may be absent or an array."""
    given = as_array(x)
    for expr, bound in (("max(x0, x1)", min), ("min(x0, x1)", max)):
        if bound is not None:
            given = apply_map(expr, given, convert(as_array(bound, given.element), given.element))
    return given


PUBLIC = ("bitwise_left_shift", "bitwise_right_shift", "clip", "pow", "where")
