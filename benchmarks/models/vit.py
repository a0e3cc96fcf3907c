"""Vision Transformer (Dosovitskiy et al. 2020, arXiv 2010.11929), with one matrix for query, key and value."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import conv, gelu, gemm, layer_norm, linear, merge_heads


def _tokens(b: Builder, x: str, batch: Dim, count: int, hidden: int, patch: int) -> str:
    x = conv(b, x, (3, hidden), patch, stride=patch, padding=0, gain=1.0, name="patch_embed")
    x = b.op("Transpose", b.reshape(x, batch, hidden, count), perm=[0, 2, 1])
    first = b.weight("cls_token", (1, 1, hidden), 1.0)
    if batch != 1:
        first = b.op("Expand", first, b.shape([batch, 1, hidden]))
    x = b.op("Concat", first, x, axis=1)
    return b.op("Add", x, b.weight("pos_embed", (1, count + 1, hidden), 0.5))


def _attention(b: Builder, x: str, shape: Sequence[Dim], heads: int) -> str:
    batch, tokens, hidden = shape
    assert isinstance(hidden, int)
    size = hidden // heads
    packed = b.reshape(linear(b, x, hidden, 3 * hidden, "qkv"), batch, tokens, 3, heads, size)
    packed = b.op("Transpose", packed, perm=[2, 0, 3, 1, 4])
    q, k, v = (b.op("Gather", packed, b.constant(i, np.int64), axis=0) for i in range(3))
    q = b.op("Mul", q, b.constant(1.0 / math.sqrt(size)))
    scores = b.op("MatMul", q, b.op("Transpose", k, perm=[0, 1, 3, 2]))
    y = merge_heads(b, b.op("MatMul", b.op("Softmax", scores, axis=-1), v), shape)
    return linear(b, y, hidden, hidden, "proj")


def _block(b: Builder, x: str, shape: Sequence[Dim], heads: int) -> str:
    hidden = shape[2]
    assert isinstance(hidden, int)
    with b.scope("attn"):
        x = b.op("Add", x, _attention(b, layer_norm(b, x, hidden, "norm", 1e-6), shape, heads))
    with b.scope("mlp"):
        y = linear(b, layer_norm(b, x, hidden, "norm", 1e-6), hidden, 4 * hidden, "fc1")
        return b.op("Add", x, linear(b, gelu(b, y), 4 * hidden, hidden, "fc2"))


def vit(
    batch: Dim = 1, image: int = 224, patch: int = 16, layers: int = 12, hidden: int = 768, heads: int = 12,
    classes: int = 1000, seed: int = 0,
) -> onnx.ModelProto:  # fmt: skip
    """input [batch, 3, image, image] → logits [batch, classes]; ViT-B/16 by default, 35 GFLOP."""
    b = Builder("vit", seed)
    patches = (image // patch) ** 2
    x = _tokens(b, b.input("input", [batch, 3, image, image]), batch, patches, hidden, patch)
    for i in range(layers):
        with b.scope(f"blocks.{i}"):
            x = _block(b, x, (batch, patches + 1, hidden), heads)
    first = b.op("Gather", layer_norm(b, x, hidden, "norm", 1e-6), b.constant(0, np.int64), axis=1)
    b.output(gemm(b, first, hidden, classes, "head"), "logits", [batch, classes])
    return b.model()
