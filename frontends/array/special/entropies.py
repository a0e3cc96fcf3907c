"""Logarithms with their edge cases, entropies and logistic functions. Names of ``scipy.special``."""

from __future__ import annotations

import math
from typing import Any

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions import reductions
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, operands
from mlc.frontends.array.functions.elementwise import where as select
from mlc.frontends.array.functions.reductions import Axis
from mlc.frontends.array.nn import activations
from mlc.frontends.array.transforms.custom import custom_jvp, stop_gradient
from mlc.frontends.build.ops.functions import XLOGY


def xlogy(x: Any, y: Any) -> Array:
    """``x ln y``, and 0 where ``x`` is 0 and ``y`` a number."""
    return apply_map(XLOGY, *operands(x, y, lowest=2))


def xlog1py(x: Any, y: Any) -> Array:
    """``x ln(1 + y)``, and 0 where ``x`` is 0 and ``y`` a number."""
    inner = "where((x0 == 0) & ((x1 <= -1) | (x1 == inf)), 0, x0 * log1p(x1))"
    return apply_map(f"where(x1 != x1, x1, {inner})", *operands(x, y, lowest=2))


def entr(x: Any) -> Array:
    """``-x ln x``: 0 at 0, -infinity of negative numbers. Its derivative at 0 is infinite, as PyTorch's."""
    found: Array = _entropy(*operands(x, lowest=2))
    return found


@custom_jvp
def _entropy(x: Array) -> Array:
    return apply_map("where(x0 < 0, -inf, where(x0 == 0, 0, -x0 * log(x0)))", x)


@_entropy.defjvp
def _entropy_along(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    slope = apply_map("where(x0 == 0, inf, -log(x0) - 1)", primals[0])
    return _entropy(primals[0]), tangents[0] * slope


def rel_entr(x: Any, y: Any) -> Array:
    """``x ln(x / y)``: 0 at x = 0, infinite where one is negative or ``y`` is 0."""
    inner = "where((x0 > 0) & (x1 > 0), x0 * log(x0 / x1), where((x0 == 0) & (x1 >= 0), 0, inf))"
    return apply_map(f"where((x0 != x0) | (x1 != x1), x0 + x1, {inner})", *operands(x, y, lowest=2))


def kl_div(x: Any, y: Any) -> Array:
    """``x ln(x / y) - x + y``, with the edges of ``rel_entr``."""
    inner = "where((x0 > 0) & (x1 > 0), x0 * log(x0 / x1) - x0 + x1, where((x0 == 0) & (x1 >= 0), x1 - x0, inf))"
    return apply_map(f"where((x0 != x0) | (x1 != x1), x0 + x1, {inner})", *operands(x, y, lowest=2))


def expit(x: Any) -> Array:
    """``1 / (1 + exp(-x))``."""
    return FUNCTIONS["sigmoid"](*operands(x, lowest=2))


def logit(p: Any) -> Array:
    """``ln(p / (1 - p))``, the inverse of ``expit``: infinite at 0 and 1, NaN beyond."""
    return apply_map("log(x0) - log1p(-x0)", *operands(p, lowest=2))


def boxcox(x: Any, lmbda: Any) -> Array:
    """``(x^λ - 1) / λ``, and ln x where λ is 0."""
    given, power = operands(x, lmbda, lowest=2)
    safe = select(power == 0, 1.0, power)
    return select(power == 0, FUNCTIONS["log"](given), FUNCTIONS["expm1"](safe * FUNCTIONS["log"](given)) / safe)


def boxcox1p(x: Any, lmbda: Any) -> Array:
    """``boxcox(1 + x, λ)``."""
    given, power = operands(x, lmbda, lowest=2)
    safe, logarithm = select(power == 0, 1.0, power), FUNCTIONS["log1p"](given)
    return select(power == 0, logarithm, FUNCTIONS["expm1"](safe * logarithm) / safe)


def logsumexp(
    a: Any, axis: Axis = None, b: Any = None, keepdims: bool = False, return_sign: bool = False, where: Any = None
) -> Array | tuple[Array, Array]:
    """``ln |Σ b exp(a)|`` without overflow; with ``return_sign`` also the sign. Without it a negative sum is NaN.
    Of the elements ``where`` a mask holds."""
    if b is None and not return_sign:
        return activations.logsumexp(a, axis, keepdims=keepdims, where=where)
    given, weights = operands(a, 1.0 if b is None else b, lowest=2)
    weights = weights if where is None else select(where, weights, 0.0)
    used = select(weights == 0, -math.inf, given)
    top = stop_gradient(reductions.max(used, axis=axis, keepdims=True))
    top = select(FUNCTIONS["abs"](top) < math.inf, top, 0.0)
    total = reductions.sum(weights * FUNCTIONS["exp"](used - top), axis=axis, keepdims=True)
    sign = FUNCTIONS["sign"](total)
    size = total if not return_sign else FUNCTIONS["abs"](total)
    found = FUNCTIONS["log"](size) + top
    if not keepdims:
        found, sign = (reductions.sum(x, axis=axis) for x in (found, sign))
    return (found, sign) if return_sign else found


def softmax(x: Any, axis: Axis = None) -> Array:
    """exp(x) over its sum along an axis; of all elements for None."""
    (given,) = operands(x, lowest=2)
    return FUNCTIONS["exp"](given - activations.logsumexp(given, axis, keepdims=True))


def log_softmax(x: Any, axis: Axis = None) -> Array:
    """The logarithm of ``softmax``."""
    (given,) = operands(x, lowest=2)
    return given - activations.logsumexp(given, axis, keepdims=True)


PUBLIC = ("xlogy", "xlog1py", "entr", "rel_entr", "kl_div", "expit", "logit", "boxcox", "boxcox1p", "logsumexp") + (
    "softmax", "log_softmax",
)  # fmt: skip
