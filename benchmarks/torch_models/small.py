"""Small networks of the usual kinds, for training: recurrent cells, autoencoders, attention, embeddings."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.torch_models.patches import Block


class Autoencoder(nn.Module):
    """Convolutions down, transposed ones up."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ELU(), nn.Conv2d(8, 16, 3, 2, 1), nn.BatchNorm2d(16))
        self.up = nn.Sequential(nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.SiLU(), nn.ConvTranspose2d(8, 3, 4, 2, 1))

    def forward(self, x: Tensor) -> Tensor:
        return F.mse_loss(self.up(self.down(x)).sigmoid(), x)


class Vae(nn.Module):
    """Variational autoencoder (Kingma and Welling, 2013); the noise is an argument."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(20, 32), nn.Linear(4, 20)
        self.mean, self.spread = nn.Linear(32, 4), nn.Linear(32, 4)

    def forward(self, x: Tensor, noise: Tensor) -> Tensor:
        hidden = F.softplus(self.encode(x))
        mean, spread = self.mean(hidden), self.spread(hidden)
        found = self.decode(mean + noise * (spread / 2).exp())
        kl = (mean**2 + spread.exp() - 1 - spread).sum(1).mean() / 2
        return F.binary_cross_entropy_with_logits(found, x.sigmoid(), reduction="sum") / x.shape[0] + kl


class Lstm(nn.Module):
    """A long short-term memory (Hochreiter and Schmidhuber, 1997) written in operators, over time."""

    def __init__(self, size: int = 16) -> None:
        super().__init__()
        self.token, self.read, self.write = nn.Embedding(30, size), nn.Linear(2 * size, 4 * size), nn.Linear(size, 30)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.token(tokens)
        h = c = torch.zeros_like(x[:, 0])
        outputs = []
        for step in x.unbind(1):
            i, f, g, o = self.read(torch.cat([step, h], 1)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            outputs.append(h)
        return F.cross_entropy(self.write(torch.stack(outputs[:-1], 1)).flatten(0, 1), tokens[:, 1:].flatten())


class Gru(nn.Module):
    """A gated recurrent unit (Cho et al., 2014) by torch's cell, over time."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.GRUCell(6, 12), nn.Linear(12, 4)

    def forward(self, x: Tensor) -> Tensor:
        h = x.new_zeros(x.shape[0], 12)
        for step in x.unbind(1):
            h = self.cell(step, h)
        return self.head(h)


class Gpt(nn.Module):
    """Two blocks with causal attention, and the loss of the next token."""

    def __init__(self, size: int = 32) -> None:
        super().__init__()
        self.token, self.position = nn.Embedding(50, size), nn.Parameter(torch.randn(12, size))
        self.blocks, self.norm = nn.Sequential(Block(size, 4, 12), Block(size, 4, 12)), nn.LayerNorm(size)

    def forward(self, tokens: Tensor) -> Tensor:
        y = self.norm(self.blocks(self.token(tokens) + self.position))
        logits = y @ self.token.weight.T
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), label_smoothing=0.1)


class Rotary(nn.Module):
    """A block with rotary positions, grouped queries, root-mean-square norms and a gated layer, as Llama's."""

    def __init__(self, size: int = 32) -> None:
        super().__init__()
        self.first, self.second = nn.RMSNorm(size), nn.RMSNorm(size)
        self.q, self.kv, self.out = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, size)
        self.gate, self.up, self.down = nn.Linear(size, 48), nn.Linear(size, 48), nn.Linear(48, size)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        q, (k, v) = self.q(y).unflatten(-1, (4, 8)), self.kv(y).unflatten(-1, (2, 2, 8)).unbind(-3)
        angles = torch.arange(x.shape[1])[:, None] * 10.0 ** -torch.arange(4)
        q, k = (_rotated(t, angles.cos()[:, None], angles.sin()[:, None]) for t in (q, k))
        given = (t.transpose(1, 2) for t in (q, k.repeat_interleave(2, 2), v.repeat_interleave(2, 2)))
        x = x + self.out(F.scaled_dot_product_attention(*given, is_causal=True).transpose(1, 2).flatten(2))
        y = self.second(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


class Experts(nn.Module):
    """A soft mixture of four layers, weighed by a gate."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.weight = nn.Linear(10, 4), nn.Parameter(torch.randn(4, 10, 6))

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("be,bi,eio->bo", self.gate(x).softmax(1), x, self.weight)


class TextConv(nn.Module):
    """Convolutions of three widths over embedded words, their maxima over time (Kim, 2014)."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(40, 12, padding_idx=0)
        self.convs, self.head = nn.ModuleList(nn.Conv1d(12, 8, k) for k in (2, 3, 4)), nn.Linear(24, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens).transpose(1, 2)
        return self.head(torch.cat([conv(x).relu().amax(2) for conv in self.convs], 1))


class Siamese(nn.Module):
    """One network on three inputs, and a loss of their distances."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 16), nn.PReLU(), nn.BatchNorm1d(16), nn.Linear(16, 8))

    def forward(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        found = [F.normalize(self.net(x)) for x in (a, b, c)]
        return F.triplet_margin_loss(*found) + F.cosine_similarity(found[0], found[2]).mean()


class GraphConv(nn.Module):
    """Two graph convolutions (Kipf and Welling, 2016) on a dense adjacency matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        degree = edges.sum(1).rsqrt()
        spread = degree[:, None] * edges * degree
        return F.log_softmax(spread @ self.second(F.relu(spread @ self.first(x))), 1)


def networks() -> dict[str, tuple[nn.Module, tuple[Any, ...]]]:
    """Networks by name, with their arguments."""
    image, normal = torch.randn(4, 3, 16, 16), torch.randn
    critic = nn.Sequential(
        nn.Conv2d(3, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(8, 8, 4, 2, 1), nn.GroupNorm(2, 8), nn.Mish(),
        nn.InstanceNorm2d(8, affine=True), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(32, 1),
    )  # fmt: skip
    encoder = nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True, norm_first=True)
    decoder = nn.TransformerDecoderLayer(32, 4, 64, 0.0, batch_first=True, activation="gelu")
    return {
        "autoencoder": (Autoencoder(), (image,)),
        "critic": (critic, (image,)),
        "decoder_layer": (decoder, (normal(2, 5, 32), normal(2, 7, 32))),
        "encoder_layer": (encoder, (normal(2, 7, 32),)),
        "experts": (Experts(), (normal(6, 10),)),
        "gpt": (Gpt(), (torch.randint(0, 50, (2, 12)),)),
        "graph_conv": (GraphConv(), (normal(9, 8), (normal(9, 9) > 0).float() + torch.eye(9))),
        "gru": (Gru(), (normal(3, 5, 6),)),
        "lstm": (Lstm(), (torch.randint(0, 30, (3, 6)),)),
        "mlp": (
            nn.Sequential(nn.Linear(20, 64), nn.GELU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 9)),
            (normal(8, 20),),
        ),
        "rotary": (Rotary(), (normal(2, 6, 32),)),
        "siamese": (Siamese(), (normal(6, 12), normal(6, 12), normal(6, 12))),
        "text_conv": (TextConv(), (torch.randint(0, 40, (4, 9)),)),
        "vae": (Vae(), (normal(6, 20), normal(6, 4))),
    }
