"""Losses, which training minimizes. Each takes the mean over all samples unless ``reduction`` says otherwise.

Source: the formulas of torch.nn.functional.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions import reductions
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, operands
from mlc.frontends.array.nn.activations import float_array, log_softmax
from mlc.frontends.array.nn.attention import one_hot
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.functions import PROBABLE

Loss = Callable[..., Array]


def reduced(losses: Array, reduction: str) -> Array:
    """The mean, the sum, or the losses themselves (``"none"``).

    Raises:
        InputError: another reduction.
    """
    found = {"mean": reductions.mean, "sum": reductions.sum, "none": lambda x: x}.get(reduction)
    if found is None:
        raise InputError(f"There is no reduction '{reduction}'", hint="Use 'mean', 'sum' or 'none'")
    return found(losses)


def alike(name: str, prediction: Any, *others: Any) -> Sequence[Array]:
    """Operands as floats of one rank, or as numbers.

    Raises:
        InputError: another rank: a prediction [N, 1] and a target [N] would broadcast to [N, N].
    """
    given = operands(prediction, *others, lowest=2)
    if len({len(x.shape) for x in given} - {0}) > 1:
        shapes = " and ".join(str(x.shape) for x in given)
        raise InputError(
            f"{name} cannot take arrays of shapes {shapes}", hint="Give arrays of one rank: x[:, 0] or reshape"
        )
    return given


def elementwise(name: str, expr: str, doc: str, **parameters: float) -> Loss:
    """A loss function from an expression of a prediction x0 and a target x1, in which ``{delta}`` is a parameter."""

    def loss(prediction: Any, target: Any, /, *, reduction: str = "mean", **given: float) -> Array:
        if unknown := given.keys() - parameters:
            raise TypeError(f"{name} has no parameter {', '.join(unknown)}")
        values = {key: literal(value) for key, value in (parameters | given).items()}
        return reduced(apply_map(expr.format(**values), *alike(name, prediction, target)), reduction)

    loss.__name__ = loss.__qualname__ = name
    loss.__doc__ = f"{doc} of a prediction x0 and a target x1: ``{expr}``."
    return loss


mse_loss = elementwise("mse_loss", "square(x0 - x1)", "Squared error")
l1_loss = elementwise("l1_loss", "abs(x0 - x1)", "Absolute error")
huber_loss = elementwise(
    "huber_loss",
    "where(abs(x0 - x1) < {delta}, 0.5 * square(x0 - x1), {delta} * (abs(x0 - x1) - 0.5 * {delta}))",
    "Huber loss",
    delta=1.0,
)
smooth_l1_loss = elementwise(
    "smooth_l1_loss",
    "where(abs(x0 - x1) < {beta}, 0.5 * square(x0 - x1) / {beta}, abs(x0 - x1) - 0.5 * {beta})",
    "Smooth absolute error",
    beta=1.0,
)
log_cosh_loss = elementwise(
    "log_cosh_loss", "abs(x0 - x1) + log1p(exp(-2 * abs(x0 - x1))) - 0.6931471805599453", "ln cosh"
)
binary_cross_entropy = elementwise(
    "binary_cross_entropy",
    "0 - x1 * max(log(x0), -100) - (1 - x1) * max(log(1 - x0), -100)",
    "Cross entropy of a probability, whose logarithms are at least -100 (torch),",
)
binary_cross_entropy_with_logits = elementwise(
    "binary_cross_entropy_with_logits", "softplus(x0) - x0 * x1", "Cross entropy of a logit"
)
hinge_loss = elementwise("hinge_loss", "max(0, 1 - x0 * x1)", "Hinge loss, of targets 1 and -1,")
soft_margin_loss = elementwise("soft_margin_loss", "softplus(-(x0 * x1))", "Logistic loss, of targets 1 and -1,")
poisson_nll_loss = elementwise("poisson_nll_loss", "exp(x0) - x1 * x0", "Poisson likelihood of a logarithmic rate")
kl_div = elementwise(
    "kl_div", "where(x1 > 0, x1 * (log(max(x1, 1e-30)) - x0), 0)", "Kullback–Leibler divergence of log-probabilities"
)


def gaussian_nll_loss(
    mean: Any, target: Any, variance: Any, /, *, epsilon: float = 1e-6, reduction: str = "mean"
) -> Array:
    """Negative logarithm of the normal density, without its constant: ½ (ln σ² + (x - μ)² / σ²), σ² ≥ ``epsilon``."""
    text = f"0.5 * (log(max(x2, {literal(epsilon)})) + square(x0 - x1) / max(x2, {literal(epsilon)}))"
    return reduced(apply_map(text, *alike("gaussian_nll_loss", mean, target, variance)), reduction)


def nll_loss(
    log_probabilities: Any,
    target: Any,
    /,
    *,
    axis: int = -1,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Array:
    """Negative log-likelihood of the classes ``target`` (integers, without the class axis), or of probabilities of
    classes (with it). A class that there is not makes NaN (optax).

    Labels ``ignore_index``, such as torch's -100, are in no sum and no mean, and give no gradient; where all labels
    are ignored, the mean is NaN (torch).

    Raises:
        InputError: classes or probabilities of another rank; an ``ignore_index`` that is no label.
    """
    given, classes = float_array(log_probabilities), as_array(target)
    are_integers = classes.element[0] in "iu"
    if len(classes.shape) != len(given.shape) - are_integers:
        what = "Classes" if are_integers else "Probabilities of classes"
        hint = f"Give integers {given.shape[:-1]}, or a probability for each class {given.shape}"
        raise InputError(f"{what} of shape {classes.shape} do not fit scores of shape {given.shape}", hint=hint)
    if ignore_index is not None:
        _check_ignored(ignore_index, classes)
    if not are_integers:
        return reduced(_likelihood(given, classes, axis), reduction)
    count = given.shape[axis]
    if axis not in (-1, len(given.shape) - 1) or not isinstance(count, int):
        raise InputError("Classes as integers are along the last axis", hint="Move the axis by moveaxis")
    losses = _likelihood(given, one_hot(classes, count, dtype=given.dtype), axis)
    text = f"x1 + where((x0 >= 0) & (x0 < {count}), 0.0, {literal(math.nan)})"  # of which the derivative is 1
    return _reduced_but(ignore_index, apply_map(text, classes, losses), classes, reduction)


def _check_ignored(ignore_index: Any, classes: Array) -> None:
    """Raises: InputError: probabilities, or a number that integers of this type are never."""
    shown = f"ignore_index={ignore_index!r}"
    if classes.element[0] not in "iu" or classes.element == "i1":
        raise InputError(
            f"{shown} has no meaning for targets of {classes.dtype}",
            hint="Give classes as integers, or no ignore_index",
        )
    limits = np.iinfo(classes.dtype)
    if not isinstance(ignore_index, int | np.integer) or isinstance(ignore_index, bool):
        raise InputError(f"{shown} is no integer", hint="Give an integer, such as -100, or None")
    if not limits.min <= ignore_index <= limits.max:
        hint = f"Give a number from {limits.min} to {limits.max}, or classes of int64"
        raise InputError(f"{shown} is outside of {classes.dtype}", hint=hint)


def _reduced_but(ignore_index: int | None, losses: Array, classes: Array, reduction: str) -> Array:
    """``reduced`` over the losses whose class is not ``ignore_index``. The others count as zero."""
    if ignore_index is None:
        return reduced(losses, reduction)
    kept = apply_map(f"where(x0 == {int(ignore_index)}, 0.0, x1)", classes, losses)
    if reduction != "mean":
        return reduced(kept, reduction)
    count = reductions.sum(apply_map(f"x0 != {int(ignore_index)}", classes), dtype=np.int64)
    return FUNCTIONS["divide"](reductions.sum(kept), count)


def _likelihood(log_probabilities: Array, probabilities: Array, axis: int) -> Array:
    terms = apply_map(PROBABLE, *operands(log_probabilities, probabilities))
    return FUNCTIONS["negative"](reductions.sum(terms, axis=axis))


def cross_entropy(
    logits: Any,
    target: Any,
    /,
    *,
    axis: int = -1,
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Array:
    """Cross entropy of softmax(logits) and classes (integers) or probabilities of classes ``target``.

    ``ignore_index``: the class of samples without a loss, as in ``nll_loss``.
    """
    found = log_softmax(logits, axis=axis)
    loss = nll_loss(found, target, axis=axis, ignore_index=ignore_index, reduction="none")
    if label_smoothing:
        even = FUNCTIONS["negative"](reductions.mean(found, axis=axis))
        text = f"{literal(1 - label_smoothing)} * x0 + {literal(label_smoothing)} * x1"
        loss = apply_map(text, loss, even)
    return _reduced_but(ignore_index, loss, as_array(target), reduction)


def cosine_similarity(a: Any, b: Any, /, *, axis: int = -1, epsilon: float = 1e-8) -> Array:
    """The cosine of the angle between vectors along an axis."""
    x, y = operands(a, b, lowest=2)
    parts = [reductions.sum(FUNCTIONS["multiply"](p, q), axis=axis) for p, q in ((x, y), (x, x), (y, y))]
    return apply_map(f"x0 / max(sqrt(x1) * sqrt(x2), {literal(epsilon)})", *parts)


PUBLIC = (
    *("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "log_cosh_loss", "binary_cross_entropy"),
    *("binary_cross_entropy_with_logits", "hinge_loss", "soft_margin_loss", "poisson_nll_loss", "kl_div"),
    *("gaussian_nll_loss", "nll_loss", "cross_entropy", "cosine_similarity"),
)
