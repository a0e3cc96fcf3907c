"""Elementwise operators: ATen name -> scalar expression."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from mlc.dialects.types import is_float, is_unsigned, numpy_dtype
from mlc.frontends.array.compositions import arithmetic
from mlc.frontends.array.functions import floats
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops import elementwise, functions
from mlc.frontends.build.ops.functions import AT_LEAST, AT_MOST, HYPOT, LOGADDEXP, XLOGY
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.dtypes import TORCH_OF_ELEMENT
from mlc.frontends.torch.ops.arrays import by_arrays
from mlc.frontends.torch.registry import REGISTRY, Call, Operand, aten

SAME = ("ceil", "floor", "round", "trunc")  # on integers: these have no fraction
NAMED = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "erfc", "exp", "expm1", "log",
    "log10", "log1p", "log2", "reciprocal", "relu", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt",
    "square", "tan", "tanh",
)  # fmt: skip
UNARY = {
    **{name: f"{name}(x0)" for name in NAMED},
    "bitwise_not": "not_(x0)",
    "exp2": "2 ** x0",
    "frac": "x0 - trunc(x0)",
    "neg": "-x0",
    "sgn": "sign(x0)",
}
ARITHMETIC = {
    "atan2": "atan2(x0, x1)",
    "bitwise_and": "x0 & x1",
    "bitwise_or": "x0 | x1",
    "bitwise_xor": "x0 ^ x1",
    "fmax": "where(x0 == x0, where(x1 == x1, max(x0, x1), x0), x1)",
    "fmin": "where(x0 == x0, where(x1 == x1, min(x0, x1), x0), x1)",
    "fmod": "fmod(x0, x1)",
    "hypot": HYPOT,
    "ldexp": "x0 * 2 ** x1",
    "logaddexp": LOGADDEXP,
    "maximum": "max(x0, x1)",
    "minimum": "min(x0, x1)",
    "remainder": "x0 % x1",
    "xlogy": XLOGY,
}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
LOGICAL = {"logical_and": "x0 & x1", "logical_or": "x0 | x1", "logical_xor": "x0 ^ x1"}


def _unary(expr: str, call: Call, x: Tensor) -> Tensor:
    if call.element == "i1" and call.op in ("sign", "sgn", "abs"):
        return x
    return call.build.formula(expr, call.tensor(x))


def _arithmetic(expr: str, call: Call, a: Operand, b: Operand) -> Tensor:
    return call.build.formula(expr, *call.tensors(a, b))


def _comparison(sign: str, call: Call, a: Operand, b: Operand) -> Tensor:
    return call.build.map(f"x0 {sign} x1", *call.promoted(a, b))


def _logical(expr: str, call: Call, a: Operand, b: Operand) -> Tensor:
    return call.build.map(expr, call.predicate(a), call.predicate(b))


for table, make in ((UNARY, _unary), (ARITHMETIC, _arithmetic), (COMPARISONS, _comparison), (LOGICAL, _logical)):
    REGISTRY.update({name: partial(make, text) for name, text in table.items()})


@aten("gcd", "lcm", "nextafter")
def by_array_function(call: Call, a: Operand, b: Operand) -> Tensor:
    function = floats.nextafter if call.op == "nextafter" else getattr(arithmetic, call.op)
    found: Tensor = by_arrays(call.build, function, *call.tensors(a, b))
    return found


@aten("prims::fma")
def multiply_add(call: Call, a: Operand, b: Operand, c: Operand) -> Tensor:
    return call.build.formula("x0 * x1 + x2", *call.tensors(a, b, c))


@aten(*SAME)
def whole(call: Call, x: Tensor) -> Tensor:
    return call.build.map(f"{call.op}(x0)", x) if is_float(x.element) else x


@aten("round.decimals")
def rounded(call: Call, x: Tensor, *, decimals: int = 0) -> Tensor:
    """Round to a multiple of 10 ** -decimals."""
    if not is_float(x.element):
        return x
    power = literal(10.0 ** abs(decimals))
    scaled, back = ("/", "*") if decimals < 0 else ("*", "/")
    return call.build.map(f"round(x0 {scaled} {power}) {back} {power}" if decimals else "round(x0)", x)


@aten("add", "sub", "rsub")
def add(call: Call, a: Operand, b: Operand, alpha: float = 1) -> Tensor:
    if call.op == "rsub":
        a, b = b, a
    if call.element == "i1" and not alpha:
        return call.build.map("x0 | (x1 & not_(x1))", *call.tensors(a, b))
    factor = np.asarray(alpha, numpy_dtype(call.element)).item() if call.is_real() else alpha  # torch rounds it, too
    right = "x1" if alpha == 1 else f"x1 * {literal(factor)}"
    sign = "+" if call.op == "add" else "-"
    if call.element == "i1":  # the sum of predicates is their disjunction
        return call.build.map("x0 | x1", *call.tensors(a, b))
    return call.build.formula(f"x0 {sign} {right}", *call.tensors(a, b))


@aten("mul")
def multiply(call: Call, a: Operand, b: Operand) -> Tensor:
    return call.scaled("x0 & x1" if call.element == "i1" else "x0 * x1", a, b)


@aten("div", "divide", "true_divide")
def divide(call: Call, a: Operand, b: Operand, rounding_mode: str | None = None) -> Tensor:
    if rounding_mode == "floor":
        return call.scaled("x0 // x1", a, b)
    if rounding_mode is None or not call.is_real():
        return call.scaled("x0 / x1", a, b)
    return call.scaled(f"{rounding_mode}(x0 / x1)", a, b)


@aten("floor_divide")
def floor_divide(call: Call, a: Operand, b: Operand) -> Tensor:
    return divide(call, a, b, "floor")


@aten("pow")
def power(call: Call, base: Operand, exponent: Operand) -> Tensor:
    return elementwise.power(call.build, call.tensor(base), call.tensor(exponent))


@aten("bitwise_left_shift", "bitwise_right_shift", "__lshift__", "__rshift__")
def shift(call: Call, x: Operand, amount: Operand) -> Tensor:
    a, b = call.tensors(x, amount)
    return elementwise.bit_shift(call.build, a, b, "l" in call.op in ("bitwise_left_shift", "__lshift__"))


@aten("angle")
def angle(call: Call, x: Tensor) -> Tensor:
    """The angle of real numbers: pi for negative ones, 0 for others."""
    return call.build.map(f"where(isnan(x0), x0, where(x0 < 0, {np.pi!r}, 0))", call.tensor(x))


@aten("logical_not")
def logical_not(call: Call, x: Tensor) -> Tensor:
    return call.build.map("not_(x0)", call.predicate(x))


@aten("isnan", "isinf")
def is_special(call: Call, x: Tensor) -> Tensor:
    return call.build.map(f"{call.op}(x0)" if is_float(x.element) else "x0 != x0", x)


@aten("where")
def where(call: Call, condition: Tensor, a: Operand, b: Operand) -> Tensor:
    return call.build.map("where(x0, x1, x2)", call.predicate(condition), *call.tensors(a, b))


@aten("masked_fill")
def masked_fill(call: Call, x: Tensor, mask: Tensor, value: Operand) -> Tensor:
    return call.build.map("where(x0, x1, x2)", mask, *call.tensors(value, x))


@aten("clamp", "clip")
def clamp(call: Call, x: Tensor, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    y = call.tensor(x)
    for expr, bound in ((AT_LEAST, min), (AT_MOST, max)):
        if bound is not None:
            y = call.build.map(expr, y, call.tensor(bound))
    return y


@aten("clamp_min")
def clamp_min(call: Call, x: Tensor, min: Operand) -> Tensor:
    return clamp(call, x, min=min)


@aten("clamp_max")
def clamp_max(call: Call, x: Tensor, max: Operand) -> Tensor:
    return clamp(call, x, max=max)


@aten("lerp")
def lerp(call: Call, a: Tensor, b: Tensor, weight: Operand) -> Tensor:
    text = "where(abs(x2) < 0.5, x0 + x2 * (x1 - x0), x1 - (x1 - x0) * (1 - x2))"
    return call.scaled(text, a, b, weight)


@aten("addcmul", "addcdiv")
def add_product(call: Call, x: Tensor, a: Tensor, b: Tensor, *, value: float = 1) -> Tensor:
    sign = "*" if call.op == "addcmul" else "/"
    return call.build.formula(f"x0 + {literal(value)} * x1 {sign} x2", *call.tensors(x, a, b))


@aten("nan_to_num")
def nan_to_num(
    call: Call, x: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    if not is_float(x.element):
        return x
    largest = torch.finfo(TORCH_OF_ELEMENT[x.element]).max
    top, low = largest if posinf is None else posinf, -largest if neginf is None else neginf
    finite = f"where(x0 == inf, {literal(top)}, where(x0 == -inf, {literal(low)}, x0))"
    return call.build.map(f"where(x0 != x0, {literal(nan or 0.0)}, {finite})", x)


@aten("signbit")
def signbit(call: Call, x: Tensor) -> Tensor:
    if is_unsigned(x.element):
        return call.build.map("x0 != x0", x)
    return call.build.map(functions.signbit(x.element) if is_float(x.element) else "x0 < 0", x)


@aten("copysign")
def copysign(call: Call, a: Operand, b: Operand) -> Tensor:
    return call.build.map(functions.copysign(call.element), *call.tensors(a, b))
