"""Activations: scalar expressions of x0, whose ``{alpha}`` and ``{beta}`` are parameters with their defaults."""

from __future__ import annotations

from mlc.frontends.build.folding.literals import literal

ACTIVATIONS: dict[str, tuple[str, dict[str, float]]] = {
    "affine": ("{alpha} * x0 + {beta}", {"alpha": 1.0, "beta": 0.0}),
    "celu": ("where(x0 > 0, x0, {alpha} * expm1(x0 / {alpha}))", {"alpha": 1.0}),
    "elu": ("where(x0 >= 0, x0, {alpha} * expm1(x0))", {"alpha": 1.0}),
    "gelu": ("0.5 * x0 * (1 + erf(x0 * 0.7071067811865476))", {}),
    "gelu_tanh": ("0.5 * x0 * (1 + tanh(0.7978845608028654 * (x0 + 0.044715 * x0 * x0 * x0)))", {}),
    "hardsigmoid": ("max(0, min(1, {alpha} * x0 + {beta}))", {"alpha": 0.2, "beta": 0.5}),
    "hardswish": (f"x0 * max(0, min(1, x0 * {1 / 6!r} + 0.5))", {}),
    "leakyrelu": ("where(x0 >= 0, x0, {alpha} * x0)", {"alpha": 0.01}),
    "mish": ("x0 * tanh(softplus(x0))", {}),
    "parametricsoftplus": ("{alpha} * softplus({beta} * x0)", {"alpha": 1.0, "beta": 1.0}),
    "relu": ("relu(x0)", {}),
    "scaledtanh": ("{alpha} * tanh({beta} * x0)", {"alpha": 1.0, "beta": 1.0}),
    "selu": (
        "{gamma} * where(x0 > 0, x0, {alpha} * expm1(x0))",
        {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
    ),
    "sigmoid": ("sigmoid(x0)", {}),
    "softplus": ("softplus(x0)", {}),
    "softsign": ("x0 / (1 + abs(x0))", {}),
    "swish": ("x0 * sigmoid({alpha} * x0)", {"alpha": 1.0}),
    "tanh": ("tanh(x0)", {}),
    "thresholdedrelu": ("where(x0 > {alpha}, x0, 0)", {"alpha": 1.0}),
}


def activation(name: str, **parameters: float) -> str:
    """The expression of an activation; parameters that are not given have their defaults."""
    text, defaults = ACTIVATIONS[name]
    return text.format(**{key: literal(value) for key, value in (defaults | parameters).items()})


def activation_defaults(name: str) -> dict[str, float]:
    """The parameters of an activation, with their defaults."""
    return ACTIVATIONS[name][1]
