"""Activations: scalar expressions of ``frontends/build``, with torch's parameters."""

from __future__ import annotations

from functools import partial

from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.activations import activation
from mlc.frontends.build.ops.random.distributions import uniform
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import REGISTRY, Call, aten

PLAIN = {
    "hardsigmoid": activation("hardsigmoid", alpha=1 / 6),
    "hardswish": activation("hardswish"),
    "log_sigmoid": "-softplus(-x0)",
    "mish": activation("mish"),
    "relu6": "clip(x0, 0, 6)",
    "selu": activation("selu"),
    "silu": activation("swish"),
}
LEAKY = "where(x0 > 0, x0, {} * x0)"
"""At 0 torch's derivative is the slope; ``build``'s, which is that of ``mlc.nn``, is 1."""


def _plain(expr: str, call: Call, x: Tensor) -> Tensor:
    return call.build.formula(expr, x)


REGISTRY.update({name: partial(_plain, text) for name, text in PLAIN.items()})


@aten("log_sigmoid_forward")
def log_sigmoid_forward(call: Call, x: Tensor) -> tuple[Tensor, Tensor]:
    """Also exp(-|x|), which its derivative reads."""
    return _plain(PLAIN["log_sigmoid"], call, x), call.build.map("exp(-abs(x0))", x)


@aten("gelu")
def gelu(call: Call, x: Tensor, approximate: str = "none") -> Tensor:
    return call.build.formula(activation("gelu_tanh" if approximate == "tanh" else "gelu"), x)


@aten("elu")
def elu(call: Call, x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    text = f"{literal(scale)} * where(x0 > 0, x0, {literal(alpha)} * expm1(x0 * {literal(input_scale)}))"
    return call.build.formula(text, x)


@aten("celu")
def celu(call: Call, x: Tensor, alpha: float = 1.0) -> Tensor:
    return call.build.formula(activation("celu", alpha=float(alpha)), x)


@aten("leaky_relu")
def leaky_relu(call: Call, x: Tensor, negative_slope: float = 0.01) -> Tensor:
    return call.build.formula(LEAKY.format(literal(negative_slope)), x)


@aten("prelu", "_prelu_kernel")
def prelu(call: Call, x: Tensor, weight: Tensor) -> Tensor:
    if weight.rank == 1 and x.rank > 1 and call.op == "prelu":
        weight = call.build.reshape(weight, (*weight.shape, *[1] * (x.rank - 2)))
    return call.build.formula("where(x0 > 0, x0, x1 * x0)", x, weight)


@aten("rrelu_with_noise_functional", "rrelu_with_noise")
def randomized_relu(
    call: Call, x: Tensor, noise: Tensor, lower: float = 0.125, upper: float = 1 / 3, training: bool = False, *_: object
) -> tuple[Tensor, Tensor]:
    """Slopes of negative elements between two; in evaluation their mean. Also the slope of each element."""
    build = call.build
    if not training:
        return build.formula(LEAKY.format(literal((lower + upper) / 2)), x), noise
    drawn = uniform(build, x.shape, x.element)
    slopes = build.map(f"where(x0 <= 0, {literal(lower)} + {literal(upper - lower)} * x1, 1)", x, drawn)
    return build.map("x0 * x1", x, slopes), slopes


@aten("softplus")
def softplus(call: Call, x: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    if beta == 1:
        return call.build.formula(f"where(x0 > {literal(threshold)}, x0, softplus(x0))", x)
    scaled = f"(x0 * {literal(beta)})"
    text = f"where({scaled} > {literal(threshold)}, x0, softplus({scaled}) / {literal(beta)})"
    return call.build.formula(text, x)


@aten("threshold")
def threshold(call: Call, x: Tensor, threshold: float, value: float) -> Tensor:
    return call.build.map(f"where(x0 <= {literal(threshold)}, {literal(value)}, x0)", x)


@aten("hardtanh")
def hardtanh(call: Call, x: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    low, high = (min_val, max_val) if call.is_real() else (int(min_val), int(max_val))
    return call.build.map(f"clip(x0, {literal(low)}, {literal(high)})", x)


@aten("softshrink", "hardshrink")
def shrink(call: Call, x: Tensor, lambd: float = 0.5) -> Tensor:
    at = literal(lambd)
    if call.op == "hardshrink":
        return call.build.map(f"where(abs(x0) <= {at}, 0, x0)", x)
    return call.build.map(f"where(x0 < -{at}, x0 + {at}, where(x0 > {at}, x0 - {at}, 0))", x)


@aten("glu")
def glu(call: Call, x: Tensor, dim: int = -1) -> Tensor:
    axis = dim % x.rank
    half = x.shape[axis] // 2
    a, b = (call.build.cut(x, axis, start, half) for start in (0, half))
    return call.build.formula("x0 * sigmoid(x1)", a, b)
