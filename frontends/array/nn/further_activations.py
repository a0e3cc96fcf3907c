"""Activations that ``jax.nn`` has beside the usual ones, and its names for these."""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions import reductions
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, where
from mlc.frontends.array.functions.reductions import Axis, axes_of
from mlc.frontends.array.further import spreads
from mlc.frontends.array.nn.activations import float_array, hard_swish, logsumexp, silu, softplus, softsign

swish, hard_silu, soft_sign = silu, hard_swish, softsign


def identity(x: Any, /) -> Array:
    """``x``."""
    return as_array(x)


def relu6(x: Any, /) -> Array:
    """``min(max(x, 0), 6)``."""
    return apply_map("min(max(x0, 0), 6)", float_array(x))


def hard_tanh(x: Any, /) -> Array:
    """``min(max(x, -1), 1)``."""
    return apply_map("min(max(x0, -1), 1)", float_array(x))


def log_sigmoid(x: Any, /) -> Array:
    """The logarithm of the sigmoid."""
    return FUNCTIONS["negative"](softplus(FUNCTIONS["negative"](float_array(x))))


def squareplus(x: Any, /, b: float = 4.0) -> Array:
    """``(x + sqrt(x^2 + b)) / 2``."""
    given = float_array(x)
    return (given + FUNCTIONS["sqrt"](given * given + b)) / 2


def sparse_plus(x: Any, /) -> Array:
    """0 up to -1, ``x`` from 1 on, ``(x + 1)^2 / 4`` between."""
    given = float_array(x)
    return where(given <= -1, 0.0, where(given >= 1, given, (given + 1) ** 2 / 4))


def sparse_sigmoid(x: Any, /) -> Array:
    """0 up to -1, 1 from 1 on, ``(x + 1) / 2`` between: the derivative of ``sparse_plus``."""
    return apply_map("0.5 * (min(max(x0, -1), 1) + 1)", float_array(x))


def log1mexp(x: Any, /) -> Array:
    """``ln(1 - exp(-x))`` of positive numbers, without cancellation (Mächler, 2012); -infinity at 0, NaN below."""
    near = "where(x0 < 0.6931471805599453, x0, 0.5)"
    return apply_map(f"where(x0 < 0.6931471805599453, log(-expm1(-{near})), log1p(-exp(-x0)))", float_array(x))


def logmeanexp(x: Any, /, axis: Axis = None, *, keepdims: bool = False, where: Any = None) -> Array:
    """The logarithm of the mean of exponentials along ``axis``, of the elements ``where`` a mask holds."""
    given = float_array(x)
    axes = axes_of(given, axis)
    count: Any = 1.0
    for a in axes:
        count = count * given.shape[a]
    count = count if where is None else reductions.counted(given, axes, keepdims, where)
    total = logsumexp(given, axis=axes, keepdims=keepdims, where=where)
    return total - FUNCTIONS["log"](as_array(count, given.element))


def standardize(
    x: Any,
    /,
    axis: Axis = -1,
    epsilon: float = 1e-5,
    *,
    mean: Any = None,
    variance: Any = None,
    where: Any = None,
) -> Array:
    """``x`` with mean 0 and variance 1 along ``axis``, whose variance is enlarged by ``epsilon``. Both are those of the
    elements ``where`` a mask holds, or given, of the shape with ``keepdims``."""
    given = float_array(x)
    middle = reductions.mean(given, axis, keepdims=True, where=where) if mean is None else mean
    spread = spreads.var(given, axis, keepdims=True, where=where) if variance is None else variance
    return (given - middle) / FUNCTIONS["sqrt"](spread + epsilon)


PUBLIC = (
    *("identity", "relu6", "hard_tanh", "log_sigmoid", "squareplus", "sparse_plus", "logmeanexp", "standardize"),
    *("sparse_sigmoid", "log1mexp"),
    *("swish", "hard_silu", "soft_sign"),
)
