"""What the padding channels of a blocked tensor hold: 20 channels in blocks of 16 leave 12 lanes that belong to no
channel.

They may hold any finite number: the next convolution multiplies them by zero weights. An infinity or NaN there
would poison real channels, so an operator that could make one of a lane does not work on the blocked layout.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from mlc.dialects.evaluate import evaluate_expr
from mlc.dialects.expr import CASTS, COMPARISONS, Call, Const, Expr, Index, Load, walk

Lanes = frozenset[float] | None
"""The numbers the padding lanes may hold; None: any finite ones."""

ZERO: Lanes = frozenset([0.0])
ANY: Lanes = None
LIMIT = 8  # combinations of lane values that are followed one by one
FINITE = {"add", "sub", "mul", "max", "min", "neg", "abs", "where", "sigmoid", "tanh", "erf", "sin", "cos", "round",
          "floor", "ceil", "trunc", "sign", "atan", "and_", "or_", "xor", "not_", *COMPARISONS, *CASTS}  # fmt: skip
"""Functions that make a finite number of finite numbers of ordinary size."""


def after_map(expr: Expr, operands: Sequence[Lanes]) -> tuple[bool, Lanes]:
    """(whether all lanes stay finite, what they hold) after a map of operands that hold ``operands``."""
    known = [o for o in operands if o is not None]
    symbolic = any(isinstance(node, Index) for node in walk(expr))  # the value of a dimension is known at run time
    if len(known) == len(operands) and math.prod(map(len, known)) <= LIMIT and not symbolic:
        with np.errstate(all="ignore"):
            values = {float(_value(expr, point)) for point in itertools.product(*map(sorted, known))}
        return all(map(math.isfinite, values)), frozenset(values)
    zero = _is_zero(expr, operands)
    return zero or _finite(expr, operands), ZERO if zero else ANY


def _value(expr: Expr, point: Sequence[float]) -> float:
    return np.asarray(evaluate_expr(expr, [np.asarray(v, np.float32) for v in point], {})).item()


def _is_zero(expr: Expr, operands: Sequence[Lanes]) -> bool:
    """Whether ``expr`` is 0 whatever finite numbers the unknown operands hold."""
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


def _finite(expr: Expr, operands: Sequence[Lanes]) -> bool:
    match expr:
        case Load(operand=n):
            lanes = operands[n]
            return lanes is None or all(map(math.isfinite, lanes))
        case Const(value=value):
            return math.isfinite(value)
        case Index():
            return True
        case Call(fn=fn, args=args):
            return fn in FINITE and all(_finite(a, operands) for a in args)
    return False


def after_combine(fn: str, lanes: Lanes) -> tuple[bool, Lanes]:
    """The same after combining lanes of several positions by the monoid ``fn`` (pooling, reductions over positions).

    A window holds at least one element that is not padding, so the infinities that pad a maximum are never it.
    """
    if lanes is None or not lanes:
        return fn in ("max", "min", "add"), ANY
    if fn in ("max", "min"):
        finite = frozenset(v for v in lanes if math.isfinite(v))
        identity = -math.inf if fn == "max" else math.inf
        return bool(finite) and lanes <= finite | {identity}, finite
    if not all(map(math.isfinite, lanes)):
        return False, ANY
    return fn == "add", ZERO if lanes == ZERO else ANY


def union(parts: Sequence[Lanes]) -> Lanes:
    known = [p for p in parts if p is not None]
    return frozenset().union(*known) if len(known) == len(parts) else ANY
