"""GPT-2 (Radford et al. 2019), as Hugging Face's GPT2LMHeadModel is exported."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import gelu_tanh, layer_norm, merge_heads, split_heads

MASKED = float(np.finfo(np.float32).min)


def _conv1d(b: Builder, x: str, rows: Sequence[Dim], n_in: int, n_out: int, name: str) -> str:
    """GPT-2's linear layer: its Conv1D flattens to two dimensions and is exported as Gemm."""
    with b.scope(name):
        weight = b.weight("weight", (n_in, n_out), 1.0 / math.sqrt(n_in))
        y = b.op("Gemm", b.reshape(x, -1, n_in), weight, b.weight("bias", (n_out,), 0.1))
        return b.reshape(y, *rows, n_out)


def _attention(b: Builder, x: str, shape: Sequence[Dim], heads: int) -> str:
    batch, tokens, hidden = shape
    assert isinstance(hidden, int) and isinstance(tokens, int)
    packed = _conv1d(b, x, (batch, tokens), hidden, 3 * hidden, "c_attn")
    q, k, v = b.ops("Split", packed, b.integers(hidden, hidden, hidden), outputs=3, axis=2)
    q = split_heads(b, q, shape, heads, [0, 2, 1, 3])
    k = split_heads(b, k, shape, heads, [0, 2, 3, 1])
    v = split_heads(b, v, shape, heads, [0, 2, 1, 3])
    scores = b.op("Div", b.op("MatMul", q, k), b.constant(math.sqrt(hidden // heads)))
    causal = b.constant(np.tri(tokens)[None, None], np.bool_)
    weights = b.op("Softmax", b.op("Where", causal, scores, b.constant(MASKED)), axis=-1)
    y = merge_heads(b, b.op("MatMul", weights, v), shape)
    return _conv1d(b, y, (batch, tokens), hidden, hidden, "c_proj")


def _block(b: Builder, x: str, shape: Sequence[Dim], heads: int) -> str:
    hidden = shape[2]
    assert isinstance(hidden, int)
    with b.scope("attn"):
        x = b.op("Add", _attention(b, layer_norm(b, x, hidden, "ln_1"), shape, heads), x)
    with b.scope("mlp"):
        y = _conv1d(b, layer_norm(b, x, hidden, "ln_2"), shape[:2], hidden, 4 * hidden, "c_fc")
        return b.op("Add", x, _conv1d(b, gelu_tanh(b, y), shape[:2], 4 * hidden, hidden, "c_proj"))


def gpt2(
    batch: Dim = 1, tokens: int = 64, layers: int = 12, hidden: int = 768, heads: int = 12, vocabulary: int = 50257,
    positions: int = 1024, seed: int = 0,
) -> onnx.ModelProto:  # fmt: skip
    """input_ids int64 [batch, tokens] → logits [batch, tokens, vocabulary]; the embedding is the output matrix too."""
    b = Builder("gpt2", seed)
    ids = b.input("input_ids", [batch, tokens], TensorProto.INT64)
    words = b.weight("wte.weight", (vocabulary, hidden), 1.0 / math.sqrt(hidden))
    offsets = b.weight("wpe.weight", (positions, hidden), 0.5 / math.sqrt(hidden))
    index = b.constant(np.arange(tokens)[None], np.int64)
    x = b.op("Add", b.op("Gather", words, ids), b.op("Gather", offsets, index))
    for i in range(layers):
        with b.scope(f"h.{i}"):
            x = _block(b, x, (batch, tokens, hidden), heads)
    x = layer_norm(b, x, hidden, "ln_f")
    logits = b.op("MatMul", x, b.op("Transpose", words, perm=[1, 0]))
    b.output(logits, "logits", [batch, tokens, vocabulary])
    return b.model()
