"""A transformer learns the characters of the project's documentation, and writes some.

    python -m examples.training.transformer

Source of the network: Vaswani et al., 2017; normalization before each layer: Xiong et al., 2020.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from examples.training.arguments import chosen_steps
from mlc import nn, optim, train

ROOT = Path(__file__).parents[2]


class Block(nn.Module):
    """Attention and a perceptron, each on normalized vectors and added to them."""

    norms: list[nn.LayerNorm]
    attention: nn.MultiheadAttention
    expand: nn.Linear
    contract: nn.Linear

    def __init__(self, size: int, heads: int) -> None:
        self.norms = [nn.LayerNorm(size), nn.LayerNorm(size)]
        self.attention = nn.MultiheadAttention(size, heads, batch_first=True)
        self.expand, self.contract = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def __call__(self, x: Any) -> Any:
        x = x + self.attention(self.norms[0](x), causal=True)
        return x + self.contract(nn.gelu(self.expand(self.norms[1](x))))


class Transformer(nn.Module):
    """Scores [B, T, characters] of the next character at each position of sequences [B, T]."""

    characters: nn.Embedding
    positions: nn.Embedding
    blocks: list[Block]
    norm: nn.LayerNorm
    head: nn.Linear

    def __init__(self, characters: int, context: int, size: int, layers: int, heads: int = 4) -> None:
        self.characters, self.positions = nn.Embedding(characters, size), nn.Embedding(context, size)
        for table in (self.characters, self.positions):
            table.weight = table.weight * 0.1
        self.blocks = [Block(size, heads) for _ in range(layers)]
        self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, characters)

    def __call__(self, text: Any) -> Any:
        x = self.characters(text) + self.positions(mnp.arange(text.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Text:
    """The documentation as numbers of characters, and batches of pieces of it."""

    def __init__(self) -> None:
        text = "".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md")))
        kept = "".join(c if " " <= c <= "~" or c == "\n" else "?" for c in text)
        self.characters = sorted(set(kept))
        self.numbers = np.searchsorted(self.characters, list(kept)).astype(np.int32)

    def batches(self, context: int, batch: int) -> train.ArrayData:
        count = len(self.numbers) // context - 1
        pieces = [self.numbers[n : n + count * context].reshape(count, context) for n in (0, 1)]
        return train.ArrayData(tuple(pieces), batch)

    def written(self, numbers: Any) -> str:
        return "".join(self.characters[n] for n in numbers)


def loss(model: Any, text: Any, following: Any) -> Any:
    return nn.cross_entropy(model(text), following)


def trained(steps: int, context: int = 64, size: int = 64, batch: int = 32, progress: bool = True) -> train.Trainer:
    nn.manual_seed(0)
    text = Text()
    optimizer = optim.chain(
        optim.clip_by_global_norm(1.0), optim.adamw(optim.warmup_cosine(3e-3, min(50, steps // 4), steps, 3e-4))
    )
    model = Transformer(len(text.characters), context, size, layers=2)
    return train.Trainer(model, optimizer, loss).fit(text.batches(context, batch), steps, progress=progress)


def sample(model: Any, count: int, context: int = 64, seed: int = 0) -> str:
    """Characters that the model draws one after another."""
    model.eval()
    scores = mlc.jit(lambda model, text, at: model(text)[0, at], wait=True)
    random, text = np.random.default_rng(seed), [0] * context
    for _ in range(count):
        window = np.array([text[-context:]], np.int32)
        logits = scores(model, window, context - 1).numpy().astype(float) / 0.7
        chances = np.exp(logits - logits.max())
        text.append(int(random.choice(len(chances), p=chances / chances.sum())))
    return Text().written(text[context:])


if __name__ == "__main__":
    trainer = trained(chosen_steps(__doc__, 1000))
    print(f"loss {trainer.history[0][1]['loss']:.2f} -> {trainer.history[-1][1]['loss']:.2f} nats a character")
    print(sample(trainer.model, 300))
