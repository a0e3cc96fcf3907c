"""Generation of text: one compiled loop, with the keys and values of tokens before in its state.

Source: Pope et al., "Efficiently scaling transformer inference", 2022 (the cache); the parameters are those of
``transformers.GenerationMixin.generate``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn.attention import dot_product_attention
from mlc.frontends.array.transforms.control import while_loop
from mlc.nn.sampling import sample_token


class KVCache(NamedTuple):
    """Keys and values [batch, heads, most, size] of one layer of attention, and how many tokens are in it."""

    keys: Array
    values: Array
    length: Array

    @classmethod
    def empty(cls, batch: int, heads: int, most: int, size: int, dtype: Any = float) -> KVCache:
        """A cache of up to ``most`` tokens, of which there are none."""
        made = mnp.zeros((batch, heads, most, size), dtype=dtype)
        return cls(made, made, mnp.asarray(0))

    def append(self, keys: Any, values: Any) -> KVCache:
        """With keys and values [batch, heads, t, size] of t more tokens. Tokens beyond the last place are lost."""
        at = self.length + mnp.arange(as_array(keys).shape[2])
        return KVCache(self.keys.at[:, :, at].set(keys), self.values.at[:, :, at].set(values), self.length + len(at))


def cached_attention(
    query: Any, key: Any, value: Any, cache: KVCache, *, scale: float | None = None
) -> tuple[Array, KVCache]:
    """Causal attention [batch, heads, t, size] of t tokens that follow those of the cache, and the cache with them.

    ``query``, ``key``, ``value``: [batch, heads, t, size]. ``key`` and ``value`` may have fewer heads, each of which
    serves as many of the query.

    Raises:
        InputError: the heads of the query are no multiple of those of the key.
    """
    q, after = as_array(query), cache.append(key, value)
    heads, kept = int(q.shape[1]), int(after.keys.shape[1])  # type: ignore[arg-type]
    if heads % kept:
        what = f"{heads} heads of queries cannot be served by {kept} of keys"
        raise InputError(what, hint="Give a number of heads of queries that is a multiple")
    keys, values = (mnp.repeat(x, heads // kept, axis=1) if heads > kept else x for x in (after.keys, after.values))
    rows = cache.length + mnp.arange(q.shape[2])
    seen = mnp.arange(keys.shape[2]) <= rows[:, None]
    return dot_product_attention(q, keys, values, seen, scale=scale), after


Decode = Callable[[Array, Any], tuple[Any, Any]]


def generate(
    decode: Decode,
    prompt: Any,
    cache: Any,
    *,
    max_new_tokens: int,
    key: Any = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition_penalty: float = 1.0,
    eos: int | None = None,
    pad: int = 0,
) -> Array:
    """Tokens [batch, max_new_tokens] that follow a prompt [batch, t].

    ``decode(tokens, cache)`` returns the scores [batch, t, n] of t tokens that follow those in ``cache``, and the cache
    with them: a tree, such as a ``KVCache`` for each layer, with room for ``t + max_new_tokens`` tokens. It is traced
    twice, for the prompt and for one token, and ``mlc.jit(generate)`` is one program with a loop.

    Without a ``key`` the token with the largest score follows, else one is drawn (``sample_token``);
    ``repetition_penalty`` is one for tokens of the prompt and of what follows. What follows the
    token ``eos`` in a row is ``pad``; when all rows have ended the loop does.

    Raises:
        InputError: a prompt that is no matrix with a token, or no new tokens.
    """
    tokens = as_array(prompt)
    if tokens.ndim != 2 or tokens.shape[1] == 0 or max_new_tokens < 1:
        what = f"{max_new_tokens} tokens cannot follow a prompt of shape {list(tokens.shape)}"
        raise InputError(what, hint="Give a prompt [batch, t] with t from 1 on, and max_new_tokens from 1 on")
    how = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    keys = None if key is None else mnp.random.split(key, max_new_tokens)
    rows, penalized = mnp.arange(tokens.shape[0]), repetition_penalty != 1

    def drawn(n: Any, scores: Any, seen: Any) -> Array:
        one, last = None if keys is None else keys[n], as_array(scores)[:, -1]
        penalty = {"repetition_penalty": repetition_penalty, "seen": seen} if penalized else {}
        return sample_token(last, one, **how, **penalty).astype(tokens.dtype)  # type: ignore[arg-type]

    def with_token(seen: Any, token: Any) -> Any:
        return seen.at[rows, token].set(True) if penalized else seen

    scores, filled = decode(tokens, cache)
    none = mnp.zeros((tokens.shape[0], as_array(scores).shape[2] if penalized else 1), dtype=bool)
    prompted = none.at[rows[:, None], tokens].set(True) if penalized else none
    first = drawn(0, scores, prompted)
    made = mnp.full((tokens.shape[0], max_new_tokens), pad, dtype=tokens.dtype)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        n, token, ended, made, seen, cache = state
        scores, cache = decode(token[:, None], cache)
        token = mnp.where(ended, as_array(pad, token.element), drawn(n, scores, seen))
        over = ended | (token == eos) if eos is not None else ended
        return n + 1, token, over, made.at[:, n].set(token), with_token(seen, token), cache

    def goes_on(state: tuple[Any, ...]) -> Array:
        return (state[0] < max_new_tokens) & ~mnp.all(state[2])

    ended = first == eos if eos is not None else mnp.zeros(first.shape, dtype=bool)
    start = (mnp.asarray(1), first, ended, made.at[:, 0].set(first), with_token(prompted, first), filled)
    found: Array = while_loop(goes_on, step, start)[3]
    return found
