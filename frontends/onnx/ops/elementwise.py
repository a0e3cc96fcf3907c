"""Elementwise operators: ONNX name -> scalar expression. ``{alpha}`` is an attribute, with its default beside it."""

from __future__ import annotations

import functools
from typing import Any

from mlc.dialects.types import bit_width, is_unsigned
from mlc.frontends.onnx.literals import literal
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.cast import computable
from mlc.frontends.onnx.tensors import Tensor

SIMPLE: dict[str, tuple[str, dict[str, Any]]] = {
    name: (expr, defaults)
    for name, expr, defaults in (
        ("Abs", "abs(x0)", {}),
        ("Acos", "acos(x0)", {}),
        ("Acosh", "acosh(x0)", {}),
        ("Asin", "asin(x0)", {}),
        ("Asinh", "asinh(x0)", {}),
        ("Atan", "atan(x0)", {}),
        ("Atanh", "atanh(x0)", {}),
        ("BitwiseAnd", "x0 & x1", {}),
        ("BitwiseNot", "not_(x0)", {}),
        ("BitwiseOr", "x0 | x1", {}),
        ("BitwiseXor", "x0 ^ x1", {}),
        ("Ceil", "ceil(x0)", {}),
        ("Celu", "max(x0, 0) + min(0, {alpha} * expm1(x0 / {alpha}))", {"alpha": 1.0}),
        ("Cos", "cos(x0)", {}),
        ("Cosh", "cosh(x0)", {}),
        ("Elu", "where(x0 >= 0, x0, {alpha} * expm1(x0))", {"alpha": 1.0}),
        ("Erf", "erf(x0)", {}),
        ("Exp", "exp(x0)", {}),
        ("Floor", "floor(x0)", {}),
        ("HardSigmoid", "max(0, min(1, {alpha} * x0 + {beta}))", {"alpha": 0.2, "beta": 0.5}),
        ("HardSwish", f"x0 * max(0, min(1, x0 * {1 / 6!r} + 0.5))", {}),
        ("IsNaN", "isnan(x0)", {}),
        ("LeakyRelu", "where(x0 >= 0, x0, {alpha} * x0)", {"alpha": 0.01}),
        ("Log", "log(x0)", {}),
        ("Mish", "x0 * tanh(softplus(x0))", {}),
        ("Neg", "-x0", {}),
        ("Not", "not_(x0)", {}),
        ("Reciprocal", "reciprocal(x0)", {}),
        ("Relu", "relu(x0)", {}),
        ("Round", "round(x0)", {}),
        (
            "Selu",
            "{gamma} * where(x0 > 0, x0, {alpha} * expm1(x0))",
            {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
        ),
        ("Sigmoid", "sigmoid(x0)", {}),
        ("Sign", "sign(x0)", {}),
        ("Sin", "sin(x0)", {}),
        ("Sinh", "sinh(x0)", {}),
        ("Softplus", "softplus(x0)", {}),
        ("Softsign", "x0 / (1 + abs(x0))", {}),
        ("Sqrt", "sqrt(x0)", {}),
        ("Swish", "x0 * sigmoid({alpha} * x0)", {"alpha": 1.0}),
        ("Tan", "tan(x0)", {}),
        ("Tanh", "tanh(x0)", {}),
        ("ThresholdedRelu", "where(x0 > {alpha}, x0, 0)", {"alpha": 1.0}),
    )
}
BINARY = {
    "Add": "x0 + x1",
    "And": "x0 & x1",
    "Div": "x0 / x1",
    "Equal": "x0 == x1",
    "Greater": "x0 > x1",
    "GreaterOrEqual": "x0 >= x1",
    "Less": "x0 < x1",
    "LessOrEqual": "x0 <= x1",
    "Mul": "x0 * x1",
    "Or": "x0 | x1",
    "Sub": "x0 - x1",
    "Xor": "x0 ^ x1",
}
GELU = "0.5 * x0 * (1 + erf(x0 * 0.7071067811865476))"
GELU_BY_TANH = "0.5 * x0 * (1 + tanh(0.7978845608028654 * (x0 + 0.044715 * x0 * x0 * x0)))"
VARIADIC = {"Max": "max(x0, x1)", "Min": "min(x0, x1)", "Sum": "x0 + x1"}


@onnx_op(*SIMPLE)
def simple(node: Node) -> Tensor:
    expr, defaults = SIMPLE[node.op]
    text = expr.format(**{name: literal(node.attr(name, value)) for name, value in defaults.items()})
    return node.build.formula(text, *node.tensors())


@onnx_op(*BINARY)
def binary(node: Node) -> Tensor:
    return node.build.map(BINARY[node.op], node[0], _aligned(node))


def _aligned(node: Node) -> Tensor:
    """The right operand; before opset 7 attribute ``axis`` says where its dimensions stand in the left one's."""
    lhs, rhs, axis = node[0], node[1], node.attr("axis", None)
    if node.opset >= 7 or axis is None:
        return rhs
    behind = lhs.rank - (axis % lhs.rank) - rhs.rank
    return node.build.reshape(rhs, (*rhs.shape, *[1] * behind))


@onnx_op(*VARIADIC)
def variadic(node: Node) -> Tensor:
    return functools.reduce(lambda a, b: node.build.map(VARIADIC[node.op], a, b), node.tensors())


@onnx_op("Mean")
def mean(node: Node) -> Tensor:
    total = functools.reduce(lambda a, b: node.build.map("x0 + x1", a, b), node.tensors())
    return node.build.map(f"x0 * {1 / len(node)!r}", total)


@onnx_op("Pow")
def power(node: Node) -> Tensor:
    base, exponent = node[0], _aligned(node)
    known = exponent.known if exponent.known is not None and exponent.known.size == 1 and exponent.rank == 0 else None
    special = {2.0: "x0 * x0", 3.0: "x0 * x0 * x0", 0.5: "sqrt(x0)", 1.0: "x0", -1.0: "1 / x0", -0.5: "rsqrt(x0)"}
    if known is not None and known.dtype != object and float(known) in special and base.element[0] in "fb":
        return node.build.formula(special[float(known)], base)
    if base.element == exponent.element or base.element[0] in "fb":
        return node.build.map("x0 ** x1", base, node.build.cast(exponent, base.element))
    wide = "f64" if "f64" in (base.element, exponent.element) or exponent.element[0] != "f" else "f32"
    if exponent.element[0] != "f":  # whole powers of whole numbers stay exact
        return node.build.map("x0 ** x1", base, node.build.cast(exponent, base.element))
    return node.build.cast(node.build.map(f"{wide}(x0) ** {wide}(x1)", base, exponent), base.element)


@onnx_op("Mod")
def modulo(node: Node) -> Tensor:
    return node.build.map("fmod(x0, x1)" if node.attr("fmod", 0) else "x0 % x1", node[0], node[1])


@onnx_op("BitShift")
def bit_shift(node: Node) -> Tensor:
    """By as many bits as there are or more, or a negative number, nothing stays but the sign (ONNX BitShift 28)."""
    most, signed = bit_width(node[0].element) - 1, not is_unsigned(node[0].element)
    left = node.attr("direction") == "LEFT"
    inside = f"(x1 >= 0) & (x1 <= {most})" if signed else f"x1 <= {most}"
    shifted = f"x0 {'<<' if left else '>>'} (x1 & {most})"
    gone = f"x0 >> {most}" if signed and not left else "0"
    return node.build.map(f"where({inside}, {shifted}, {gone})", node[0], node[1])


@onnx_op("PRelu")
def prelu(node: Node) -> Tensor:
    x, slope = node[0], node[1]
    if node.opset < 7 and slope.rank == 1 and slope.shape != (1,):
        slope = node.build.reshape(slope, (*slope.shape, *[1] * (x.rank - 2)))
    return node.build.formula("where(x0 < 0, x1 * x0, x0)", x, slope)


@onnx_op("Shrink")
def shrink(node: Node) -> Tensor:
    """In the type of the input; bias and threshold are floats for whole numbers too (ONNX Shrink 9)."""
    x, threshold, bias = node[0], literal(node.attr("lambd", 0.5)), literal(node.attr("bias", 0.0))
    real = x if x.element[0] in "fb" else node.build.cast(x, "f64")
    text = f"where(x0 < -{threshold}, x0 + {bias}, where(x0 > {threshold}, x0 - {bias}, x0 - x0))"
    return node.build.cast(node.build.formula(text, real), x.element)


@onnx_op("Gelu")
def gelu(node: Node) -> Tensor:
    return node.build.formula(GELU_BY_TANH if node.attr("approximate", "none") == "tanh" else GELU, node[0])


@onnx_op("IsInf")
def is_inf(node: Node) -> Tensor:
    signs = node.attr("detect_positive", 1), node.attr("detect_negative", 1)
    expr = {(1, 1): "isinf(x0)", (1, 0): "x0 == inf", (0, 1): "x0 == -inf", (0, 0): "(x0 == inf) & (x0 == -inf)"}[signs]
    return node.build.map(expr, computable(node.build, node[0]))


@onnx_op("Where")
def where(node: Node) -> Tensor:
    return node.build.map("where(x0, x1, x2)", node[0], node[1], node[2])


@onnx_op("Clip")
def clip(node: Node) -> Tensor:
    low, high = node.attr("min", None), node.attr("max", None)
    x = node[0] if low is None else node.build.map(f"max(x0, {literal(low)})", node[0])
    return x if high is None else node.build.map(f"min(x0, {literal(high)})", x)


@onnx_op("Clip", since=11)
def clip_11(node: Node) -> Tensor:
    x, low, high = node[0], node.get(1), node.get(2)
    if low is not None and high is not None:
        return node.build.map("clip(x0, x1, x2)", x, low, high)
    x = x if low is None else node.build.map("max(x0, x1)", x, low)
    return x if high is None else node.build.map("min(x0, x1)", x, high)
