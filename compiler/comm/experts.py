"""``mlc.mixture_of_experts``: each token goes to the ranks of its experts, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlc
import mlc.numpy as mnp
from mlc import comm
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn.activations import softmax


def mixture_of_experts(expert: Callable[[Any, Array], Array], part: Any, x: Any, scores: Any, *, top: int = 2) -> Array:
    """The results of the ``top`` experts of each token, weighted by the softmax of their scores.

        y = mlc.mixture_of_experts(expert, part, x, x @ router, top=2)      # on each rank: its tokens, its experts

    Tokens are sent to the ranks of their experts, as many as there are: none is dropped, and padding is not sent. A
    derivative is that of the sum of all ranks' results. Sources: Shazeer et al., 2017; GShard, 2020.

    Args:
        expert: ``expert(w, rows)`` of one expert, [rows, features] to [rows, results], each row alone.
        part: a tree of arrays [experts of this rank, …]; all ranks have as many.
        x: the tokens of this rank, [tokens, features].
        scores: [tokens, experts of all ranks].

    Raises:
        InputError: shapes that do not fit, or more experts of a token than there are.
    """
    tokens, logits = as_array(x), as_array(scores)
    experts = _checked(part, tokens, logits, top)
    rows = tokens.shape[0]
    best = mnp.argsort(-logits, axis=-1, stable=True)[:, :top]
    weights = softmax(mnp.take_along_axis(logits, best, axis=-1))
    to = mnp.reshape(best, (-1,))
    is_to = to[:, None] == mnp.arange(experts)
    at = mnp.sum(mnp.where(is_to, mnp.cumsum(mnp.astype(is_to, mnp.int64), axis=0) - 1, 0), axis=1)
    given = mnp.repeat(tokens, top, axis=0)
    sent = mnp.zeros((experts, rows, *tokens.shape[1:]), dtype=tokens.dtype).at[to, at].set(given)
    is_sent = mnp.zeros((experts, rows), dtype=tokens.dtype).at[to, at].set(mnp.ones_like(given[:, 0]))
    found = _of_experts(expert, part, sent, is_sent)[to, at]
    weighted = mnp.reshape(found, (rows, top, *found.shape[1:])) * weights[..., None]
    return mnp.sum(weighted, axis=1)


def _checked(part: Any, x: Array, scores: Array, top: int) -> int:
    """The number of experts on all ranks."""
    here = {as_array(each).shape[:1] for each in trees.leaves(part)}
    experts = scores.shape[-1]
    if x.ndim != 2 or scores.ndim != 2 or x.shape[0] != scores.shape[0] or here != {(experts // comm.size(),)}:
        what = f"Tokens {list(x.shape)}, scores {list(scores.shape)} and experts {sorted(map(list, here))} do not fit"
        hint = f"Give [tokens, features], [tokens, experts], and arrays of a {comm.size()}th of the experts"
        raise InputError(what, hint=hint)
    if not isinstance(experts, int) or not 1 <= top <= experts:
        raise InputError(f"A token cannot have {top} of {experts} experts", hint=f"Give 1 to {experts}")
    return experts


def _of_experts(expert: Callable[[Any, Array], Array], part: Any, sent: Array, is_sent: Array) -> Array:
    """The results [experts, rows, …] for lists of rows, each computed on the rank of its expert; zeros beside them."""
    ranks = comm.size()
    come, is_come = (_by_expert(comm.all_to_all(each, lists=True), ranks) for each in (sent, is_sent))
    results = mlc.vmap(expert)(part, come)
    kept = mnp.where(mlc.stop_gradient(is_come)[..., None] > 0, results, mnp.zeros_like(results))
    back: Array = comm.all_to_all(_by_rank(kept, ranks), lists=True)
    return back


def _by_expert(x: Array, ranks: int) -> Array:
    """[ranks x experts here, rows, …] as [experts here, ranks x rows, …]."""
    apart = mnp.reshape(x, (ranks, x.shape[0] // ranks, *x.shape[1:]))
    return mnp.reshape(mnp.swapaxes(apart, 0, 1), (x.shape[0] // ranks, ranks * x.shape[1], *x.shape[2:]))


def _by_rank(x: Array, ranks: int) -> Array:
    """The inverse."""
    apart = mnp.reshape(x, (x.shape[0], ranks, x.shape[1] // ranks, *x.shape[2:]))
    return mnp.reshape(mnp.swapaxes(apart, 0, 1), (ranks * x.shape[0], x.shape[1] // ranks, *x.shape[2:]))
