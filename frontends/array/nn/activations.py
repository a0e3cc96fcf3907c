"""Activations: elementwise functions of neural networks, softmax and its logarithm."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions import reductions
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, operands
from mlc.frontends.array.functions.elementwise import where as select
from mlc.frontends.array.functions.shaping import moveaxis
from mlc.frontends.array.transforms.custom import stop_gradient
from mlc.frontends.build.ops.activations import activation


def float_array(x: Any) -> Array:
    """The array, in the default float type where it is one of integers."""
    return operands(x, lowest=2)[0]


def _activation(name: str, function: str, *parameters: str, **fixed: float) -> Callable[..., Array]:
    def apply(x: Any, /, *values: float, **named: float) -> Array:
        given = fixed | dict(zip(parameters, values, strict=False)) | named
        return apply_map(activation(name, **given), float_array(x))

    apply.__name__ = apply.__qualname__ = function
    takes = ", with " + ", ".join(parameters) if parameters else ""
    apply.__doc__ = f"``{activation(name, **fixed)}`` of each element{takes}."
    return apply


_relu = _activation("relu", "relu")
leaky_relu = _activation("leakyrelu", "leaky_relu", "alpha")
elu = _activation("elu", "elu", "alpha")
celu = _activation("celu", "celu", "alpha")
selu = _activation("selu", "selu", alpha=1.6732632423543772, gamma=1.0507009873554805)  # ONNX has these as float32
sigmoid = _activation("sigmoid", "sigmoid")
hard_sigmoid = _activation("hardsigmoid", "hard_sigmoid", "alpha", "beta", alpha=1 / 6)  # ONNX has 0.2
hard_swish = _activation("hardswish", "hard_swish")
silu = _activation("swish", "silu", "alpha")
mish = _activation("mish", "mish")
softplus = _activation("softplus", "softplus")
softsign = _activation("softsign", "softsign")
tanh = _activation("tanh", "tanh")


def relu(x: Any, /) -> Array:
    """``max(x, 0)``; integers stay integers."""
    given = as_array(x)
    return apply_map("max(x0, 0)", given) if dtypes.kind(given.element) == 1 else _relu(given)


def gelu(x: Any, /, *, approximate: bool = False) -> Array:
    """``x`` times the normal distribution function of it (Hendrycks and Gimpel, 2016); ``approximate``: by tanh."""
    return apply_map(activation("gelu_tanh" if approximate else "gelu"), float_array(x))


def glu(x: Any, /, axis: int = -1) -> Array:
    """Gated linear unit: the first half along an axis times the sigmoid of the second (Dauphin et al., 2016)."""
    moved = moveaxis(float_array(x), axis, -1)
    half = moved.shape[-1] // 2
    gated = FUNCTIONS["multiply"](moved[..., :half], sigmoid(moved[..., half:]))
    return moveaxis(gated, -1, axis)


def _top(x: Array, axis: int | tuple[int, ...] | None) -> Array:
    """The maximum, which is subtracted only to avoid overflow: the derivative does not depend on it."""
    least = -math.inf if any(x.shape[a] == 0 for a in reductions.axes_of(x, axis)) else None
    return stop_gradient(reductions.max(x, axis=axis, keepdims=True, initial=least))


def _finite(x: Array) -> Array:
    """``x`` with 0 in place of infinities and NaN. An infinity subtracted from one of its own sign would give NaN."""
    return apply_map("where(abs(x0) < inf, x0, 0)", x)


def logsumexp(
    x: Any, /, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False, where: Any = None
) -> Array:
    """The logarithm of the sum of exponentials, without overflow; -inf of a row of -inf, inf of one with inf. Only of
    the elements ``where`` a mask holds."""
    given = _masked(float_array(x), where)
    top = _finite(_top(given, axis))
    total = reductions.sum(apply_map("exp(x0 - x1)", given, top), axis=axis, keepdims=True)
    found = apply_map("x0 + log(x1)", top, total)
    return found if keepdims else reductions.sum(found, axis=axis)


def _masked(x: Array, mask: Any) -> Array:
    """``x`` with -infinity where a mask does not hold."""
    return x if mask is None else select(mask, x, -math.inf)


def softmax(x: Any, /, axis: int | tuple[int, ...] | None = -1, *, where: Any = None) -> Array:
    """exp(x) over its sum along an axis; of the elements ``where`` a mask holds, and 0 of others."""
    given = _masked(float_array(x), where)
    top = _top(given, axis) if where is None else _finite(_top(given, axis))
    exponents = apply_map("exp(x0 - x1)", given, top)
    found = apply_map("x0 * (1 / x1)", exponents, reductions.sum(exponents, axis=axis, keepdims=True))
    return found if where is None else select(where, found, 0.0)


def log_softmax(x: Any, /, axis: int | tuple[int, ...] | None = -1, *, where: Any = None) -> Array:
    """The logarithm of softmax: x - log(sum of exp(x)); -infinity of elements that the mask ``where`` leaves out."""
    given = _masked(float_array(x), where)
    shifted = apply_map("x0 - x1", given, _top(given, axis) if where is None else _finite(_top(given, axis)))
    total = reductions.sum(apply_map("exp(x0)", shifted), axis=axis, keepdims=True)
    return _masked(apply_map("x0 - log(x1)", shifted, total), where)


PUBLIC = (
    *("relu", "leaky_relu", "elu", "celu", "selu", "sigmoid", "hard_sigmoid", "hard_swish", "silu", "mish", "softplus"),
    *("softsign", "tanh", "gelu", "glu", "logsumexp", "softmax", "log_softmax"),
)
