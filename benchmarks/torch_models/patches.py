"""Vision models on patches as modules of torch, from their papers: ViT, Swin, ConvNeXt, MLP-Mixer; random weights."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def mlp(size: int, inner: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, inner), nn.GELU(), nn.Linear(inner, size))


class Attention(nn.Module):
    """Self-attention over tokens [.., S, size], with an optional bias [heads, S, S] learned for each position."""

    def __init__(self, size: int, heads: int, tokens: int | None = None) -> None:
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.bias = nn.Parameter(torch.randn(heads, tokens, tokens) * 0.1) if tokens else None

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, self.bias)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """A transformer's block with normalization before each part."""

    def __init__(self, size: int, heads: int, tokens: int | None = None) -> None:
        super().__init__()
        self.attention, self.mlp = Attention(size, heads, tokens), mlp(size, 4 * size)
        self.first, self.second = nn.LayerNorm(size), nn.LayerNorm(size)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


class ViT(nn.Module):
    """Vision transformer (Dosovitskiy et al., 2020)."""

    def __init__(self, image: int = 224, patch: int = 16, size: int = 192, depth: int = 12, heads: int = 3) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, size, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, size))
        self.position = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, size))
        self.blocks = nn.Sequential(*(Block(size, heads) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, 1000)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.position
        return self.head(self.norm(self.blocks(x))[:, 0])


class Windows(nn.Module):
    """A block of Swin (Liu et al., 2021): attention inside windows, which are shifted in every second block."""

    def __init__(self, size: int, heads: int, window: int, shift: int) -> None:
        super().__init__()
        self.window, self.shift, self.block = window, shift, Block(size, heads, window * window)

    def forward(self, x: Tensor) -> Tensor:
        n, h, w, c = x.shape
        x = torch.roll(x, (-self.shift, -self.shift), (1, 2)) if self.shift else x
        split = x.view(n, h // self.window, self.window, w // self.window, self.window, c)
        y = self.block(split.permute(0, 1, 3, 2, 4, 5).reshape(-1, self.window**2, c))
        y = y.view(n, h // self.window, w // self.window, self.window, self.window, c)
        y = y.permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        return torch.roll(y, (self.shift, self.shift), (1, 2)) if self.shift else y


class Merge(nn.Module):
    """Four neighbouring patches as one of twice the size."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm, self.reduce = nn.LayerNorm(4 * size), nn.Linear(4 * size, 2 * size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        parts = [x[:, a::2, b::2] for b in (0, 1) for a in (0, 1)]
        return self.reduce(self.norm(torch.cat(parts, -1)))


class Swin(nn.Module):
    def __init__(self, size: int = 48, depths: Sequence[int] = (2, 2), heads: int = 3, window: int = 7) -> None:
        super().__init__()
        self.patches, stages = nn.Conv2d(3, size, 4, 4), []
        for n, depth in enumerate(depths):
            stages += [Merge(size << (n - 1))] if n else []
            stages += [Windows(size << n, heads << n, window, window // 2 * (k % 2)) for k in range(depth)]
        last = size << (len(depths) - 1)
        self.stages, self.norm, self.head = nn.Sequential(*stages), nn.LayerNorm(last), nn.Linear(last, 1000)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.norm(self.stages(self.patches(x).permute(0, 2, 3, 1))).mean((1, 2)))


class ConvNeXtBlock(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(size, size, 7, padding=3, groups=size), nn.LayerNorm(size)
        self.mlp, self.scale = mlp(size, 4 * size), nn.Parameter(torch.full((size,), 0.1))

    def forward(self, x: Tensor) -> Tensor:
        y = self.mlp(self.norm(self.conv(x).permute(0, 2, 3, 1))) * self.scale
        return x + y.permute(0, 3, 1, 2)


def convnext(size: int = 48, depths: Sequence[int] = (2, 2, 4, 2)) -> nn.Module:
    """ConvNeXt (Liu et al., 2022)."""
    layers: list[nn.Module] = [nn.Conv2d(3, size, 4, 4)]
    for n, depth in enumerate(depths):
        layers += [nn.GroupNorm(1, size << (n - 1)), nn.Conv2d(size << (n - 1), size << n, 2, 2)] if n else []
        layers += [ConvNeXtBlock(size << n) for _ in range(depth)]
    last = size << (len(depths) - 1)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(last), nn.Linear(last, 1000))


class MixerBlock(nn.Module):
    def __init__(self, tokens: int, size: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(size), nn.LayerNorm(size)
        self.tokens, self.channels = mlp(tokens, 2 * tokens), mlp(size, 4 * size)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.tokens(self.first(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.second(x))


class Mixer(nn.Module):
    """MLP-Mixer (Tolstikhin et al., 2021)."""

    def __init__(self, image: int = 224, patch: int = 16, size: int = 128, depth: int = 4) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, size, patch, patch)
        self.blocks = nn.Sequential(*(MixerBlock((image // patch) ** 2, size) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, 1000)

    def forward(self, x: Tensor) -> Tensor:
        x = self.blocks(self.patches(x).flatten(2).transpose(1, 2))
        return self.head(self.norm(x).mean(1))
