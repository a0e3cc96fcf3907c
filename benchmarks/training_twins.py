"""The networks of ``examples/training`` for mlc and for torch, from the same weights, data and random draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

import mlc
from benchmarks.models import minilm
from examples.training import adversarial, digits, fine_tuning, heat, private, regression, second_order, transformer
from mlc import nn, optim, train
from mlc.numpy import random

Losses = list[float]


@dataclass(frozen=True)
class Twin:
    """The losses of some steps by mlc on some threads, and by torch (or a reference in float64); the trainer and data
    that a run is resumed with, where the example has a trainer."""

    ours: Callable[[int, int], Losses]
    theirs: Callable[[int], Losses]
    trainer: Callable[[int], tuple[train.Trainer, Any]] | None = None


def numbers(state: dict[str, Any]) -> dict[str, Any]:
    """A state for torch, in its own memory."""
    import torch

    return {name: torch.tensor(value) for name, value in state.items()}


def tensor(array: Any) -> Any:
    """For torch: floats in its default type, which is float64 for a reference (``in_float64``)."""
    import torch

    made = torch.as_tensor(array)
    return made.to(torch.get_default_dtype()) if made.is_floating_point() else made


@contextmanager
def in_float64() -> Iterator[None]:
    """New parameters of torch, and what ``tensor`` makes, are in float64."""
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def torch_losses(steps: int, batches: Iterable[Any], optimizer: Any, loss: Callable[..., Any]) -> Losses:
    """A loop of eager torch; ``loss`` takes the tensors of a batch."""
    found = []
    for batch in islice(batches, steps):
        optimizer.zero_grad()
        value = loss(*map(tensor, batch))
        value.backward()
        optimizer.step()
        found.append(value.item())
    return found


def of_trainer(make: Callable[[int], tuple[train.Trainer, Any]], theirs: Callable[[int], Losses]) -> Twin:
    def ours(steps: int, threads: int) -> Losses:
        trainer, data = make(threads)
        return [m["loss"] for _, m in trainer.fit(data, steps, progress=False).history]

    return Twin(ours, theirs, make)


def of_digits() -> Twin:
    """Without dropout, whose draws differ."""

    def network() -> Any:
        model = digits.network()
        for layer in model:
            if isinstance(layer, nn.Dropout):
                layer.p = 0.0
        return model

    data = train.ArrayData(digits.images(2000, seed=1), 64)

    def make(threads: int) -> tuple[train.Trainer, Any]:
        return train.Trainer(network(), optim.adamw(1e-3), digits.loss, threads=threads), data

    def theirs(steps: int) -> Losses:
        import torch
        from torch import nn as T

        part = lambda c, f: (T.Conv2d(c, f, 3, padding=1), T.BatchNorm2d(f), T.ReLU(), T.MaxPool2d(2))  # noqa: E731
        size = 32 * (digits.SIZE // 4) ** 2
        model = T.Sequential(*part(1, 16), *part(16, 32), T.Flatten(), T.Identity(), T.Linear(size, 10))
        model.load_state_dict(numbers(network().state_dict()))
        loss = lambda x, y: T.functional.cross_entropy(model(x), y)  # noqa: E731
        return torch_losses(steps, data(0), torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=1e-2), loss)

    return of_trainer(make, theirs)


def of_regression() -> Twin:
    def model() -> Any:
        nn.manual_seed(0)
        return nn.Linear(10, 1)

    def make(threads: int) -> tuple[train.Trainer, Any]:
        decay = {"weight_decay": 2 * regression.DECAY, "decays": lambda name, _: name == "weight"}
        optimizer = optim.sgd(0.05, 0.9, **decay)
        return train.Trainer(model(), optimizer, regression.loss, threads=threads), [regression.data()]

    def theirs(steps: int) -> Losses:
        import torch

        linear = torch.nn.Linear(10, 1)
        linear.load_state_dict(numbers(model().state_dict()))
        decayed = {"params": [linear.weight], "weight_decay": 2 * regression.DECAY}
        optimizer = torch.optim.SGD([decayed, {"params": [linear.bias]}], 0.05, 0.9)
        loss = lambda x, y: torch.nn.functional.mse_loss(linear(x)[:, 0], y)  # noqa: E731
        return torch_losses(steps, [regression.data()] * steps, optimizer, loss)

    return of_trainer(make, theirs)


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


def of_heat() -> Twin:
    def model() -> Any:
        nn.manual_seed(0)
        return nn.Sequential(nn.Linear(2, 24), nn.tanh, nn.Linear(24, 24), nn.tanh, nn.Linear(24, 1))

    def make(threads: int) -> tuple[train.Trainer, Any]:
        return train.Trainer(model(), optim.adam(1e-3), heat.loss, threads=threads), heat.points

    def theirs(steps: int) -> Losses:
        import torch
        from torch import nn as T

        net = T.Sequential(T.Linear(2, 24), T.Tanh(), T.Linear(24, 24), T.Tanh(), T.Linear(24, 1))
        net.load_state_dict(numbers(model().state_dict()))

        def slope(y: Any, x: Any) -> Any:
            return torch.autograd.grad(y.sum(), x, create_graph=True)[0]

        def loss(x: Any, t: Any) -> Any:
            x, t = x.requires_grad_(), t.requires_grad_()
            found = net(torch.stack([x, t], 1))[:, 0]
            u = torch.sin(torch.pi * x) + t * x * (1 - x) * found
            return (slope(u, t) - heat.DIFFUSIVITY * slope(slope(u, x), x)).square().mean()

        return torch_losses(steps, heat.points(0), torch.optim.Adam(net.parameters(), 1e-3), loss)

    return of_trainer(make, theirs)


def of_private() -> Twin:
    """The largest norm of a sample's gradient in each step, which is what the example follows."""

    def theirs(steps: int) -> Losses:
        import torch
        from torch import nn as T

        nn.manual_seed(0)
        ours = nn.Sequential(nn.Linear(2, 16), nn.tanh, nn.Linear(16, 2))
        net = T.Sequential(T.Linear(2, 16), T.Tanh(), T.Linear(16, 2))
        net.load_state_dict(numbers(ours.state_dict()))
        optimizer, found = torch.optim.SGD(net.parameters(), 0.5, 0.9), []
        batches = train.ArrayData(private.data(2000, 1), private.BATCH)(0)
        shapes = [tuple(p.shape) for p in net.parameters()]
        draws = mlc.jit(lambda key: [random.normal(random.fold_in(key, n), s) for n, s in enumerate(shapes)], wait=True)

        def one(parameters: Any, x: Any, label: Any) -> Any:
            return T.functional.cross_entropy(torch.func.functional_call(net, parameters, (x[None],)), label[None])

        for n, (x, labels) in enumerate(islice(batches, steps)):
            parameters = {name: p.detach() for name, p in net.named_parameters()}
            each = torch.func.vmap(torch.func.grad(one), (None, 0, 0))
            gradients = each(parameters, tensor(x), tensor(labels))
            norms = sum(g.flatten(1).square().sum(1) for g in gradients.values()).sqrt()
            factor = (private.CLIP / norms).clamp(max=1)
            noise = draws(random.fold_in(random.key(0), n))
            for (name, p), drawn in zip(net.named_parameters(), noise, strict=True):
                hidden = tensor(drawn.numpy()) * private.NOISE * private.CLIP
                p.grad = (torch.tensordot(factor, gradients[name], 1) + hidden) / len(x)
            optimizer.step()
            found.append(norms.max().item())
        return found

    return Twin(lambda steps, threads: private.trained(steps, threads)[1], theirs)


