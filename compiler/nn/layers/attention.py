"""Multi-head attention. Source: torch.nn.MultiheadAttention; Vaswani et al., 2017."""

from __future__ import annotations

from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn.attention import dot_product_attention
from mlc.nn import init
from mlc.nn.layers.basic import Linear, linear
from mlc.nn.module import Module, next_key, static


class MultiheadAttention(Module):
    """Attention of ``num_heads`` heads on vectors of ``embed_dim``.

    Sequences are [T, B, E], or with ``batch_first`` [B, T, E]. It returns the output alone. ``dropout``: of the
    weights, in training.
    """

    in_proj_weight: Array
    in_proj_bias: Array | None
    out_proj: Linear
    num_heads: int = static()
    batch_first: bool = static()
    dropout: float = static(default=0.0)

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        batch_first: bool = False,
        rng: np.random.Generator | None = None,
    ) -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise InputError(
                f"Vectors of {embed_dim} elements in {num_heads} heads: the heads do not divide them",
                hint="Give num_heads that divides embed_dim",
            )
        self.in_proj_weight = init.xavier_uniform((3 * embed_dim, embed_dim), rng=rng)
        self.in_proj_bias = init.zeros((3 * embed_dim,)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, rng)
        if bias:
            self.out_proj.bias = init.zeros((embed_dim,))
        self.num_heads, self.batch_first, self.dropout = num_heads, batch_first, dropout

    def __call__(self, query: Any, key: Any = None, value: Any = None, mask: Any = None, causal: bool = False) -> Array:
        """``key`` and ``value`` are the query by default (self-attention).

        ``mask`` broadcasts to [B, H, T, S]: False where a query does not see a key, or floats that are added to the
        scores.
        """
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = (self._heads(x, part) for part, x in enumerate((query, key, value)))
        dropout = self.dropout if self.training else 0.0
        rng = next_key("MultiheadAttention") if dropout else None
        found = dot_product_attention(q, k, v, mask, causal=causal, dropout=dropout, rng=rng)
        order = (0, 2, 1, 3) if self.batch_first else (2, 0, 1, 3)
        joined = mnp.permute_dims(found, order)
        return self.out_proj(mnp.reshape(joined, (*joined.shape[:2], -1)))

    def _heads(self, x: Any, part: int) -> Array:
        """[B, H, T, D] of the projection number ``part``."""
        size = self.in_proj_weight.shape[1]
        rows = slice(part * size, (part + 1) * size)
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        found = linear(as_array(x), self.in_proj_weight[rows], bias)
        split = mnp.reshape(found, (*found.shape[:2], self.num_heads, -1))
        return mnp.permute_dims(split, (0, 2, 1, 3) if self.batch_first else (1, 2, 0, 3))
