"""Padding values: the elements of a blocked tensor's padding channels (20 channels in blocks of 16: 12 such channels).

Any finite value is allowed: the next convolution multiplies it by zero weights. An infinity or NaN would spread to real
channels, so an operator that could compute one from a padding value keeps the plain layout.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlc.dialects.semantics.evaluate import evaluate_expr
from mlc.dialects.semantics.expr import CASTS, COMPARISONS, Call, Const, Expr, Index, Load, walk
from mlc.dialects.types import numpy_dtype

PaddingValues = frozenset[float] | None
"""The set of possible padding values; None: any finite values."""

ZERO: PaddingValues = frozenset([0.0])
ANY: PaddingValues = None
LIMIT = 8  # combinations of padding values that are evaluated one by one
FINITE = {"add", "sub", "mul", "max", "min", "neg", "abs", "where", "sigmoid", "tanh", "erf", "sin", "cos", "round",
          "floor", "ceil", "trunc", "sign", "atan", "and_", "or_", "xor", "not_", *COMPARISONS, *CASTS}  # fmt: skip
"""The functions whose result is finite for finite arguments of ordinary magnitude."""


def after_map(expr: Expr, operands: Sequence[PaddingValues], elements: Sequence[str]) -> tuple[bool, PaddingValues]:
    """Return whether all padding values of a map's result are finite, and these values. ``operands`` and ``elements``:
    the padding values and element types of the operands."""
    known = [o for o in operands if o is not None]
    symbolic = any(isinstance(node, Index) for node in walk(expr))  # the value of a dimension is known at run time
    if len(known) == len(operands) and math.prod(map(len, known)) <= LIMIT and not symbolic:
        with np.errstate(all="ignore"):
            values = {float(_value(expr, point, elements)) for point in itertools.product(*map(sorted, known))}
        return all(map(math.isfinite, values)), frozenset(values)
    zero = _is_zero(expr, operands)
    return zero or _finite(expr, operands), ZERO if zero else ANY


def _value(expr: Expr, point: Sequence[float], elements: Sequence[str]) -> float:
    values = [np.asarray(v, _dtype(v, element)) for v, element in zip(point, elements, strict=True)]
    return np.asarray(evaluate_expr(expr, values, {})).item()


def _dtype(value: float, element: str) -> np.dtype[Any]:
    """Return the type for evaluating ``expr``: integers and predicates keep theirs, floats are f32."""
    return numpy_dtype(element if element[0] in "iu" and math.isfinite(value) else "f32")


def _is_zero(expr: Expr, operands: Sequence[PaddingValues]) -> bool:
    """Return whether ``expr`` is 0 for all finite values of the operands whose padding values are unknown."""
    match expr:
        case Load(operand=n):
            return operands[n] == ZERO
        case Const(value=value):
            return value == 0
        case Call(fn="mul", args=args):
            return any(_is_zero(a, operands) for a in args) and all(_finite(a, operands) for a in args)
        case Call(fn="add" | "sub" | "max" | "min" | "neg" | "abs", args=args):
            return all(_is_zero(a, operands) for a in args)
    return False


def _finite(expr: Expr, operands: Sequence[PaddingValues]) -> bool:
    match expr:
        case Load(operand=n):
            values = operands[n]
            return values is None or all(map(math.isfinite, values))
        case Const(value=value):
            return math.isfinite(value)
        case Index():
            return True
        case Call(fn=fn, args=args):
            return fn in FINITE and all(_finite(a, operands) for a in args)
    return False


def after_combine(fn: str, values: PaddingValues) -> tuple[bool, PaddingValues]:
    """Return whether the result of combining several positions by the monoid ``fn`` (pooling, reductions over
    positions) has finite padding values, and these values.

    A window has at least one element that is not padding, so the infinities that pad a maximum are never its result.
    """
    if values is None or not values:
        return fn in ("max", "min", "add"), ANY
    if fn in ("max", "min"):
        finite = frozenset(v for v in values if math.isfinite(v))
        identity = -math.inf if fn == "max" else math.inf
        return bool(finite) and values <= finite | {identity}, finite
    if not all(map(math.isfinite, values)):
        return False, ANY
    return fn == "add", ZERO if values == ZERO else ANY


def union(parts: Sequence[PaddingValues]) -> PaddingValues:
    known = [p for p in parts if p is not None]
    return frozenset().union(*known) if len(known) == len(parts) else ANY
