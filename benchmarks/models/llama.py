"""A small decoder of Llama's kind (Touvron et al. 2023, arXiv 2302.13971), as Hugging Face's is exported.

RMS normalization, rotary positions, fewer heads of keys and values than of queries, a gated feed-forward network
(SwiGLU). Two families: `llama_prefill` reads a prompt, `llama_decode` adds one token to a cache of keys and values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import matmul, merge_heads, rms_norm, swish
from benchmarks.models.rotary import attend, repeat_heads, rotary_tables, rotate


@dataclass(frozen=True)
class Sizes:
    """Sizes of a decoder; `past` is the number of tokens in the cache, `tokens` that of new ones."""

    batch: Dim
    tokens: int
    past: int
    hidden: int
    heads: int
    groups: int  # heads of keys and values
    inner: int

    @property
    def size(self) -> int:
        """The width of a head."""
        return self.hidden // self.heads


def _heads(b: Builder, x: str, s: Sizes, count: int, name: str) -> str:
    """A projection of x to [batch, count, tokens, size]."""
    y = b.reshape(matmul(b, x, s.hidden, count * s.size, name), s.batch, s.tokens, count, s.size)
    return b.op("Transpose", y, perm=[0, 2, 1, 3])


def _cached(b: Builder, x: str, s: Sizes, name: str, layer: int) -> str:
    """Old and new keys or values, which are an output too."""
    shape = [s.batch, s.groups, s.past, s.size]
    if s.past:
        x = b.op("Concat", b.input(f"past_{name}.{layer}", shape), x, axis=2)
    b.output(x, f"present_{name}.{layer}", [s.batch, s.groups, s.past + s.tokens, s.size])
    return x


def _attention(b: Builder, x: str, s: Sizes, tables: tuple[str, str], layer: int) -> str:
    q = rotate(b, _heads(b, x, s, s.heads, "q_proj"), s.size, tables)
    k = rotate(b, _heads(b, x, s, s.groups, "k_proj"), s.size, tables)
    k = _cached(b, k, s, "key", layer)
    v = _cached(b, _heads(b, x, s, s.groups, "v_proj"), s, "value", layer)
    shape = (s.batch, s.groups, s.past + s.tokens, s.size)
    k, v = (repeat_heads(b, y, shape, s.heads // s.groups) for y in (k, v))
    y = merge_heads(b, attend(b, q, k, v, s.size, s.tokens, s.past), (s.batch, s.tokens, s.hidden))
    return matmul(b, y, s.hidden, s.hidden, "o_proj")


def _feed_forward(b: Builder, x: str, s: Sizes) -> str:
    gate = swish(b, matmul(b, x, s.hidden, s.inner, "gate_proj"))
    y = b.op("Mul", gate, matmul(b, x, s.hidden, s.inner, "up_proj"))
    return matmul(b, y, s.inner, s.hidden, "down_proj", gain=2.0)


def _layer(b: Builder, x: str, s: Sizes, tables: tuple[str, str], layer: int) -> str:
    with b.scope("self_attn"):
        x = b.op("Add", x, _attention(b, rms_norm(b, x, s.hidden, "input_layernorm"), s, tables, layer))
    with b.scope("mlp"):
        return b.op("Add", x, _feed_forward(b, rms_norm(b, x, s.hidden, "post_attention_layernorm"), s))


def _decoder(name: str, s: Sizes, layers: int, vocabulary: int, seed: int) -> onnx.ModelProto:
    b = Builder(name, seed)
    ids = b.input("input_ids", [s.batch, s.tokens], TensorProto.INT64)
    x = b.op("Gather", b.weight("embed_tokens.weight", (vocabulary, s.hidden), 1.0), ids)
    tables = rotary_tables(b, np.arange(s.past, s.past + s.tokens), s.size)
    for i in range(layers):
        with b.scope(f"layers.{i}"):
            x = _layer(b, x, s, tables, i)
    logits = matmul(b, rms_norm(b, x, s.hidden, "norm"), s.hidden, vocabulary, "lm_head")
    b.output(logits, "logits", [s.batch, s.tokens, vocabulary])
    return b.model()


def llama_prefill(
    batch: Dim = 1, tokens: int = 64, layers: int = 8, hidden: int = 512, heads: int = 8, groups: int = 4,
    inner: int = 1376, vocabulary: int = 32000, seed: int = 0,
) -> onnx.ModelProto:  # fmt: skip
    """input_ids int64 [batch, tokens] → logits [batch, tokens, vocabulary], the keys and values of every layer."""
    sizes = Sizes(batch, tokens, 0, hidden, heads, groups, inner)
    return _decoder("llama_prefill", sizes, layers, vocabulary, seed)


def llama_decode(
    batch: Dim = 1, past: int = 255, layers: int = 8, hidden: int = 512, heads: int = 8, groups: int = 4,
    inner: int = 1376, vocabulary: int = 32000, seed: int = 0,
) -> onnx.ModelProto:  # fmt: skip
    """input_ids int64 [batch, 1] and a cache of `past` tokens → logits [batch, 1, vocabulary] and the longer cache."""
    sizes = Sizes(batch, 1, past, hidden, heads, groups, inner)
    return _decoder("llama_decode", sizes, layers, vocabulary, seed)
