"""Elementwise operators: ONNX name -> scalar expression."""

from __future__ import annotations

import functools

from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops import elementwise
from mlc.frontends.build.ops.activations import activation, activation_defaults
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op

SIMPLE = {
    "Abs": "abs(x0)",
    "Acos": "acos(x0)",
    "Acosh": "acosh(x0)",
    "Asin": "asin(x0)",
    "Asinh": "asinh(x0)",
    "Atan": "atan(x0)",
    "Atanh": "atanh(x0)",
    "BitwiseAnd": "x0 & x1",
    "BitwiseNot": "not_(x0)",
    "BitwiseOr": "x0 | x1",
    "BitwiseXor": "x0 ^ x1",
    "Ceil": "ceil(x0)",
    "Cos": "cos(x0)",
    "Cosh": "cosh(x0)",
    "Erf": "erf(x0)",
    "Exp": "exp(x0)",
    "Floor": "floor(x0)",
    "IsNaN": "isnan(x0)",
    "Log": "log(x0)",
    "Neg": "-x0",
    "Not": "not_(x0)",
    "Reciprocal": "reciprocal(x0)",
    "Round": "round(x0)",
    "Sign": "sign(x0)",
    "Sin": "sin(x0)",
    "Sinh": "sinh(x0)",
    "Sqrt": "sqrt(x0)",
    "Tan": "tan(x0)",
}
ACTIVATIONS = (
    "Celu", "Elu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Relu", "Selu", "Sigmoid", "Softplus", "Softsign",
    "Swish", "Tanh", "ThresholdedRelu",
)  # fmt: skip
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
VARIADIC = {"Max": "max(x0, x1)", "Min": "min(x0, x1)", "Sum": "x0 + x1"}


@onnx_op(*SIMPLE)
def simple(node: Node) -> Tensor:
    return node.build.formula(SIMPLE[node.op], *node.tensors())


@onnx_op(*ACTIVATIONS)
def activations(node: Node) -> Tensor:
    """Attributes of the node are parameters of the activation."""
    name = node.op.lower()
    parameters = {key: node.attr(key, value) for key, value in activation_defaults(name).items()}
    return node.build.formula(activation(name, **parameters), *node.tensors())


@onnx_op(*BINARY)
def binary(node: Node) -> Tensor:
    return node.build.map(BINARY[node.op], node[0], _aligned(node))


def _aligned(node: Node) -> Tensor:
    """The right operand, aligned to the left one: before opset 7, attribute ``axis`` names the dimension at which it
    begins.
    """
    lhs, rhs, axis = node[0], node[1], node.attr("axis", None)
    if node.opset >= 7 or axis is None:
        return rhs
    after = lhs.rank - (axis % lhs.rank) - rhs.rank
    return node.build.reshape(rhs, (*rhs.shape, *[1] * after))


@onnx_op(*VARIADIC)
def variadic(node: Node) -> Tensor:
    return functools.reduce(lambda a, b: node.build.map(VARIADIC[node.op], a, b), node.tensors())


@onnx_op("Mean")
def mean(node: Node) -> Tensor:
    total = functools.reduce(lambda a, b: node.build.map("x0 + x1", a, b), node.tensors())
    return node.build.map(f"x0 * {1 / len(node)!r}", total)


@onnx_op("Pow")
def power(node: Node) -> Tensor:
    return elementwise.power(node.build, node[0], _aligned(node))


@onnx_op("Mod")
def modulo(node: Node) -> Tensor:
    return node.build.map("fmod(x0, x1)" if node.attr("fmod", 0) else "x0 % x1", node[0], node[1])


@onnx_op("BitShift")
def bit_shift(node: Node) -> Tensor:
    return elementwise.bit_shift(node.build, node[0], node[1], node.attr("direction") == "LEFT")


@onnx_op("PRelu")
def prelu(node: Node) -> Tensor:
    x, slope = node[0], node[1]
    if node.opset < 7 and slope.rank == 1 and slope.shape != (1,):
        slope = node.build.reshape(slope, (*slope.shape, *[1] * (x.rank - 2)))
    return node.build.formula("where(x0 < 0, x1 * x0, x0)", x, slope)


@onnx_op("Shrink")
def shrink(node: Node) -> Tensor:
    return elementwise.shrink(node.build, node[0], node.attr("lambd", 0.5), node.attr("bias", 0.0))


@onnx_op("Gelu")
def gelu(node: Node) -> Tensor:
    return node.build.formula(
        activation("gelu_tanh" if node.attr("approximate", "none") == "tanh" else "gelu"), node[0]
    )


@onnx_op("IsInf")
def is_inf(node: Node) -> Tensor:
    signs = (bool(node.attr(f"detect_{sign}", 1)) for sign in ("positive", "negative"))
    return elementwise.is_inf(node.build, node[0], *signs)


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
    return elementwise.clip(node.build, node[0], node.get(1), node.get(2))
