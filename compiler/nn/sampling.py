"""The next token from scores: greedy, by temperature, among the best k (top-k), within a share of probability (top-p),
of at least a share of the most likely one (min-p), with a penalty for tokens that were there.

Semantics, their order and ties are those of ``transformers``. Source: Keskar et al., "CTRL", 2019 (penalty); Fan et
al., "Hierarchical neural story generation", 2018 (top-k); Holtzman et al., "The curious case of neural text
degeneration", 2019 (top-p); Nguyen et al., "Turning up the heat", 2024 (min-p).
"""

from __future__ import annotations

from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn.activations import softmax


def filtered_logits(
    logits: Any,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition_penalty: float = 1.0,
    seen: Any = None,
) -> Array:
    """Scores [..., n] over ``temperature``, -∞ for tokens that are left out, in this order:

    - ``repetition_penalty`` divides positive scores of tokens in ``seen`` (bool [..., n]), multiplies negative ones;
    - ``top_k`` keeps the k largest, and what equals the last of them;
    - ``top_p`` leaves out the smallest, of equal ones the first, as long as all of these have no more than a share of
      1 - top_p together; the last one stays;
    - ``min_p`` keeps those of at least this share of the largest probability.

    Raises:
        InputError: a temperature or penalty that is not positive, ``top_k`` below 1, ``top_p`` or ``min_p`` that is not
            from 0 to 1, a penalty without ``seen``.
    """
    _check(temperature, top_k, top_p, min_p, repetition_penalty, seen)
    given = as_array(logits)
    scores = given if given.dtype.itemsize > 2 else given.astype(mnp.float32)
    if repetition_penalty != 1:
        penalized = mnp.where(scores > 0, scores / repetition_penalty, scores * repetition_penalty)
        scores = mnp.where(as_array(seen), penalized, scores)
    scores = scores / temperature
    if top_k is not None and top_k < int(scores.shape[-1]):  # type: ignore[arg-type]
        scores = _kept(scores, scores >= mnp.sort(scores, axis=-1)[..., -top_k][..., None])
    if top_p is not None and top_p < 1:
        scores = _kept(scores, _nucleus(scores, top_p))
    if min_p is not None and min_p > 0:
        shares = softmax(scores, axis=-1)
        scores = _kept(scores, shares >= min_p * mnp.max(shares, axis=-1, keepdims=True))
    return scores


def _check(
    temperature: float, top_k: int | None, top_p: float | None, min_p: float | None, penalty: float, seen: Any
) -> None:
    ranges = (temperature > 0, top_k is None or top_k >= 1, top_p is None or 0 < top_p <= 1)
    if not all((*ranges, min_p is None or 0 <= min_p <= 1, penalty > 0)):
        what = f"temperature={temperature}, top_k={top_k}, top_p={top_p}, min_p={min_p}, repetition_penalty={penalty}"
        hint = "Give a positive temperature and penalty, top_k from 1 on, top_p above 0 and up to 1, min_p from 0 to 1"
        raise InputError(f"Tokens cannot be drawn with {what}", hint=hint)
    if penalty != 1 and seen is None:
        raise InputError("A penalty for tokens that were there needs to know which", hint="Give seen, bool [..., n]")


def _nucleus(scores: Array, share: float) -> Array:
    """Which scores are no part of the smallest ones with a share of 1 - ``share``."""
    order = mnp.argsort(scores, axis=-1, stable=True)
    sums = mnp.cumsum(softmax(mnp.take_along_axis(scores, order, axis=-1), axis=-1), axis=-1)
    last = mnp.arange(scores.shape[-1]) == scores.shape[-1] - 1
    rank = mnp.argsort(order, axis=-1, stable=True)
    return mnp.take_along_axis((sums > 1 - share) | last, rank, axis=-1)


def _kept(scores: Array, keep: Array) -> Array:
    return mnp.where(keep, scores, as_array(-mnp.inf, scores.element))


def sample_token(logits: Any, key: Any = None, *, temperature: float = 1.0, **how: Any) -> Array:
    """Tokens [...] from scores [..., n], drawn by a random key; the largest (greedy) without a key, or with a
    temperature of 0. Other parameters as ``filtered_logits``; a greedy choice knows the penalty alone."""
    if key is None or temperature == 0:
        penalty = {name: how[name] for name in ("repetition_penalty", "seen") if name in how}
        return mnp.argmax(filtered_logits(logits, **penalty) if penalty else as_array(logits), axis=-1)
    found: Array = mnp.random.categorical(key, filtered_logits(logits, temperature=temperature, **how))
    return found