def of_adversarial() -> Twin:
    def theirs(steps: int) -> Losses:
        import torch
        from torch import nn as T

        def perceptron(state: dict[str, Any], inputs: int, outputs: int) -> Any:
            act = lambda: T.LeakyReLU(0.2)  # noqa: E731
            net = T.Sequential(T.Linear(inputs, 48), act(), T.Linear(48, 48), act(), T.Linear(48, outputs))
            net.load_state_dict(numbers(state))
            return net

        nn.manual_seed(0)
        made = adversarial.perceptron(adversarial.NOISE, 2), adversarial.perceptron(2, 1)
        g, d = (perceptron(m.state_dict(), *s) for m, s in zip(made, ((adversarial.NOISE, 2), (2, 1)), strict=True))
        of_g, of_d = (torch.optim.Adam(net.parameters(), 1e-3, (0.5, 0.9)) for net in (g, d))
        shape = adversarial.BATCH, adversarial.NOISE

        @mlc.jit(wait=True)
        def draws(key: Any) -> Any:
            noises = (random.normal(random.fold_in(key, n), shape) for n in (1, 2))
            return adversarial.ring(random.fold_in(key, 0)), *noises

        def loss(n: int) -> Any:
            real, first, second = (tensor(x.numpy()) for x in draws(random.fold_in(random.key(1), n)))
            value = T.functional.softplus(-d(real)).mean() + T.functional.softplus(d(g(first).detach())).mean()
            for optimizer, each in ((of_d, value), (of_g, None)):
                optimizer.zero_grad()
                (T.functional.softplus(-d(g(second))).mean() if each is None else each).backward()
                optimizer.step()
            return value.item()

        return [loss(n) for n in range(steps)]

    return Twin(lambda steps, threads: [of_d for of_d, _ in adversarial.trained(steps, threads)[1]], theirs)


def of_second_order() -> Twin:
    """Gauss–Newton, beside the same formula in float64 with a solver of dense matrices (torch)."""
    damping = 1e-2

    def ours(steps: int, threads: int) -> Losses:
        newton = optim.gauss_newton(second_order.predict, nn.mse_loss, damping=damping, iterations=60)
        return second_order.losses(newton, steps, has_batch=True, threads=threads)

    def theirs(steps: int) -> Losses:
        import torch

        nn.manual_seed(0)
        state = nn.Sequential(nn.Linear(1, 16), nn.tanh, nn.Linear(16, 1)).state_dict()
        x, y = torch.tensor(second_order.X).double(), torch.tensor(second_order.Y).double()
        shapes = [v.shape for v in state.values()]
        vector, found = torch.cat([torch.tensor(v).double().flatten() for v in state.values()]), []

        def predict(vector: Any) -> Any:
            sizes = [int(np.prod(s)) for s in shapes]
            w, b, v, c = (p.reshape(s) for p, s in zip(vector.split(sizes), shapes, strict=True))
            return (torch.tanh(x @ w.T + b) @ v.T + c)[:, 0]

        for _ in range(steps):
            jacobian, error = torch.func.jacrev(predict)(vector), predict(vector) - y
            found.append(error.square().mean().item())
            matrix = 2 / len(y) * jacobian.T @ jacobian + damping * torch.eye(len(vector)).double()
            vector = vector - torch.linalg.solve(matrix, 2 / len(y) * jacobian.T @ error)
        return found

    return Twin(ours, theirs)


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


EXAMPLES: dict[str, Callable[[], Twin]] = {
    "digits": of_digits,
    "regression": of_regression,
    "transformer": of_transformer,
    "heat": of_heat,
    "private": of_private,
    "adversarial": of_adversarial,
    "second_order": of_second_order,
    "fine_tuning": of_fine_tuning,
    "minilm": of_minilm,
}
