"""A multilayer perceptron for 28×28 images."""

from __future__ import annotations

from itertools import pairwise

import onnx

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import RELU_GAIN, gemm


def mlp(batch: Dim = 64, sizes: tuple[int, ...] = (784, 512, 512, 10), seed: int = 0) -> onnx.ModelProto:
    """x [batch, 784] → logits [batch, 10]; a Relu between layers."""
    return _mlp("mlp", batch, sizes, seed)


def mlp_tiny(batch: Dim = 1, sizes: tuple[int, ...] = (64, 128, 128, 10), seed: int = 0) -> onnx.ModelProto:
    """x [batch, 64] → logits [batch, 10]; 0.05 MFLOP, so that most of the time is the call's."""
    return _mlp("mlp_tiny", batch, sizes, seed)


def _mlp(name: str, batch: Dim, sizes: tuple[int, ...], seed: int) -> onnx.ModelProto:
    b = Builder(name, seed)
    x = b.input("x", [batch, sizes[0]])
    last = len(sizes) - 2
    for i, (n_in, n_out) in enumerate(pairwise(sizes)):
        x = gemm(b, x, n_in, n_out, f"fc{i}", RELU_GAIN if i < last else 1.0)
        if i < last:
            x = b.op("Relu", x)
    b.output(x, "logits", [batch, sizes[-1]])
    return b.model()
