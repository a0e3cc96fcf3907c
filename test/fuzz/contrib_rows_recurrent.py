"""Cases of recurrent operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from contrib import BF16, Case, Data, Draw, row


@row("DynamicQuantizeLSTM")
def dynamic_quantize_lstm(d: Draw) -> Case:
    direction = d.one("forward", "reverse", "bidirectional")
    ways, hidden, size = 1 + (direction == "bidirectional"), d.int(1, 9), d.int(1, 9)
    steps, batch = d.open("steps", 1, 6), d.open("batch", 1, 4)
    columns, how = (ways, 4 * hidden), {"hidden_size": hidden, **_activations(d, ways)}
    how |= {} if direction == "forward" else {"direction": direction}
    lengths = d.integers(1, steps + 1, batch) if d.flip(0.3) else None
    positive = d.flip(0.3)  # a range without 0 is extended to it
    inputs: list[Data | None] = [d.uniform(1, 2, steps, batch, size) if positive else d.normal(steps, batch, size)]
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


def _linear(d: Draw, domain: str, kind: str) -> Case:
    rule = d.one("linear", "gated", "delta", "gated_delta")
    batch, steps = d.open("batch", 1, 3), d.open("steps", 1, 7)
    heads, groups, size, out = d.int(1, 3), d.one(1, 1, 2), d.int(1, 6), d.int(1, 6)
    inverse = bool(domain) and d.flip(0.2)
    queries, values = (heads, heads * groups) if inverse else (heads * groups, heads)
    how: dict[str, Any] = {"q_num_heads": queries, "kv_num_heads": values}
    how |= {"update_rule": rule} if rule != "gated_delta" or d.flip() else {}
    how |= {"scale": 0.3} if d.flip(0.3) else {}
    inputs: list[Data | None] = [d.normal(batch, steps, queries * size, kind=kind, scale=0.5)]
    inputs += [d.normal(batch, steps, values * n, kind=kind, scale=0.5) for n in (size, out)]
    inputs.append(d.normal(batch, values, size, out, kind=kind) if d.flip() else None)
    decay, beta = d.one(values, values * size), d.one(values, 1)
    inputs.append(d.uniform(-1, 0, batch, steps, decay, kind=kind) if rule.startswith("gated") else None)
    inputs.append(d.uniform(0, 1, batch, steps, beta, kind=kind) if rule.endswith("delta") else None)
    return Case("LinearAttention", inputs, how, (True, True), domain, 22 if domain else 27)


@row("LinearAttention")
def linear_attention(d: Draw) -> Case:
    return _linear(d, "com.microsoft", "f4")


@row("LinearAttention, ai.onnx")
def linear_attention_27(d: Draw) -> Case:
    return _linear(d, "", d.one("f4", "f4", "f2"))


@row("LinearAttentionGate")
def linear_attention_gate(d: Draw) -> Case:
    kind, both = d.one("f4", "f2", BF16), d.flip()
    shape, heads = (d.open("batch", 1, 3), d.open("steps", 1, 5)), d.int(1, 9)
    inputs = [d.normal(*shape, heads, kind=kind, scale=3), d.normal(heads), d.uniform(-2, 0, heads)]
    inputs += [d.normal(*shape, heads, kind=kind)] * both
    return Case("LinearAttentionGate", inputs, {}, (True, True) if both else (True,))


def _causal(d: Draw, domain: str, kind: str) -> Case:
    batch, length, taps = d.open("batch", 1, 3), d.open("length", 1, 8), d.int(1, 5)
    how: dict[str, Any] = {"activation": d.one("none", "silu", "swish")} if d.flip(0.7) else {}
    how |= {"dilation": d.int(1, 3)} if domain and d.flip() else {}
    last = bool(domain) and d.flip(0.4)
    how |= {"channels_last": 1} if last else {}
    inner = tuple(d.int(1, 5) for _ in range(d.int(1, 2) if last else 1))
    channels, before = int(np.prod(inner)), (taps - 1) * how.get("dilation", 1)
    shape, past = (batch, *inner, length), (batch, *inner, before)
    if last:
        shape, past = (batch, length, *inner), (batch, before, *inner)
    inputs = [d.normal(*shape, kind=kind), d.normal(channels, 1, taps, kind=kind, constant=d.flip())]
    inputs += [d.normal(channels, kind=kind) if d.flip() else None, d.normal(*past, kind=kind) if d.flip() else None]
    return Case("CausalConvWithState", inputs, how, (True, True), domain, 22 if domain else 27)


@row("CausalConvWithState")
def causal_conv(d: Draw) -> Case:
    return _causal(d, "com.microsoft", "f4")


@row("CausalConvWithState, ai.onnx")
def causal_conv_27(d: Draw) -> Case:
    return _causal(d, "", d.one("f4", "f4", "f2"))


@row("VarlenCausalConvWithState")
def varlen_causal_conv(d: Draw) -> Case:
    kind, channels, taps, batch = d.one("f4", "f2", BF16), d.int(1, 6), d.int(2, 4), d.int(1, 4)
    how: dict[str, Any] = {"activation": d.one("none", "silu", "swish")} if d.flip(0.7) else {}
    how |= {"dilation": d.int(1, 3)} if d.flip() else {}
    before, lengths = (taps - 1) * how.get("dilation", 1), [d.int(1, 6) for _ in range(batch)]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    inputs: list[Data | None] = [d.normal(int(starts[-1]), channels, kind=kind)]
    inputs += [d.normal(channels, 1, taps, kind=kind), d.given(starts, "i4", constant=d.flip())]
    inputs += [d.normal(channels, kind=kind) if d.flip() else None, d.normal(batch, channels, before, kind=kind)]
    if d.flip(0.3):
        how |= {"state_update_capacity": d.int(1, 4)}
        inputs.append(d.integers(0, 5, batch))
    return Case("VarlenCausalConvWithState", inputs, how, (True, True, len(inputs) > 5))


@row("GatedDeltaNet")
def gated_delta_net(d: Draw) -> Case:
    """Sequences of several lengths, or of one; gates inside or not."""
    kind, rule = d.one("f4", "f4", "f2", BF16), d.one("linear", "gated", "delta", "gated_delta")
    heads, groups, size, out, batch = d.int(1, 3), d.int(1, 2), d.int(1, 6), d.int(1, 6), d.int(1, 3)
    values, ragged = heads * groups, d.flip()
    starts = np.cumsum([0, *(d.int(1, 4) for _ in range(batch))])
    steps = d.int(1, 4)
    tokens: tuple[int, ...] = (int(starts[-1]),) if ragged else (batch * steps,)
    given, packed = d.flip() or not ragged, d.flip(0.3)
    if not ragged and not packed and d.flip():
        tokens = (batch, steps)
    given = given or packed
    how: dict[str, Any] = {"update_rule": rule} if rule != "gated_delta" or d.flip() else {}
    how |= {"scale": 0.3} if d.flip(0.3) else {}
    how |= {"qk_l2_norm": 1} if d.flip() else {}
    if packed:
        width = 2 * heads * size + values * out
        inputs: list[Data | None] = [d.normal(*tokens, width, kind=kind, scale=0.5), None, None]
    else:
        inputs = [d.normal(*tokens, n, m, kind=kind, scale=0.5) for n, m in ((heads, size),) * 2 + ((values, out),)]
    inputs.append(d.given(starts, "i4", constant=d.flip()) if ragged else None)
    gates, wide = kind if d.flip() else "f4", d.flip()
    decays = rule.startswith("gated")
    inputs.append(d.uniform(-1, 0, *tokens, values, *([size] if wide else []), kind=gates) if decays else None)
    inputs.append(d.uniform(0, 1, *tokens, values, kind=gates) if rule.endswith("delta") else None)
    how |= {"beta_activation": "sigmoid"} if rule.endswith("delta") and d.flip() else {}
    inputs.append(d.normal(batch, values, out, size) if given else None)
    if decays and d.flip():
        how |= {"gate_activation": d.one("softplus", "sigmoid", "kda", "qwen")}
        how |= {"gate_lower_bound": -2.0} if d.flip(0.3) else {}
        inputs += [d.normal(values, scale=0.3), d.normal(values, *([size] if wide and d.flip() else []))]
    return Case("GatedDeltaNet", inputs, how, (True, d.flip(0.8)))


@row("AttnLSTM")
def attn_lstm(d: Draw) -> Case:
    direction = d.one("forward", "reverse", "bidirectional")
    ways, hidden, size, depth, inner = 1 + (direction == "bidirectional"), *(d.int(1, 6) for _ in range(4))
    steps, batch, most = d.open("steps", 1, 5), d.open("batch", 1, 3), d.open("most", 1, 5)
    found = d.int(1, 6) if d.flip() else 0
    how = {"hidden_size": hidden, **_activations(d, ways)}
    how |= {} if direction == "forward" else {"direction": direction}
    inputs: list[Data | None] = [d.normal(steps, batch, size)]
    inputs.append(d.normal(ways, 4 * hidden, size + (found or depth), constant=True, scale=0.5))
    inputs.append(d.normal(ways, 4 * hidden, hidden, constant=True, scale=0.5))
    inputs.append(d.normal(ways, 8 * hidden, constant=True) if d.flip() else None)
    inputs.append(d.integers(1, steps + 1, batch) if d.flip(0.3) else None)
    inputs += [d.normal(ways, batch, hidden) if d.flip() else None for _ in "hc"]
    inputs.append(d.normal(ways, 3 * hidden, constant=True) if d.flip(0.3) else None)
    inputs += [d.normal(ways, n, inner, constant=True) for n in (hidden, depth)]
    inputs += [d.normal(ways, inner, constant=True), d.normal(batch, most, depth)]
    inputs.append(d.integers(1, most + 1, batch) if d.flip() else None)
    inputs.append(d.normal(ways, depth + hidden, found, constant=True) if found else None)
    return Case("AttnLSTM", inputs, how, (True, True, True), rtol=2e-4)
