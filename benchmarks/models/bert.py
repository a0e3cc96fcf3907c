"""BERT (Devlin et al. 2018, arXiv 1810.04805), as Hugging Face's BertModel is exported, with its names of weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import TensorProto

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import gelu, gemm, layer_norm, linear, merge_heads, split_heads

EPSILON = 1e-12
MASKED = float(np.finfo(np.float32).min)


def _index(b: Builder, tokens: Dim, positions: int) -> str:
    """Indices of the tokens' positions, [1, tokens]: a constant, or the head of one."""
    index = b.constant(np.arange(tokens if isinstance(tokens, int) else positions)[None], np.int64)
    if isinstance(tokens, int):
        return index
    return b.op("Slice", index, b.integers(0), b.symbol(tokens), b.integers(1))


def embeddings(b: Builder, ids: str, types: str, tokens: Dim, hidden: int, vocabulary: int, positions: int) -> str:
    """The normalized sum of word, token type and position embeddings, [batch, tokens, hidden]."""
    with b.scope("embeddings"):
        std = 1.0 / math.sqrt(3)  # the sum of three is then of order one
        words = b.op("Gather", b.weight("word_embeddings.weight", (vocabulary, hidden), std), ids)
        kinds = b.op("Gather", b.weight("token_type_embeddings.weight", (2, hidden), std), types)
        weight = b.weight("position_embeddings.weight", (positions, hidden), std)
        offsets = b.op("Gather", weight, _index(b, tokens, positions))
        x = b.op("Add", b.op("Add", words, kinds), offsets)
        return layer_norm(b, x, hidden, "LayerNorm", EPSILON)


def mask_bias(b: Builder, mask: str) -> str:
    """0 where the mask [batch, tokens] is one and the least float where it is zero, [batch, 1, 1, tokens]."""
    wide = b.op("Unsqueeze", b.op("Unsqueeze", mask, b.integers(1)), b.integers(2))
    zero_where_kept = b.op("Sub", b.constant(1.0), b.op("Cast", wide, to=TensorProto.FLOAT))
    return b.op("Mul", zero_where_kept, b.constant(MASKED))


def attention(b: Builder, x: str, bias: str, shape: Sequence[Dim], heads: int) -> str:
    """Multi-head self-attention of x, whose shape [batch, tokens, hidden] is given."""
    hidden = shape[2]
    assert isinstance(hidden, int)
    with b.scope("self"):
        q, k, v = (linear(b, x, hidden, hidden, name) for name in ("query", "key", "value"))
        q = split_heads(b, q, shape, heads, [0, 2, 1, 3])
        k = split_heads(b, k, shape, heads, [0, 2, 3, 1])
        v = split_heads(b, v, shape, heads, [0, 2, 1, 3])
        scores = b.op("Div", b.op("MatMul", q, k), b.constant(math.sqrt(hidden // heads)))
        weights = b.op("Softmax", b.op("Add", scores, bias), axis=-1)
        return merge_heads(b, b.op("MatMul", weights, v), shape)


def layer(b: Builder, x: str, bias: str, shape: Sequence[Dim], heads: int, inner: int) -> str:
    """One encoder layer: attention and a feed-forward network, each added and then normalized."""
    hidden = shape[2]
    assert isinstance(hidden, int)
    with b.scope("attention"):
        y = attention(b, x, bias, shape, heads)
        with b.scope("output"):
            x = layer_norm(b, b.op("Add", linear(b, y, hidden, hidden, "dense"), x), hidden, "LayerNorm", EPSILON)
    with b.scope("intermediate"):
        y = gelu(b, linear(b, x, hidden, inner, "dense"))
    with b.scope("output"):
        y = linear(b, y, inner, hidden, "dense")
        return layer_norm(b, b.op("Add", y, x), hidden, "LayerNorm", EPSILON)


def encoder(
    b: Builder, batch: Dim, tokens: Dim, layers: int, hidden: int, heads: int, vocabulary: int, positions: int
) -> tuple[str, str]:
    """Inputs, embeddings and all layers; returns the last hidden state and the attention mask."""
    ids, mask, types = (
        b.input(name, [batch, tokens], TensorProto.INT64) for name in ("input_ids", "attention_mask", "token_type_ids")
    )
    bias = mask_bias(b, mask)
    x = embeddings(b, ids, types, tokens, hidden, vocabulary, positions)
    for i in range(layers):
        with b.scope("encoder"), b.scope(f"layer.{i}"):
            x = layer(b, x, bias, (batch, tokens, hidden), heads, 4 * hidden)
    return x, mask


def bert(
    batch: Dim = 1, tokens: Dim = 128, layers: int = 12, hidden: int = 768, heads: int = 12, vocabulary: int = 30522,
    positions: int = 512, seed: int = 0, weights: Mapping[str, np.ndarray] | None = None,
) -> onnx.ModelProto:  # fmt: skip
    """Three int64 inputs [batch, tokens] → last_hidden_state [batch, tokens, hidden], pooler_output [batch, hidden]."""
    b = Builder("bert", seed, weights)
    x, _ = encoder(b, batch, tokens, layers, hidden, heads, vocabulary, positions)
    with b.scope("pooler"):
        first = b.op("Gather", x, b.constant(0, np.int64), axis=1)
        pooled = b.op("Tanh", gemm(b, first, hidden, hidden, "dense"))
    b.output(x, "last_hidden_state", [batch, tokens, hidden])
    b.output(pooled, "pooler_output", [batch, hidden])
    return b.model()
