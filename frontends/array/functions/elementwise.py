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
from mlc.frontends.array.functions.expressions import (
    BINARY,
    COMPARISONS,
    FLOOR_DIVIDE,
    LOGICAL,
    REAL,
    REAL_BINARY,
    SAME_ON_INTEGERS,
    TESTS,
    UNARY,
    check_kind,
)
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops import casts, elementwise
from mlc.frontends.build.tensors import Tensor


def mapped(build: Builder, operands: Sequence[Tensor], expr: str) -> Tensor:
    return build.formula(expr, *operands)


def apply_map(expr: str, *operands: Array) -> Array:
    """An elementwise expression of arrays, with broadcasting. Each operand keeps its type."""
    element = _element(expr, *(x.element for x in operands))
    return apply(mapped, operands, (expr,), element, broadcast(*(x.shape for x in operands)))


@cache
def _element(expr: str, *operands: str) -> str:
    found = element_type(parse(expr), operands)
    assert found is not None
    return found


class ShapeError(InputError, ValueError):
    """Shapes that do not fit; the standard's ValueError as well."""


def broadcast(*shapes: Sequence[DimLike]) -> Shape:
    """The common shape of shapes that broadcast. Raises ShapeError where they do not."""
    return _broadcast(*map(tuple, shapes))


@lru_cache(4096)
def _broadcast(*shapes: Shape) -> Shape:
    try:
        return broadcast_shapes(shapes)
    except VerifyException as error:
        raise ShapeError(str(error).capitalize(), hint="Insert dimensions of 1 by x[:, None] or reshape") from error


def casted(build: Builder, operands: Sequence[Tensor], element: str) -> Tensor:
    return casts.cast(build, operands[0], element)


def convert(x: Array, element: str) -> Array:
    """``x`` as ``element``; complex numbers are true where they are not 0.

    Raises:
        InputError: complex numbers as real ones.
    """
    if x.element == element:
        return x
    if element in dtypes.PART:
        return formulas().as_complex(x, element)
    if x.element in dtypes.PART and element == "i1":
        return FUNCTIONS["not_equal"](x, 0)
    return apply(casted, [x], (element,), element, x.shape)


def formulas() -> Any:
    """The module of formulas of complex numbers, imported on use since it imports this one."""
    from mlc.frontends.array.complex import formulas

    return formulas


def is_complex(*arrays: Array) -> bool:
    return any(x.element in dtypes.PART for x in arrays)


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: str | None = None) -> Array:
    """``x`` in another type; floats are truncated towards 0 where it is an integer type."""
    return convert(as_array(x), dtypes.element(dtype))


def arrays_of(*values: Any) -> list[Array]:
    """Operands as arrays; scalars take the type of the arrays beside them, real ones that of complex arrays' parts."""
    beside = [x.element for x in values if isinstance(x, Array)]
    common = dtypes.promote(*beside) if beside else None
    part = dtypes.PART.get(common, common) if common else None
    return [as_array(x, common if isinstance(x, complex) else part) for x in values]


def operands(*values: Any, lowest: int = 0) -> list[Array]:
    """Operands in their common type, which is at least of this kind (2: floats); scalars take it."""
    arrays = arrays_of(*values)
    common = dtypes.promote(*(x.element for x in arrays))
    common = dtypes.FLOAT if dtypes.kind(common) < lowest == 2 else common
    return [convert(x, common) for x in arrays]


def _unary(name: str, expr: str, lowest: int) -> Callable[[Any], Array]:
    def function(x: Any, /) -> Array:
        (given,) = operands(x, lowest=lowest)
        check_kind(name, given.element)
        if is_complex(given):
            return formulas().elementwise(name, given)
        if name in SAME_ON_INTEGERS and dtypes.kind(given.element) < 2:
            return given
        return apply_map(expr, convert(given, "i1") if name == "logical_not" else given)

    return _named(function, name, expr)


def _test(name: str, expr: str) -> Callable[[Any], Array]:
    def function(x: Any, /) -> Array:
        (given,) = operands(x)
        if is_complex(given):
            return formulas().elementwise(name, given)
        if dtypes.kind(given.element) < 2:
            return apply_map("x0 == x0" if name == "isfinite" else "x0 != x0", given)
        return apply_map(expr, given)

    return _named(function, name, expr)


def _binary(name: str, expr: str, lowest: int) -> Callable[[Any, Any], Array]:
    def function(x1: Any, x2: Any, /) -> Array:
        given = arrays_of(x1, x2)
        if is_complex(*given):
            return formulas().elementwise(name, *given)
        a, b = operands(*given, lowest=lowest)
        check_kind(name, a.element)
        return apply_map(FLOOR_DIVIDE if name == "floor_divide" and dtypes.kind(a.element) == 2 else expr, a, b)

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
    check_kind("bitwise_left_shift", a.element)
    return apply(shifted, [a, b], (True,), a.element, broadcast(a.shape, b.shape))


def bitwise_right_shift(x1: Any, x2: Any, /) -> Array:
    """``x1 >> x2`` with the sign; only the sign stays where the amount is not from 0 to the number of bits."""
    a, b = operands(x1, x2)
    check_kind("bitwise_right_shift", a.element)
    return apply(shifted, [a, b], (False,), a.element, broadcast(a.shape, b.shape))


def powered(build: Builder, operands: Sequence[Tensor]) -> Tensor:
    return elementwise.power(build, *operands)


def pow(x1: Any, x2: Any, /) -> Array:
    """``x1 ** x2``; small known exponents are products, roots and reciprocals."""
    a, b = operands(x1, x2)
    if is_complex(a):
        return formulas().elementwise("pow", a, b)
    check_kind("pow", a.element)
    return apply(powered, [a, b], (), a.element, broadcast(a.shape, b.shape))


def where(condition: Any, x1: Any = None, x2: Any = None, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """``x1`` where the condition holds, ``x2`` elsewhere; of the condition alone what ``nonzero`` is."""
    if x1 is None and x2 is None:
        from mlc.frontends.array.selecting.sets import nonzero

        return nonzero(condition, size=size, fill_value=fill_value)
    chosen, a, b = convert(as_array(condition), "i1"), *operands(x1, x2)
    if is_complex(a):
        return formulas().by_parts(lambda *parts: apply_map("where(x0, x1, x2)", *parts), chosen, a, b)
    return apply_map("where(x0, x1, x2)", chosen, a, b)


def clip(x: Any, /, min: Any = None, max: Any = None, *, a_min: Any = None, a_max: Any = None) -> Array:
    """``x`` moved into [min, max], in the common type of all three; a bound may be absent or an array."""
    min, max = a_min if min is None else min, a_max if max is None else max
    bounds = [(expr, each) for expr, each in (("max(x0, x1)", min), ("min(x0, x1)", max)) if each is not None]
    given, *ends = operands(as_array(x), *(each for _, each in bounds))
    for (expr, _), end in zip(bounds, ends, strict=True):
        given = apply_map(expr, given, end)
    return given


def real(x: Any, /) -> Array:
    """The real part; real numbers as they are."""
    return formulas().real(as_array(x))


def imag(x: Any, /) -> Array:
    """The imaginary part; 0 of real numbers."""
    return formulas().imaginary(as_array(x))


def conj(x: Any, /) -> Array:
    """The complex conjugate; real numbers as they are."""
    given = as_array(x)
    return formulas().elementwise("conj", given) if is_complex(given) else given


_OTHERS = (bitwise_left_shift, bitwise_right_shift, clip, conj, imag, pow, real, where)
FUNCTIONS |= {f.__name__: f for f in _OTHERS}
