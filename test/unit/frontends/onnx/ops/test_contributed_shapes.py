"""Operators of com.microsoft and ai.onnx.ml whose batch and sequence are symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from forests import forest
from single import by_onnxruntime, close, normal, single

import mlc


def symbolic(op: str, inputs: Mapping[str, Any], names: Mapping[str, str], outputs: int = 1, **how: Any) -> None:
    """Compiled once with the leading dimensions of inputs named (``x="B S"``), right at their present sizes."""
    model = single(op, inputs, outputs, **{"domain": "com.microsoft", **how})
    for info in model.graph.input:
        for dim, name in zip(info.type.tensor_type.shape.dim, names.get(info.name, "").split(), strict=False):
            dim.dim_param = name
    constants: Sequence[str] = how.get("constants", ())
    feeds = {n: a for n, a in inputs.items() if a is not None and n not in constants}
    for actual, wanted in zip(mlc.compile(model).run(feeds).values(), by_onnxruntime(model, feeds), strict=True):
        close(actual, wanted, 2e-5)


def test_multi_head_attention(rng: np.random.Generator) -> None:
    inputs = {"q": normal(rng, 2, 5, 24), "k": normal(rng, 2, 7, 24), "v": normal(rng, 2, 7, 24)}
    inputs |= {"b": None, "m": (rng.random((2, 7)) < 0.8).astype("i4")}
    symbolic("MultiHeadAttention", inputs, {"q": "B S", "k": "B T", "v": "B T", "m": "B T"}, num_heads=3)


def test_attention(rng: np.random.Generator) -> None:
    inputs = {"x": normal(rng, 2, 5, 24), "w": normal(rng, 24, 72), "b": normal(rng, 72)}
    symbolic("Attention", inputs, {"x": "B S"}, constants=["w", "b"], num_heads=3, unidirectional=1)


def test_embed_layer_normalization(rng: np.random.Generator) -> None:
    inputs = {"i": rng.integers(0, 9, (2, 5)).astype("i4"), "s": rng.integers(0, 2, (2, 5)).astype("i4")}
    inputs |= {"w": normal(rng, 9, 24), "p": normal(rng, 8, 24), "t": normal(rng, 2, 24)}
    inputs |= {"g": normal(rng, 24), "b": normal(rng, 24)}
    symbolic("EmbedLayerNormalization", inputs, {"i": "B S", "s": "B S"}, 2, constants=list("wptgb"))


def test_rotary_embedding(rng: np.random.Generator) -> None:
    inputs = {"x": normal(rng, 2, 5, 48), "p": rng.integers(0, 12, (2, 5)), "c": normal(rng, 12, 8)}
    inputs["s"] = normal(rng, 12, 8)
    symbolic("RotaryEmbedding", inputs, {"x": "B S", "p": "B S"}, constants=["c", "s"])


def test_matmul_n_bits(rng: np.random.Generator) -> None:
    inputs = {"x": normal(rng, 2, 5, 64), "w": rng.integers(0, 256, (9, 4, 8)).astype("u1"), "s": normal(rng, 36)}
    symbolic("MatMulNBits", inputs, {"x": "B S"}, constants=["w", "s"], K=64, N=9, bits=4, block_size=16)


def test_a_forest_of_many_trees(rng: np.random.Generator) -> None:
    how = forest(rng, "class", 300, 7, 3, "BRANCH_LEQ") | {"classlabels_int64s": [4, 5, 6], "domain": "ai.onnx.ml"}
    symbolic("TreeEnsembleClassifier", {"x": normal(rng, 11, 7)}, {"x": "B"}, 2, **how)


def test_stft(rng: np.random.Generator) -> None:
    inputs = {"x": normal(rng, 2, 50, 1), "step": np.array(7), "w": normal(rng, 16)}
    symbolic("STFT", inputs, {"x": "B L"}, constants=["step", "w"], domain="", version=17)
