"""Connectionist temporal classification: the loss of labels whose positions in a sequence are not known.

Source: Graves et al., 2006; torch.nn.functional.ctc_loss.
"""

from __future__ import annotations

import math
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn.losses import reduced
from mlc.frontends.array.transforms.control import scan

NEVER = -1e30  # the logarithm of a probability of 0: of an infinity the gradient would be NaN


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any = None,
    target_lengths: Any = None,
    *,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Array:
    """The negative logarithm of the probability that a sequence of classes, without repetitions and then blanks, is the
    target.

    Args:
        log_probs: logarithms of probabilities [T, N, C], or [T, C] of one sequence.
        targets: classes [N, S], or [S]; those from the target's length on are not read.
        input_lengths: how many of the T elements each sequence has, [N]; all by default.
        target_lengths: how many of the S classes each target has, [N]; all by default.
        blank: the class of no label.
        reduction: ``"mean"`` (of losses over the lengths of their targets), ``"sum"`` or ``"none"``.
        zero_infinity: a target that is too long for its sequence has the loss 0 in place of infinity, and no gradient.

    Raises:
        InputError: shapes that do not fit, a blank that is no class, or another reduction.
    """
    given, labels = as_array(log_probs), as_array(targets)
    given = mnp.astype(given, mnp.float32) if given.element in ("f16", "bf16") else given
    if single := given.ndim == 2 and labels.ndim == 1:
        given, labels = given[:, None], labels[None]
    _check(given, labels, blank)
    count, most = labels.shape
    lengths = [_lengths(x, n, count) for x, n in ((input_lengths, given.shape[0]), (target_lengths, most))]
    losses = _losses(given, mnp.astype(labels, mnp.int64), lengths[0], lengths[1], blank)
    is_impossible = losses > -NEVER / 2
    losses = mnp.where(is_impossible, 0.0 if zero_infinity else math.inf, losses)
    if reduction == "mean":
        losses = losses / mnp.astype(mnp.maximum(lengths[1], 1), losses.dtype)
    found = reduced(losses, reduction)
    return found[0] if single and reduction == "none" else found


def _check(log_probs: Array, labels: Array, blank: int) -> None:
    if log_probs.ndim != 3 or labels.ndim != 2 or labels.shape[0] != log_probs.shape[1]:
        what = f"ctc_loss cannot take log_probs of shape {log_probs.shape} with targets of shape {labels.shape}"
        raise InputError(what, hint="Give [T, N, C] and [N, S]: targets of several lengths are padded")
    if labels.element[0] not in "iu" or labels.element == "i1":
        raise InputError(f"The targets of ctc_loss are {labels.dtype}", hint="Give classes as integers")
    classes = log_probs.shape[2]
    if isinstance(classes, int) and not 0 <= blank < classes:
        raise InputError(f"blank={blank} is none of {classes} classes", hint=f"Give a number from 0 to {classes - 1}")


def _lengths(given: Any, most: Any, count: Any) -> Array:
    found = mnp.asarray(most if given is None else given, dtype=mnp.int64)
    if found.shape not in ((), (1,), (count,)):
        what = f"Lengths of shape {found.shape} do not fit {count} sequences"
        raise InputError(what, hint="Give one for each sequence")
    return mnp.broadcast_to(found, (count,))


def _losses(log_probs: Array, labels: Array, inputs: Array, targets: Array, blank: int) -> Array:
    """[N]: the forward algorithm over the labels with a blank before, between and after them, S' = 2S + 1."""
    count, most = labels.shape
    size = 2 * most + 1
    blanks = mnp.full((count, most + 1), blank, dtype=labels.dtype)
    padded = mnp.concatenate([labels, blanks[:, :1]], axis=1)
    states = mnp.reshape(mnp.stack([blanks, padded], axis=2), (count, size + 1))[:, :size]
    same = mnp.concatenate([mnp.full((count, 2), True), states[:, 2:] == states[:, :-2]], axis=1)
    may_skip = mnp.logical_and(states != blank, mnp.logical_not(same))
    number = mnp.arange(size)
    first = mnp.where(number == 0, 0.0, NEVER) + mnp.zeros((count, size), dtype=log_probs.dtype)

    def step(before: Array, given: tuple[Array, Array]) -> tuple[Array, None]:
        t, row = given
        never = mnp.full((count, 2), NEVER, dtype=row.dtype)
        one = mnp.concatenate([never[:, :1], before], axis=1)[:, :size]
        two = mnp.where(may_skip, mnp.concatenate([never, before], axis=1)[:, :size], NEVER)
        # Before the first element only the first blank has a probability: a move by one reaches the first label.
        moved = mnp.logaddexp(mnp.logaddexp(before, one), two)
        emitted = mnp.take_along_axis(row, states, axis=1)
        return mnp.where((t < inputs)[:, None], moved + emitted, before), None

    last, _ = scan(step, first, (mnp.arange(log_probs.shape[0]), mnp.maximum(log_probs, NEVER)))
    in_blank = mnp.take_along_axis(last, 2 * targets[:, None], axis=1)[:, 0]
    in_label = mnp.take_along_axis(last, mnp.maximum(2 * targets - 1, 0)[:, None], axis=1)[:, 0]
    return -mnp.logaddexp(in_blank, mnp.where(targets > 0, in_label, NEVER))


PUBLIC = ("ctc_loss",)
