"""Algebraic simplification of scalar expressions that changes no bit of the result, also for NaN, infinities and signed
zeros.

The one exception is a power with a small integer exponent: it becomes multiplications, each of which differs from a
library's pow by at most one unit in the last place. ``x + 0.0`` is kept, because it makes 0.0 of -0.0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlc.dialects.semantics.evaluate import evaluate_expr
from mlc.dialects.semantics.expr import CASTS, PREDICATES, Call, Const, Expr, Load, element_type
from mlc.dialects.types import is_float, numpy_dtype

Typed = tuple[Expr, str | None]


def simplify(expr: Expr, operands: Sequence[str], literals: Mapping[int, Any] | None = None) -> Expr:
    """Return ``expr`` simplified, of the same element type. ``literals``: scalars that replace operands, by operand
    number."""
    new, element = _simplify(expr, operands, literals or {})
    return _typed(new, element, operands)


def _simplify(expr: Expr, operands: Sequence[str], literals: Mapping[int, Any]) -> Typed:
    match expr:
        case Load(operand=n, index=None) if n in literals:
            return Const(literals[n]), operands[n]
        case Call(fn=fn, args=args):
            return _call(fn, [_simplify(a, operands, literals) for a in args], operands)
    return expr, element_type(expr, operands)


def _call(fn: str, args: list[Typed], operands: Sequence[str]) -> Typed:
    exprs = [e for e, _ in args]
    element = next((t for _, t in args[fn == "where" :] if t is not None), None)
    result = fn if fn in CASTS else "i1" if fn in PREDICATES else element
    if element and all(isinstance(e, Const) for e in exprs):
        folded = _fold(fn, exprs, [t or element for _, t in args])
        if folded is not None:
            return folded, result
    if fn == "where" and element:
        exprs[1] = _typed(exprs[1], element, operands) if isinstance(exprs[2], Const) else exprs[1]
    return _algebra(fn, exprs, element), result


def _typed(expr: Expr, element: str | None, operands: Sequence[str]) -> Expr:
    """Return ``expr``, with a cast to ``element`` if it consists of literals alone and so has no type."""
    return Call(element, (expr,)) if element and element_type(expr, operands) is None else expr


def _fold(fn: str, args: Sequence[Expr], elements: Sequence[str]) -> Const | None:
    """Compute a function of literals in their precision; return None if the result cannot be written as a literal
    (complex numbers)."""
    values = [np.asarray(a.value, numpy_dtype(t)) for a, t in zip(args, elements, strict=True)]  # type: ignore[union-attr]
    with np.errstate(all="ignore"):
        value = np.asarray(evaluate_expr(Call(fn, tuple(Load(n) for n in range(len(values)))), values, {})).item()
    return Const(value) if isinstance(value, bool | int | float) else None


def _algebra(fn: str, args: list[Expr], element: str | None) -> Expr:
    float_ = element is not None and is_float(element)
    match fn, args:
        case "mul", ([x, Const(value=1)] | [Const(value=1), x]) if element != "i1":
            return x
        case "add", ([x, Const(value=0)] | [Const(value=0), x]) if not float_ and element != "i1":
            return x
        case "sub", [x, Const(value=0 as zero)] if math.copysign(1, zero) == 1 and element != "i1":
            return x
        case "div", [x, Const(value=c)] if c == 1 and element != "i1":
            return x
        case "div", [x, Const(value=float(c))] if float_ and _exact_reciprocal(c, str(element)):
            return Call("mul", (x, Const(1 / c)))
        case "pow", [x, Const(value=1 | 2 | 3 | 4 | -1 as exponent)] if float_ or exponent in (1, 2):
            return _power(x, int(exponent))
        case ("max", [x, Const(value=c)]) | ("min", [x, Const(value=c)]) if float_ and c == (
            -math.inf if fn == "max" else math.inf
        ):
            return x
        case "neg" | "not_", [Call(fn=inner, args=(x,))] if inner == fn:
            return x
        case "where", [Const(value=bool(taken)), yes, no]:
            return yes if taken else no
    if fn in CASTS and fn == element:
        return args[0]
    return Call(fn, tuple(args))


def _exact_reciprocal(c: float, element: str) -> bool:
    """Return whether x / c equals x * (1 / c) bit for bit: c is a power of two well within the element's range."""
    reach = {"f16": 10, "bf16": 100, "f32": 100, "f64": 1000}[element]
    return c != 0 and math.isfinite(c) and abs(math.frexp(c)[0]) == 0.5 and abs(math.log2(abs(c))) <= reach


def _power(x: Expr, exponent: int) -> Expr:
    match exponent:
        case 1:
            return x
        case -1:
            return Call("div", (Const(1), x))
        case 2:
            return Call("mul", (x, x))
        case 3:
            return Call("mul", (Call("mul", (x, x)), x))
    return _power(_power(x, 2), 2)
