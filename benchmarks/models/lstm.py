"""A stacked LSTM (Hochreiter and Schmidhuber 1997), as nn.LSTM(batch_first=True) is exported."""

from __future__ import annotations

import math

import onnx

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import zeros


def _layer(b: Builder, x: str, n_in: int, hidden: int, state: str) -> list[str]:
    weights = [
        b.weight("W", (1, 4 * hidden, n_in), 1.0 / math.sqrt(n_in)),
        b.weight("R", (1, 4 * hidden, hidden), 1.0 / math.sqrt(hidden)),
        b.weight("B", (1, 8 * hidden), 0.1),
    ]
    y, h, c = b.ops("LSTM", x, *weights, "", state, state, outputs=3, hidden_size=hidden)
    return [b.op("Squeeze", y, b.integers(1)), h, c]


def lstm(
    batch: Dim = 1, steps: int = 64, inputs: int = 128, hidden: int = 256, layers: int = 2, seed: int = 0
) -> onnx.ModelProto:
    """x [batch, steps, inputs] → y [batch, steps, hidden], h and c [layers, batch, hidden]; 0.12 GFLOP."""
    b = Builder("lstm", seed)
    x = b.op("Transpose", b.input("x", [batch, steps, inputs]), perm=[1, 0, 2])
    state, finals = zeros(b, 1, batch, hidden), []
    for i in range(layers):
        with b.scope(f"layer{i}"):
            x, *final = _layer(b, x, hidden if i else inputs, hidden, state)
            finals.append(final)
    b.output(b.op("Transpose", x, perm=[1, 0, 2]), "y", [batch, steps, hidden])
    for name, states in zip("hc", zip(*finals, strict=True), strict=True):
        b.output(b.op("Concat", *states, axis=0), name, [layers, batch, hidden])
    return b.model()
