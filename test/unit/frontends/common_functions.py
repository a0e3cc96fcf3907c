"""Functions that more than one frontend reaches: the name in each, and what they compute, in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
INF, NAN = math.inf, math.nan
EDGES = [0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 0.5, -0.5, 2.5, -2.5, 3.0, -7.5, 20.0, -30.0, 1e-30, 1e30, INF, -INF, NAN]
_erf = np.vectorize(math.erf, otypes=[np.float64])


@dataclass(frozen=True)
class Row:
    """``arrays`` is a name of mlc.numpy, or of mlc.nn; ``torch`` of torch or its functional module; ``onnx`` a type."""

    reference: Callable[..., Array]
    arrays: str
    torch: str | None = None
    onnx: str | None = None
    inputs: int = 1


def _sigmoid(x: Array) -> Array:
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def _softplus(x: Array) -> Array:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


UNARY: dict[str, Callable[[Array], Array]] = {
    **{name: getattr(np, name) for name in (
        "abs", "ceil", "cos", "cosh", "exp", "expm1", "floor", "log", "log10", "log1p", "log2", "reciprocal", "sign",
        "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc", "isnan", "isinf", "signbit",
    )},
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "round": np.rint, "neg": np.negative, "erf": _erf, "exp2": np.exp2, "positive": np.positive,
    "sigmoid": _sigmoid, "relu": lambda x: np.maximum(x, 0), "softplus": _softplus,
    "logsigmoid": lambda x: -_softplus(-x), "softsign": lambda x: np.where(np.isinf(x), NAN, x / (1 + np.abs(x))),
    "hardsigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1), "relu6": lambda x: np.clip(x, 0, 6),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), "silu": lambda x: x * _sigmoid(x),
}  # fmt: skip
BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "maximum": np.maximum,
    "minimum": np.minimum, "atan2": np.arctan2, "hypot": np.hypot, "logaddexp": np.logaddexp, "pow": np.power,
    "copysign": np.copysign, "fmod": np.fmod, "remainder": np.mod, "fmax": np.fmax, "fmin": np.fmin,
}  # fmt: skip
ARRAYS = {
    "neg": "negative", "sub": "subtract", "mul": "multiply", "div": "divide", "hardsigmoid": "hard_sigmoid",
    "logsigmoid": "log_sigmoid", "softsign": "soft_sign",
}  # fmt: skip
TORCH = {"logsigmoid": "logsigmoid"}
ONNX = {
    **{name: name.capitalize() for name in (
        "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "elu", "erf", "exp", "floor",
        "log", "neg", "reciprocal", "relu", "round", "sigmoid", "sign", "sin", "sinh", "softplus", "softsign", "sqrt",
        "tan", "tanh", "add", "sub", "mul", "div", "pow",
    )},
    "isnan": "IsNaN", "isinf": "IsInf", "maximum": "Max", "minimum": "Min", "remainder": "Mod",
}  # fmt: skip
KINKS = frozenset(("ceil", "floor", "round", "sign", "trunc", "isnan", "isinf", "signbit", "remainder", "fmod"))
"""Functions whose derivative is 0, undefined, or jumps within the points at which slopes are taken."""
ROWS = {
    name: Row(f, ARRAYS.get(name, name), TORCH.get(name, name), ONNX.get(name), 1 if name in UNARY else 2)
    for name, f in (UNARY | BINARY).items()
}


def edges(row: Row) -> list[Array]:
    """Each edge, or each pair of them, in f32."""
    if row.inputs == 1:
        return [np.float32(EDGES)]
    return [np.float32(x).ravel() for x in np.meshgrid(EDGES, EDGES)]


def expected(row: Row, given: list[Array]) -> Array:
    """The reference of these numbers in float64, rounded as the frontends' results are."""
    with np.errstate(all="ignore"):
        y = row.reference(*(x.astype(np.float64) for x in given))
        return y if y.dtype == bool else y.astype(np.float32)


def agrees(found: Array, right: Array, what: str) -> None:
    """Equal where special, else within some roundings; tangents, and remainders of far quotients, amplify those."""
    np.testing.assert_allclose(found, right, rtol=4e-6, atol=1e-37, err_msg=what)
