"""Attention with rotary positions (Su et al. 2021, arXiv 2104.09864) and shared heads of keys and values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from benchmarks.models.builder import Builder, Dim

BASE = 10000.0
MASKED = float(np.finfo(np.float32).min)


def rotary_tables(b: Builder, positions: np.ndarray, size: int) -> tuple[str, str]:
    """Cosines and sines [1, 1, positions, size] of the angles of some positions."""
    frequencies = BASE ** (-np.arange(0, size, 2) / size)
    angles = np.tile(np.outer(positions, frequencies), 2)[None, None]
    return b.constant(np.cos(angles)), b.constant(np.sin(angles))


def rotate(b: Builder, x: str, size: int, tables: tuple[str, str]) -> str:
    """Rotate each pair (x[i], x[i + size/2]) of the last axis by its angle."""
    cos, sin = tables
    first = b.op("Slice", x, b.integers(0), b.integers(size // 2), b.integers(-1))
    second = b.op("Slice", x, b.integers(size // 2), b.integers(size), b.integers(-1))
    rotated = b.op("Concat", b.op("Neg", second), first, axis=-1)
    return b.op("Add", b.op("Mul", x, cos), b.op("Mul", rotated, sin))


def repeat_heads(b: Builder, x: str, shape: Sequence[Dim], times: int) -> str:
    """Each head of x [batch, heads, tokens, size] several times in a row."""
    batch, heads, tokens, size = shape
    assert isinstance(heads, int)
    if times == 1:
        return x
    wide = b.op("Expand", b.op("Unsqueeze", x, b.integers(2)), b.shape([batch, heads, times, tokens, size]))
    return b.reshape(wide, batch, heads * times, tokens, size)


def attend(b: Builder, q: str, k: str, v: str, size: int, tokens: int, past: int) -> str:
    """Attention in which a token sees those before it; queries are the last `tokens` of `past + tokens`."""
    scores = b.op("MatMul", q, b.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = b.op("Mul", scores, b.constant(1.0 / math.sqrt(size)))
    if tokens > 1:
        mask = np.where(np.tri(tokens, past + tokens, past, dtype=bool), 0.0, MASKED)
        scores = b.op("Add", scores, b.constant(mask[None, None]))
    return b.op("MatMul", b.op("Softmax", scores, axis=-1), v)
