"""Fine-tuning: an encoder of sentences from an ONNX file gets a head, and learns which sentences praise.

    python -m examples.training.fine_tuning

The encoder has the form of all-MiniLM-L6-v2 (6 layers of 384, the mean of the token vectors). Its weights are random,
so that the example runs offline; `benchmarks/models/minilm.py` builds the file with trained ones. The head and the last
layer are trained, the rest stays. Source: Devlin et al., 2018; Reimers and Gurevych, 2019.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import mlc
import mlc.numpy as mnp
from benchmarks.models.bert import bert
from examples.training.arguments import chosen_steps
from mlc import nn, optim, train

TOKENS, WORDS = 12, 300
PRAISE, BLAME = range(1, 31), range(31, 61)
"""Numbers of words; 0 is padding, the other words say nothing."""


def sentences(count: int, seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Words [count, TOKENS], the mask of those that are no padding, and whether more of them praise than blame."""
    random = np.random.Generator(np.random.Philox(seed))
    words = random.integers(1, WORDS, (count, TOKENS))
    opinions = random.integers(1, 61, (count, TOKENS))
    words = np.where(random.random((count, TOKENS)) < 0.4, opinions, words)
    mask = (np.arange(TOKENS) < random.integers(6, TOKENS + 1, (count, 1))).astype(np.int64)
    words = words * mask
    balance = np.isin(words, PRAISE).sum(1) - np.isin(words, BLAME).sum(1)
    kept = balance != 0
    return words[kept], mask[kept], (balance[kept] > 0).astype(np.int64)


class Classifier:
    """The encoder's file as a function of its weights, and the parameters of both parts."""

    def __init__(self, path: Path) -> None:
        nn.manual_seed(0)
        self.encoder = mlc.function(path)
        layers = 1 + max(int(n.split(".")[2]) for n in self.encoder.weights if n.startswith("encoder.layer."))
        size = len(self.encoder.weights["embeddings.LayerNorm.weight"].numpy())
        self.last = f"encoder.encoder.layer.{layers - 1}."
        self.parameters: Any = {"encoder": dict(self.encoder.weights), "head": nn.Linear(size, 2)}

    def scores(self, parameters: Any, words: Any, mask: Any) -> Any:
        """[B, 2] by the mean of the vectors of the tokens."""
        vectors, _ = self.encoder(words, mask, mnp.zeros_like(words), weights=parameters["encoder"])
        weights = mnp.astype(mask, mnp.float32)[..., None]
        return parameters["head"](mnp.sum(vectors * weights, axis=1) / mnp.sum(weights, axis=1))

    def loss(self, parameters: Any, words: Any, mask: Any, labels: Any) -> Any:
        return nn.cross_entropy(self.scores(parameters, words, mask), labels)

    def is_trained(self, name: str) -> bool:
        return name.startswith(("head.", self.last))


def classifier(
    batch: int = 32, layers: int = 6, hidden: int = 384, heads: int = 12, weights: Mapping[str, Any] | None = None
) -> Classifier:
    """Of an ONNX file in the form of MiniLM, with random weights unless ``weights`` are given."""
    words, positions = WORDS, TOKENS
    if weights is not None:
        words, positions = (len(weights[f"embeddings.{name}_embeddings.weight"]) for name in ("word", "position"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "encoder.onnx"
        onnx.save(bert(batch, TOKENS, layers, hidden, heads, words, positions, weights=weights), path)
        return Classifier(path)


def tuned(model: Classifier, steps: int, batch: int = 32, progress: bool = True) -> train.Trainer:
    optimizer = optim.adamw(optim.warmup_cosine(2e-3, steps // 10, steps))
    trainer = train.Trainer(model.parameters, optimizer, model.loss, trainable=model.is_trained)
    return trainer.fit(train.ArrayData(sentences(20000, seed=1), batch), steps, progress=progress)


def accuracy(model: Classifier, parameters: Any, batch: int = 32) -> float:
    """The share of right answers on sentences that were not trained on."""
    words, mask, labels = sentences(1000, seed=2)
    scores, right = mlc.jit(model.scores, wait=True), []
    for at in range(0, len(words) - batch + 1, batch):
        rows = slice(at, at + batch)
        right.append(scores(parameters, words[rows], mask[rows]).numpy().argmax(1) == labels[rows])
    return float(np.mean(right))


if __name__ == "__main__":
    count = chosen_steps(__doc__, 600)
    model = classifier()
    before = accuracy(model, model.parameters)
    print(f"{before:.1%} are right before, {accuracy(model, tuned(model, count).model):.1%} after fine-tuning")
