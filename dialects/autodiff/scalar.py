"""Derivatives of scalar expressions in reverse mode: from the adjoint of the value to the adjoints of its loads.

    x0 * exp(x1), adjoint g   →   x0: g * exp(x1)    x1: g * x0 * exp(x1)

At points where a function is not differentiable, one value is defined:

- ``max`` and ``min`` of two equal values pass half of the adjoint to each (as PyTorch's ``maximum`` and JAX's ``max``).
  If one of them is a literal, it gets all: the derivative of ``max(x0, 0)`` at 0 is 0 (as of their relu).
- The derivative of ``abs`` is ``sign``, 0 at 0. Step functions (floor, ceil, round, trunc, sign, floor division and
  casts to integers) have the derivative 0.
- A branch of ``where`` (or ``max``, ``min``) that is not taken contributes 0, even where its derivative is infinite or
  NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlc.dialects.semantics.expr import (
    CASTS,
    REINTERPRETATIONS,
    Call,
    Const,
    Expr,
    Load,
    element_type,
    loads,
    parse,
    substitute,
    walk,
)

DIFFERENTIABLE = ("f16", "bf16", "f32", "f64")
"""The element types of tensors that have a gradient."""
Part = tuple[Load, Expr]  # an element that is read, and the contribution to its adjoint


class NoDerivative(Exception):
    """An error: an operator or a scalar function has no derivative."""


# For each argument (x0, x1) its adjoint, in terms of the function's adjoint g; None where the derivative is 0.
FORMULAS: dict[str, tuple[str | None, ...]] = {
    "add": ("g", "g"),
    "sub": ("g", "-g"),
    "mul": ("g * x1", "g * x0"),
    "div": ("g / x1", "-g * (x0 / x1) / x1"),
    "floordiv": (None, None),
    "mod": ("g", "-g * (x0 // x1)"),
    "fmod": ("g", "-g * trunc(x0 / x1)"),
    "pow": ("where(x1 == 0, 0, g * x1 * x0 ** (x1 - 1))", "where((x0 == 0) & (x1 >= 0), 0, g * x0 ** x1 * log(x0))"),
    "atan2": (
        "where((x0 == 0) & (x1 == 0), 0, g * x1 / (x0 * x0 + x1 * x1))",
        "where((x0 == 0) & (x1 == 0), 0, -g * x0 / (x0 * x0 + x1 * x1))",
    ),
    "neg": ("-g",),
    "abs": ("g * sign(x0)",),
    "exp": ("g * exp(x0)",),
    "log": ("g / x0",),
    "sqrt": ("0.5 * g / sqrt(x0)",),
    "rsqrt": ("-0.5 * g * rsqrt(x0) / x0",),
    "tanh": ("g * (1 - tanh(x0)) * (1 + tanh(x0))",),
    "erf": ("1.1283791670955126 * g * exp(-x0 * x0)",),  # 2 / sqrt(pi)
    "sin": ("g * cos(x0)",),
    "cos": ("-g * sin(x0)",),
    "tan": ("g * (1 + tan(x0) * tan(x0))",),
    "asin": ("g / sqrt((1 - x0) * (1 + x0))",),
    "acos": ("-g / sqrt((1 - x0) * (1 + x0))",),
    "atan": ("g / (1 + x0 * x0)",),
    "sinh": ("g * cosh(x0)",),
    "cosh": ("g * sinh(x0)",),
    "asinh": ("g / sqrt(1 + x0 * x0)",),
    "acosh": ("g / (sqrt(x0 - 1) * sqrt(x0 + 1))",),
    "atanh": ("g / ((1 - x0) * (1 + x0))",),
    "expm1": ("g * exp(x0)",),
    "log1p": ("g / (1 + x0)",),
    "log2": ("1.4426950408889634 * g / x0",),  # 1 / ln 2
    "log10": ("0.4342944819032518 * g / x0",),  # 1 / ln 10
    "erfc": ("-1.1283791670955126 * g * exp(-x0 * x0)",),
    "sigmoid": ("g * sigmoid(x0) * sigmoid(-x0)",),
    **dict.fromkeys(("floor", "ceil", "round", "trunc", "sign"), (None,)),
}


def pullback(expr: Expr, adjoint: Expr, elements: Sequence[str]) -> list[Part]:
    """Return the contribution of each load of a float in ``expr`` to the adjoint of the loaded element.

    ``adjoint`` is the adjoint of the value of ``expr``, in its element type; ``elements`` are the element types of the
    operands. An element that is loaded twice occurs twice.

    Raises:
        NoDerivative: a function has no derivative, or a value passes through a narrow type.
    """
    match expr:
        case Load(operand=n):
            return [(expr, adjoint)] if elements[n] in DIFFERENTIABLE else []
        case Call(fn="where", args=(condition, yes, no)):
            taken, other = pullback(yes, adjoint, elements), pullback(no, adjoint, elements)
            return _where(condition, taken) + _where(condition, other, taken=False)
        case Call(fn="max" | "min", args=(a, b)):
            return _extreme(expr, a, b, adjoint, elements)
        case Call(fn=fn, args=(arg,)) if fn in CASTS or fn in REINTERPRETATIONS:
            return _converted(fn, arg, adjoint, elements)
        case Call(fn="pow", args=(base, Const(value=exponent))):
            return pullback(base, _of_base(base, exponent, adjoint), elements)
        case Call(fn="pow", args=(Const(value=base), exponent)):
            return pullback(exponent, _of_exponent(expr, base, adjoint), elements)
        case Call(fn=fn, args=args):
            if fn not in FORMULAS:
                raise NoDerivative(f"the function {fn} has no derivative")
            given = [(arg, _formula(f, args, adjoint)) for arg, f in zip(args, FORMULAS[fn], strict=True) if f]
            return [part for arg, g in given for part in pullback(arg, g, elements)]
    return []


def total(parts: Sequence[Expr]) -> Expr:
    """Return the sum of contributions."""
    first, *rest = parts
    for part in rest:
        first = Call("add", (first, part))
    return first


def _formula(text: str, args: Sequence[Expr], adjoint: Expr) -> Expr:
    return substitute(parse(text), lambda load: args[load.operand], lambda name: adjoint)


def _where(condition: Expr, parts: Sequence[Part], taken: bool = True) -> list[Part]:
    """Return the contributions where the condition equals ``taken``, and 0 elsewhere, even if they are infinite or NaN
    there."""
    zero = Const(0)
    return [(at, Call("where", (condition, *((g, zero) if taken else (zero, g))))) for at, g in parts]


def _extreme(expr: Call, a: Expr, b: Expr, g: Expr, elements: Sequence[str]) -> list[Part]:
    """Return the contributions of a maximum or minimum: it passes the adjoint to the attained argument, or half of it
    to each of two equal arguments."""
    fn = "gt" if expr.fn == "max" else "lt"
    first, second = Call(fn, (a, b)), Call(fn, (b, a))
    if not loads(a) or not loads(b):
        return _where(first, pullback(a, g, elements)) + _where(second, pullback(b, g, elements))
    shared = Call("where", (Call("eq", (a, b)), Call("mul", (Const(0.5), g)), g))
    mine, yours = pullback(a, shared, elements), pullback(b, shared, elements)
    return _where(second, mine, taken=False) + _where(first, yours, taken=False)


def _converted(fn: str, arg: Expr, adjoint: Expr, elements: Sequence[str]) -> list[Part]:
    """Return the contributions of a conversion: a cast between floats passes the adjoint on; one from or to integers
    passes 0."""
    source = element_type(arg, elements)
    if fn in CASTS and not (_is_float(fn) and _is_float(source)):
        return [] if not _reads_bits(arg, elements) else _no_conversion(fn, source)
    if fn not in DIFFERENTIABLE or source not in DIFFERENTIABLE:
        return _no_conversion(fn, source)
    return pullback(arg, adjoint if fn == source else Call(source, (adjoint,)), elements)


def _no_conversion(fn: str, source: str | None) -> list[Part]:
    raise NoDerivative(f"the conversion {fn} of {source} has no derivative")


def _is_float(element: str | None) -> bool:
    return element is not None and (element[0] == "f" or element == "bf16")


def _reads_bits(expr: Expr, elements: Sequence[str]) -> bool:
    """Return whether ``expr`` reads the bits of a float as an integer."""
    read = [node for node in walk(expr) if isinstance(node, Call) and node.fn in REINTERPRETATIONS]
    return any(_is_float(elements[load.operand]) for node in read for load in loads(node))


def _of_base(base: Expr, exponent: float, g: Expr) -> Expr:
    """Return the adjoint of the base of a power with a literal exponent, without a logarithm, which is infinite at
    0."""
    if exponent in (0, 1):
        return g if exponent == 1 else Call("mul", (Const(0), g))
    lower = base if exponent == 2 else Call("pow", (base, Const(exponent - 1)))
    return Call("mul", (Call("mul", (Const(exponent), g)), lower))


def _of_exponent(power: Expr, base: float, g: Expr) -> Expr:
    """Return the adjoint of the exponent of a power with a literal base."""
    rate = math.log(base) if base > 0 else 0.0 if base == 0 else math.nan
    return Call("mul", (Call("mul", (Const(rate), g)), power))
