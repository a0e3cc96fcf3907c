"""Cases of recurrent operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from contrib import Case, Data, Draw, row


@row("DynamicQuantizeLSTM")
def dynamic_quantize_lstm(d: Draw) -> Case:
    direction = d.one("forward", "reverse", "bidirectional")
    ways, hidden, size = 1 + (direction == "bidirectional"), d.int(1, 9), d.int(1, 9)
    steps, batch = d.open("steps", 1, 6), d.open("batch", 1, 4)
    columns, how = (ways, 4 * hidden), {"hidden_size": hidden, **_activations(d, ways)}
    how |= {} if direction == "forward" else {"direction": direction}
    lengths = d.integers(1, steps + 1, batch) if d.flip(0.3) else None
    inputs: list[Data | None] = [d.normal(steps, batch, size)]
    kinds = [d.one("u1", "i1")] * 2
    inputs += [d.bytes(ways, n, 4 * hidden, kind=k, constant=True) for n, k in zip((size, hidden), kinds, strict=True)]
    inputs += [d.normal(ways, 8 * hidden, constant=True) if d.flip() else None, lengths]
    inputs += [d.normal(ways, batch, hidden, scale=0.5) if d.flip() else None for _ in "hc"]
    inputs.append(d.normal(ways, 3 * hidden, constant=True) if d.flip(0.3) else None)
    for kind in kinds:
        each = d.flip()
        inputs.append(d.uniform(0.002, 0.02, *(columns if each else columns[:1]), constant=True))
        inputs.append(_zero(d, kind, columns if each else columns[:1]))
    outputs = [d.flip(0.8) for _ in "YYY"]
    # One ulp of a sigmoid is at times one step of a quantized state.
    return Case("DynamicQuantizeLSTM", inputs, how, outputs if any(outputs) else (True,), rtol=0.02)


def _zero(d: Draw, kind: str, shape: tuple[int, ...]) -> Data:
    """onnxruntime wants those of columns to be 0 where they are signed, and equal where not."""
    if len(shape) == 1:
        return d.integers(*((-9, 9) if kind == "i1" else (120, 137)), *shape, kind=kind, constant=True)
    value = 0 if kind == "i1" else d.int(120, 136)
    return d.data(np.full(shape, value, kind), shape, constant=True)


def _activations(d: Draw, ways: int) -> dict[str, Any]:
    how: dict[str, Any] = {}
    if d.flip(0.3):
        how["activations"] = [d.one("Sigmoid", "HardSigmoid", "Tanh", "Relu") for _ in range(3 * ways)]
        hard = how["activations"].count("HardSigmoid")
        how |= {"activation_alpha": [0.3] * hard, "activation_beta": [0.4] * hard} if hard and d.flip() else {}
    how |= {"clip": d.one(0.5, 2.0)} if d.flip(0.3) else {}
    return how | ({"input_forget": 1} if d.flip(0.3) else {})
