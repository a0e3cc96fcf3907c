"""The next token from scores: greedy, by temperature, among the best k (top-k), within a share of probability (top-p).

Source: Fan et al., "Hierarchical neural story generation", 2018 (top-k); Holtzman et al., "The curious case of neural
text degeneration", 2019 (top-p).
"""

from __future__ import annotations

from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn.activations import softmax


def filtered_logits(
    logits: Any, *, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Array:
    """Scores [..., n] over ``temperature``, -∞ for tokens that are left out.

    ``top_k`` keeps the k largest, and what equals the last of them. Of these ``top_p`` keeps the fewest of the largest
    whose probabilities add up to it at least.

    Raises:
        InputError: a temperature that is not positive, ``top_k`` below 1, or ``top_p`` that is not from 0 to 1.
    """
    if not temperature > 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        what = f"Tokens cannot be drawn with temperature={temperature}, top_k={top_k}, top_p={top_p}"
        raise InputError(what, hint="Give a positive temperature, top_k from 1 on, top_p above 0 and up to 1")
    given = as_array(logits)
    scores = (given if given.dtype.itemsize > 2 else given.astype(mnp.float32)) / temperature
    if top_k is not None and top_k < int(scores.shape[-1]):  # type: ignore[arg-type]
        scores = _from(scores, mnp.sort(scores, axis=-1)[..., -top_k][..., None])
    if top_p is not None and top_p < 1:
        falling = mnp.flip(mnp.sort(scores, axis=-1), axis=-1)
        shares = softmax(falling, axis=-1)
        before = mnp.cumsum(shares, axis=-1) - shares
        least = mnp.min(mnp.where(before < top_p, falling, mnp.inf), axis=-1, keepdims=True)
        scores = _from(scores, least)
    return scores


def _from(scores: Array, least: Array) -> Array:
    return mnp.where(scores >= least, scores, as_array(-mnp.inf, scores.element))


def sample_token(
    logits: Any, key: Any = None, *, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Array:
    """Tokens [...] from scores [..., n], drawn by a random key; the largest (greedy) without a key, or with a
    temperature of 0. Other parameters as ``filtered_logits``."""
    if key is None or temperature == 0:
        return mnp.argmax(as_array(logits), axis=-1)
    scores = filtered_logits(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    found: Array = mnp.random.categorical(key, scores)
    return found


