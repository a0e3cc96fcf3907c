"""Transformers: one of characters from the beginning, and a sentence encoder whose last layers are trained on."""

from __future__ import annotations

from typing import Any

from benchmarks.models import minilm
from benchmarks.training_twins.twin import Losses, Twin, numbers, of_trainer, torch_losses
from examples.training import fine_tuning, transformer
from mlc import nn, optim, train


def of_transformer(context: int = 32, size: int = 32, batch: int = 16) -> Twin:
    text = transformer.Text()
    data = text.batches(context, batch)

    def model() -> Any:
        nn.manual_seed(0)
        return transformer.Transformer(len(text.characters), context, size, layers=2)

    def make(threads: int) -> tuple[train.Trainer, Any]:
        return train.Trainer(model(), optim.adamw(1e-3, weight_decay=1e-2), transformer.loss, threads=threads), data

    def theirs(steps: int) -> Losses:
        import torch
        from torch import nn as T

        class Block(T.Module):
            def __init__(self) -> None:
                super().__init__()
                self.norms = T.ModuleList([T.LayerNorm(size), T.LayerNorm(size)])
                self.attention = T.MultiheadAttention(size, 4, batch_first=True)
                self.expand, self.contract = T.Linear(size, 4 * size), T.Linear(4 * size, size)

            def forward(self, x: Any, mask: Any) -> Any:
                y = self.norms[0](x)
                x = x + self.attention(y, y, y, need_weights=False, attn_mask=mask)[0]
                return x + self.contract(T.functional.gelu(self.expand(self.norms[1](x))))

        class Transformer(T.Module):
            def __init__(self) -> None:
                super().__init__()
                self.characters, self.positions = T.Embedding(len(text.characters), size), T.Embedding(context, size)
                self.blocks = T.ModuleList([Block(), Block()])
                self.norm, self.head = T.LayerNorm(size), T.Linear(size, len(text.characters))

            def forward(self, words: Any) -> Any:
                mask = torch.ones(context, context).triu(1).bool()
                x = self.characters(words) + self.positions(torch.arange(context))
                for block in self.blocks:
                    x = block(x, mask)
                return self.head(self.norm(x))

        net = Transformer()
        net.load_state_dict(numbers(model().state_dict()))
        scores = lambda words: net(words).flatten(0, 1)  # noqa: E731
        loss = lambda x, y: T.functional.cross_entropy(scores(x), y.flatten().long())  # noqa: E731
        return torch_losses(steps, data(0), torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=1e-2), loss)

    return of_trainer(make, theirs)


def of_fine_tuning(layers: int = 2, hidden: int = 128, heads: int = 4, batch: int = 32, trained: Any = None) -> Twin:
    """Beside transformers' BERT; ``trained``: the weights of the encoder."""
    data = train.ArrayData(fine_tuning.sentences(4000, seed=1), batch)
    model = fine_tuning.classifier(batch, layers, hidden, heads, trained)

    def make(threads: int) -> tuple[train.Trainer, Any]:
        optimizer = optim.adamw(5e-4, weight_decay=1e-2)
        options = {"trainable": model.is_trained, "threads": threads}
        return train.Trainer(model.parameters, optimizer, model.loss, **options), data

    def theirs(steps: int) -> Losses:
        import torch
        from transformers import BertConfig, BertModel

        config = BertConfig(
            vocab_size=len(model.encoder.weights["embeddings.word_embeddings.weight"].numpy()),
            hidden_size=hidden,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * hidden,
            max_position_embeddings=len(model.encoder.weights["embeddings.position_embeddings.weight"].numpy()),
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        bert, head = BertModel(config), torch.nn.Linear(hidden, 2)
        products = ("dense.weight", "query.weight", "key.weight", "value.weight")
        weights = {n: w.numpy().T if n.endswith(products) else w.numpy() for n, w in model.encoder.weights.items()}
        bert.load_state_dict(numbers(weights), strict=False)
        head.load_state_dict(numbers(model.parameters["head"].state_dict()))
        trained = [p for n, p in bert.named_parameters() if model.is_trained(f"encoder.{n}")]

        def loss(words: Any, mask: Any, labels: Any) -> Any:
            vectors = bert(words, mask).last_hidden_state
            mean = (vectors * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            return torch.nn.functional.cross_entropy(head(mean), labels)

        optimizer = torch.optim.AdamW([*trained, *head.parameters()], 5e-4, weight_decay=1e-2)
        return torch_losses(steps, data(0), optimizer, loss)

    return of_trainer(make, theirs)


def of_minilm() -> Twin:
    """Six layers of 384: all-MiniLM-L6-v2 where its package is installed, else its form with random weights."""
    try:
        trained = minilm.weights()
    except ModuleNotFoundError:
        trained = None
    return of_fine_tuning(6, 384, 12, trained=trained)
