"""Attention, embeddings and one-hot vectors."""

from __future__ import annotations

import math
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.creation import arange
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, convert, operands, where
from mlc.frontends.array.functions.products import contract
from mlc.frontends.array.nn.activations import softmax
from mlc.frontends.array.random.distributions import bernoulli
from mlc.frontends.array.selecting.taking import take


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    /,
    *,
    scale: float | None = None,
    causal: bool = False,
    dropout: float = 0.0,
    rng: Any = None,
) -> Array:
    """softmax(scale · q kᵀ) v: [B, H, S, D] from ``query`` [B, H, S, D], ``key`` [B, H, T, D] and ``value``.

    ``mask``, which broadcasts to [B, H, S, T]: where it is False, or what is added to the scores. ``causal``: a query
    sees the keys up to its own position. The default of ``scale`` is 1/√D. Of 16-bit floats the softmax is in f32.
    ``dropout``: the probability with which a weight is 0, by the random key ``rng``; the others are divided by
    1 - dropout. Source: Vaswani et al., 2017.

    Raises:
        InputError: the shapes do not fit, or dropout without a key.
    """
    if not 0 <= dropout < 1 or (dropout and rng is None):
        what = f"Dropout with probability {dropout} has no key, or is not from 0 to before 1"
        raise InputError(what, hint="Give one from 0 to before 1, and a key as rng")
    q, k, v = operands(query, key, value, lowest=2)
    if not len(q.shape) == len(k.shape) == len(v.shape) == 4 or q.shape[3] != k.shape[3] or k.shape[2] != v.shape[2]:
        raise InputError(
            f"Attention of queries {q.shape}, keys {k.shape} and values {v.shape}: the shapes do not fit",
            hint="Give [batch, positions, heads, size], sizes of queries and keys equal",
        )
    size = q.shape[3]
    if scale is None and not isinstance(size, int):
        raise InputError(f"Attention of vectors of an open size {size}: the scale depends on it", hint="Give the scale")
    factor = 1 / math.sqrt(size) if scale is None else scale  # type: ignore[arg-type]
    products = contract("bhsd,bhtd->bhst", q, k)
    halves = products.element in ("f16", "bf16")
    scores = FUNCTIONS["multiply"](convert(products, "f32") if halves else products, factor)
    if causal:
        rows, columns = (arange(n) for n in scores.shape[2:])
        scores = where(FUNCTIONS["less_equal"](columns, rows[:, None]), scores, -math.inf)
    if mask is not None:
        given = as_array(mask)
        scores = where(given, scores, -math.inf) if given.element == "i1" else FUNCTIONS["add"](scores, given)
    weights = softmax(scores)
    if dropout:
        weights = where(bernoulli(rng, 1 - dropout, weights.shape), weights / (1 - dropout), 0.0)
    return contract("bhst,bhtd->bhsd", convert(weights, v.element) if halves else weights, v)


def embedding(indices: Any, table: Any, /) -> Array:
    """Rows of ``table`` [V, D]: [..., D] for ``indices`` [...]."""
    return take(as_array(table), as_array(indices), axis=0)


def one_hot(indices: Any, classes: int, /, *, dtype: Any = None) -> Array:
    """1 at the index, else 0: [..., classes] for ``indices`` [...]; zeros for an index outside."""
    given = as_array(indices)
    element = dtypes.FLOAT if dtype is None else dtypes.element(dtype)
    numbers = convert(arange(classes), given.element)
    return convert(apply_map("x0 == x1", given[..., None], numbers), element)


PUBLIC = ("dot_product_attention", "embedding", "one_hot")
