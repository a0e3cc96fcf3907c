"""Attention operators of com.microsoft against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from single import MS, agrees, by_onnxruntime, ms, normal, single

import mlc
from mlc.frontends.onnx import UnsupportedError


@pytest.mark.parametrize("mask", ["none", "keys", "lengths", "full"])
@pytest.mark.parametrize("bias", [True, False])
def test_multi_head_attention(rng: np.random.Generator, mask: str, bias: bool) -> None:
    q, k, v = normal(rng, 2, 5, 24), normal(rng, 2, 7, 24), normal(rng, 2, 7, 30)
    masks = {
        "keys": (np.arange(7) < np.array([[4], [7]])).astype("i4"),
        "lengths": np.array([3, 7], "i4"),
        "full": (rng.random((2, 5, 7)) < 0.7).astype("i4"),
    }
    inputs = {"q": q, "k": k, "v": v, "b": normal(rng, 78) if bias else None, "m": masks.get(mask)}
    inputs["a"] = normal(rng, 1, 3, 5, 7) if mask == "none" else None
    ms("MultiHeadAttention", inputs, num_heads=3, compiled=bias)


def test_multi_head_attention_with_a_past(rng: np.random.Generator) -> None:
    q, k, v = (normal(rng, 2, 4, 24) for _ in range(3))
    past = normal(rng, 2, 3, 6, 8)
    inputs = {"q": q, "k": k, "v": v, "b": None, "m": None, "a": None, "pk": past, "pv": past[::-1].copy()}
    ms("MultiHeadAttention", inputs, 3, num_heads=3, unidirectional=1, scale=0.3)


@pytest.mark.parametrize("mask", ["none", "keys", "lengths", "bias"])
@pytest.mark.parametrize(("rows", "beams"), [(1, 0), (1, 3), (4, 0), (4, 3)])
def test_multi_head_attention_with_a_shared_past(rng: np.random.Generator, mask: str, rows: int, beams: int) -> None:
    """New keys are written after those that count; a prompt does not look at the beams."""
    q, k, v = (normal(rng, 6, rows, 24) for _ in range(3))
    past, length = [normal(rng, 6, 3, 11, 8) for _ in range(2)], 5
    masks = {
        "keys": (rng.random((6, length + rows)) < 0.7).astype("i4"),
        "lengths": rng.integers(1, length + rows, 6).astype("i4"),
    }
    inputs = {"q": q, "k": k, "v": v, "b": normal(rng, 72), "m": masks.get(mask)}
    inputs["a"] = normal(rng, 1, 3, rows, length + rows) if mask == "bias" else None
    inputs |= {"pk": past[0], "pv": past[1], "n": np.array([length], "i4")}
    inputs["c"] = rng.integers(0, beams, (2, beams, 11)).astype("i4") if beams else None
    how = {"num_heads": 3, "unidirectional": int(mask == "bias")}
    wanted = None
    if mask == "lengths" and beams and rows == 1:  # onnxruntime takes these lengths for a mask of keys
        from_beams = np.arange(6)[:, None] // 3 * 3 + inputs["c"].reshape(6, 11)
        taken = [np.take_along_axis(x, from_beams[:, None, :, None], 0) for x in past]
        given = {n: a for n, a in inputs.items() if a is not None and n != "c"} | {"pk": taken[0], "pv": taken[1]}
        wanted = by_onnxruntime(single("MultiHeadAttention", {**inputs, "c": None}, 3, domain=MS, **how), given)[:1]
    ms("MultiHeadAttention", inputs, 3 if wanted is None else 1, wanted=wanted, compiled=mask != "keys", **how)


def test_refused_pasts(rng: np.random.Generator) -> None:
    x, past, count = normal(rng, 2, 1, 24), normal(rng, 2, 3, 6, 8), np.array([3], "i4")
    inputs = dict.fromkeys("qkv", x) | dict.fromkeys("bma")
    with pytest.raises(UnsupportedError, match="past_sequence_length without a past; give past_key"):
        mlc.compile(
            single("MultiHeadAttention", {**inputs, "pk": None, "pv": None, "n": count}, domain=MS, num_heads=3)
        )
    beams = {**inputs, "pk": past, "pv": past, "n": None, "c": np.zeros((1, 2, 6), "i4")}
    with pytest.raises(UnsupportedError, match="cache_indirection without past_sequence_length; give both"):
        mlc.compile(single("MultiHeadAttention", beams, domain=MS, num_heads=3))


def test_multi_head_attention_of_16_bits(rng: np.random.Generator) -> None:
    inputs = {n: rng.standard_normal((2, rows, 24)).astype("f2") for n, rows in (("q", 5), ("k", 7), ("v", 7))}
    ms("MultiHeadAttention", inputs, num_heads=3, rtol=5e-3)


def test_multi_head_attention_of_packed_inputs(rng: np.random.Generator) -> None:
    x = normal(rng, 2, 5, 3, 3, 8)
    parts = [x[:, :, :, n].reshape(2, 5, 24) for n in range(3)]
    scores = np.einsum("bsnh,btnh->bnst", x[:, :, :, 0], x[:, :, :, 1]) / np.sqrt(8)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights = powers / powers.sum(-1, keepdims=True)
    wanted = np.einsum("bnst,btnh->bsnh", weights, parts[2].reshape(2, 5, 3, 8)).reshape(2, 5, 24)
    ms("MultiHeadAttention", {"x": x}, num_heads=3, wanted=[wanted.astype("f4")])


@pytest.mark.parametrize("mask", ["none", "keys", "lengths", "ends"])
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention(rng: np.random.Generator, mask: str, unidirectional: int) -> None:
    masks = {
        "keys": (np.arange(5) < np.array([[4], [5]])).astype("i4"),
        "lengths": np.array([3, 5], "i4"),
        "ends": np.array([4, 5, 0, 2], "i4"),
    }
    inputs = {"x": normal(rng, 2, 5, 16), "w": normal(rng, 16, 72), "b": normal(rng, 72), "m": masks.get(mask)}
    how = {"num_heads": 3, "unidirectional": 0 if mask == "ends" else unidirectional}
    ms("Attention", inputs, constants=["w", "b"], compiled=mask != "lengths", **how)


def test_attention_with_a_past(rng: np.random.Generator) -> None:
    inputs = {"x": normal(rng, 2, 4, 16), "w": normal(rng, 16, 72), "b": normal(rng, 72), "m": None}
    inputs["past"] = normal(rng, 2, 2, 3, 6, 8)
    ms("Attention", inputs, 2, constants=["w", "b"], num_heads=3, unidirectional=1)


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("start", [True, False])
@pytest.mark.parametrize("rank", [3, 4])
def test_rotary_embedding(rng: np.random.Generator, interleaved: int, start: bool, rank: int) -> None:
    x = normal(rng, 2, 5, 48) if rank == 3 else normal(rng, 2, 3, 5, 16)
    positions = np.array([4], np.int64) if start else rng.integers(0, 12, (2, 5))
    inputs = {"x": x, "p": positions, "c": normal(rng, 12, 8), "s": normal(rng, 12, 8)}
    ms("RotaryEmbedding", inputs, constants=["c", "s"], interleaved=interleaved, compiled=rank == 3)


def test_partial_rotary_embedding(rng: np.random.Generator) -> None:
    inputs = {"x": normal(rng, 2, 5, 48), "p": rng.integers(0, 12, (2, 5)), "c": normal(rng, 12, 4)}
    inputs["s"] = normal(rng, 12, 4)
    ms("RotaryEmbedding", inputs, constants=["c", "s"], rotary_embedding_dim=8, num_heads=3)


def group_query(rng: np.random.Generator, rows: int, past: int, lengths: list[int], packed: bool) -> dict[str, Any]:
    """Inputs for 4 query heads and 2 others of size 16."""
    parts = [normal(rng, 2, rows, n * 16) for n in (4, 2, 2)]
    inputs: dict[str, Any] = {"q": np.concatenate(parts, 2) if packed else parts[0]}
    inputs |= {"k": None, "v": None} if packed else {"k": parts[1], "v": parts[2]}
    inputs |= {"pk": normal(rng, 2, 2, past, 16), "pv": normal(rng, 2, 2, past, 16)}
    inputs |= {"l": np.array(lengths, "i4"), "t": np.array(max(lengths) + 1, "i4")}
    return inputs


@pytest.mark.parametrize("how", [{}, {"local_window_size": 3}, {"softcap": 2.0}])
@pytest.mark.parametrize("packed", [True, False])
def test_group_query_attention_of_a_step(rng: np.random.Generator, how: dict[str, Any], packed: bool) -> None:
    inputs = group_query(rng, 1, 6, [6, 6], packed)
    ms("GroupQueryAttention", inputs, 3, constants=["t"], num_heads=4, kv_num_heads=2, compiled=packed, **how)


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize(("rows", "past"), [(5, 0), (1, 6)])
def test_group_query_attention_with_rotation(rng: np.random.Generator, interleaved: int, rows: int, past: int) -> None:
    inputs = group_query(rng, rows, past, [rows + past - 1] * 2, False)
    inputs |= {"c": normal(rng, 12, 8), "s": normal(rng, 12, 8)}
    how = {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1, "rotary_interleaved": interleaved}
    agrees("GroupQueryAttention", inputs, 3, domain=MS, constants=["t", "c", "s"], **how)


@pytest.mark.parametrize("sink", ["none", "smooth", "given"])
@pytest.mark.parametrize(("rows", "past"), [(5, 0), (1, 6)])
@pytest.mark.parametrize("heads", [0, 1, 4])
def test_group_query_attention_with_bias_and_sink(
    rng: np.random.Generator, sink: str, rows: int, past: int, heads: int
) -> None:
    """As gpt-oss has them; ``heads`` of the bias, 0: none. ``position_ids`` are the positions of the rotation."""
    inputs = group_query(rng, rows, past, [rows + past - 1] * 2, False)
    inputs |= {"c": normal(rng, 24, 8), "s": normal(rng, 24, 8)}
    inputs["i"] = np.arange(past, past + rows)[None] + np.zeros((2, 1), np.int64)
    inputs["b"] = normal(rng, 1, heads, rows, rows + past) if heads else None
    inputs["h"] = normal(rng, 4) if sink == "given" else None
    how = {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1} | ({"smooth_softmax": 1} if sink == "smooth" else {})
    ms("GroupQueryAttention", inputs, 3, constants=["t", "c", "s"], compiled=heads == 1, **how)


def test_group_query_attention_of_sequences_of_different_lengths(rng: np.random.Generator) -> None:
    """Against NumPy in float64: onnxruntime leaves what is after the shorter sequence uninitialised."""
    inputs, lengths = group_query(rng, 1, 6, [3, 6], False), [4, 7]
    wanted = np.zeros((2, 1, 4, 16))
    for b, length in enumerate(lengths):
        for head in range(4):
            keys, values = (
                np.concatenate([inputs[p][b, head // 2, : length - 1], inputs[n][b, :, head // 2 * 16 :][:, :16]])
                for p, n in (("pk", "k"), ("pv", "v"))
            )
            powers = np.exp(keys.astype("f8") @ inputs["q"][b, 0, head * 16 :][:16] / 4)
            wanted[b, 0, head] = powers / powers.sum() @ values
    result = wanted.reshape(2, 1, 64).astype("f4")
    ms("GroupQueryAttention", inputs, constants=["t"], num_heads=4, kv_num_heads=2, wanted=[result])
