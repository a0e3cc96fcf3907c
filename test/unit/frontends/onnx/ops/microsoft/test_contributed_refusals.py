"""Operators of com.microsoft in forms that are not translated say what to do; forms that onnxruntime lacks on CPUs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper
from single import MS, single, ways

from mlc.frontends.onnx import UnsupportedError, import_model

Array = np.ndarray[Any, Any]
X, W = np.zeros((1, 2, 4), "f4"), np.zeros((2, 1, 3), "f4")
GATES = {"decay": np.zeros((2, 1), "f4"), "beta": np.zeros((2, 1), "f4")}
ROWS = {"q": np.zeros((2, 1, 4), "f4"), "k": np.zeros((2, 1, 4), "f4"), "v": np.zeros((2, 1, 4), "f4")}
REFUSED: list[tuple[str, dict[str, Array | None], dict[str, Any], str]] = [
    ("CausalConvWithState", {"x": X, "w": W}, {"activation": "relu"}, "none, silu, swish are known"),
    ("CausalConvWithState", {"x": X, "w": W}, {"ndim": 2}, "'ndim' = 2 is not supported; only 1 is"),
    ("GatedAdd", {"x": X, "y": X, "g": X[..., :1], "w": X[0, :, :1]}, {}, "give the gate itself"),
    ("GatedDeltaNet", {**ROWS, "cu": None, **GATES}, {}, "neither where sequences begin .* nor states"),
    ("GatedDeltaNet", {**ROWS, "cu": np.array([0, 2], "i4"), **GATES}, {"state_update_capacity": 2}, "state_update"),
    ("LinearAttention", {"q": X, "k": X, "v": X}, {"q_num_heads": 1, "kv_num_heads": 1, "update_rule": "best"},
     "linear, gated, delta, gated_delta are known"),
    ("MRotaryEmbedding", {"x": X, "p": np.zeros((3, 1, 2), "i8"), "c": X[0, :, :2], "s": X[0, :, :2]},
     {"mrope_section": [1, 1, 1], "num_heads": 1}, "three numbers that sum to 2 are right"),
    ("MoE", {"x": X[0], "r": X[0, :, :2], "w": X[:1].repeat(2, 0), "b": None, "u": X.swapaxes(1, 2).repeat(2, 0)},
     {"activation_type": "relu2"}, "relu, gelu, silu, identity, swiglu are supported"),
    ("BeamSearch", {"x": np.zeros((1, 2), "i4")}, {"model_type": 1}, "compile both alone, and search in a program"),
    ("Sampling", {"x": np.zeros((1, 2), "i4")}, {}, "compile the decoder alone"),
    ("WhisperBeamSearch", {"x": np.zeros((1, 2), "f4")}, {}, "compile encoder and decoder alone"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "how", "why"), REFUSED, ids=lambda x: x if isinstance(x, str) else "")
def test_refusals(op: str, inputs: dict[str, Array | None], how: dict[str, Any], why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        import_model(single(op, inputs, domain=MS, **how))


def _experts(rng: np.random.Generator, fusion: int, **rest: Array | None) -> Array:
    """The result of a mixture of experts with swiglu, whose halves are interleaved, in a row, or of two products."""
    inputs: dict[str, Array | None] = {"x": rest["x"], "r": rest["r"], "w": rest["w"], "wb": rest["wb"]}
    inputs |= {"u": rest["u"], "ub": None, "v": rest.get("v"), "vb": rest.get("vb")}
    how = {"k": 2, "activation_type": "swiglu", "swiglu_fusion": fusion, "activation_alpha": 1.7, "swiglu_limit": 0.8}
    constants = [n for n in ("w", "u", "v") if inputs[n] is not None]
    feeds = {n: x for n, x in inputs.items() if x is not None and n not in constants}
    model = single("MoE", inputs, domain=MS, constants=constants, **how)
    found = ways(model, feeds, compiled=False)[0]
    return found["y0"]


@pytest.mark.parametrize("tokens", [3, 40])
def test_halves_of_swiglu_in_three_layouts(rng: np.random.Generator, tokens: int) -> None:
    experts, size, inner = 4, 5, 6
    gate, up = (rng.standard_normal((experts, inner, size)).astype("f4") for _ in "gu")
    biases = [rng.standard_normal((experts, inner)).astype("f4") for _ in "gu"]
    given = {
        "x": rng.standard_normal((tokens, size)).astype("f4"),
        "r": rng.standard_normal((tokens, experts)).astype("f4"),
    }
    given["u"] = rng.standard_normal((experts, size, inner)).astype("f4")
    together = {"w": np.stack([gate, up], 2).reshape(experts, -1, size), "wb": np.stack(biases, 2).reshape(experts, -1)}
    interleaved = _experts(rng, 1, **given, **together)
    row = _experts(rng, 2, **given, w=np.concatenate([gate, up], 1), wb=np.concatenate(biases, 1))
    apart = _experts(rng, 0, **given, w=gate, wb=biases[0], v=up, vb=biases[1])
    for other in (row, apart):
        np.testing.assert_allclose(other, interleaved, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("steps", [2, 5])
def test_a_window_of_states(rng: np.random.Generator, steps: int) -> None:
    """The states after the last three steps are those of shorter calls, and zeros before the first."""
    x, w = rng.standard_normal((1, 2, steps)).astype("f4"), rng.standard_normal((2, 1, 3)).astype("f4")
    past = rng.standard_normal((3, 1, 2, 2)).astype("f4")
    model = single("CausalConvWithState", {"x": x, "w": w, "b": None, "p": past}, 2, domain=MS, state_window=3)
    states = ways(model, {"x": x, "w": w, "p": past}, compiled=False)[0]["y1"]
    whole = np.concatenate([past[2], x], 2)
    for n in range(3):
        end = steps - 2 + n
        np.testing.assert_array_equal(states[n], whole[:, :, end : end + 2] if end > 0 else 0)


def test_a_window_of_states_of_linear_attention(rng: np.random.Generator) -> None:
    q, k, v = (rng.standard_normal((2, 4, 6)).astype("f4") for _ in "qkv")
    how = {"domain": MS, "q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"}
    model = single("LinearAttention", {"q": q, "k": k, "v": v}, 2, state_window=6, **how)
    states = ways(model, {"q": q, "k": k, "v": v}, compiled=False)[0]["y1"]
    assert not states[:2].any()
    for n in range(4):
        part = {name: x[:, : n + 1] for name, x in (("q", q), ("k", k), ("v", v))}
        alone = ways(single("LinearAttention", part, 2, **how), part, compiled=False)[0]["y1"]
        np.testing.assert_allclose(states[n + 2], alone, rtol=1e-5, atol=1e-6)


def test_a_decoder_without_heads_is_refused() -> None:
    names = ["ids", "at", "mask", "past"]
    infos = [helper.make_tensor_value_info(n, 6, ["b", "s"]) for n in names]
    graph = helper.make_graph([], "decoder", infos, infos[:1])
    inputs: dict[str, Array | None] = {"x": np.ones((1, 2), "i4"), "n": np.array([5], "i4")}
    how = {"domain": MS, "constants": ["n"], "decoder": graph, "eos_token_id": 1, "pad_token_id": 0}
    with pytest.raises(UnsupportedError, match=r"\[2, batch, heads, past, size\] with known heads and size is right"):
        import_model(single("GreedySearch", inputs, **how))
