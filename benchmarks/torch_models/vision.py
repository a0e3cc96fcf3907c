"""Vision models as modules of torch, from their papers, with random weights. ``width`` scales the channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def conv(
    inside: int, out: int, kernel: int = 3, stride: int = 1, groups: int = 1, act: type[nn.Module] | None = nn.ReLU
) -> nn.Sequential:
    """Convolution, batch normalization, activation."""
    layers: list[nn.Module] = [nn.Conv2d(inside, out, kernel, stride, kernel // 2, groups=groups, bias=False)]
    layers.append(nn.BatchNorm2d(out))
    return nn.Sequential(*layers, *([act()] if act else []))


def head(channels: int, classes: int) -> nn.Sequential:
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


class Residual(nn.Module):
    """``body`` beside a shortcut, which is projected where the shape changes."""

    def __init__(self, body: nn.Module, inside: int, out: int, stride: int, after: bool = True) -> None:
        super().__init__()
        self.body, self.after = body, after
        self.short = conv(inside, out, 1, stride, act=None) if stride != 1 or inside != out else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        y = self.body(x) + self.short(x)
        return F.relu(y) if self.after else y


def resnet(
    depths: Sequence[int] = (2, 2, 2, 2), bottleneck: bool = False, width: float = 1, groups: int = 1
) -> nn.Module:
    """ResNet (He et al., 2015); with ``groups`` ResNeXt."""
    base = int(64 * width)
    layers: list[nn.Module] = [conv(3, base, 7, 2), nn.MaxPool2d(3, 2, 1)]
    inside = base
    for stage, depth in enumerate(depths):
        middle = base << stage
        for block in range(depth):
            stride = 2 if stage and not block else 1
            out = middle * 4 if bottleneck else middle
            body = [conv(inside, middle, 1), conv(middle, middle, 3, stride, groups), conv(middle, out, 1, act=None)]
            plain = [conv(inside, out, 3, stride), conv(out, out, act=None)]
            layers.append(Residual(nn.Sequential(*(body if bottleneck else plain)), inside, out, stride))
            inside = out
    return nn.Sequential(*layers, head(inside, 1000))


class Squeeze(nn.Module):
    """Squeeze and excitation: channels scaled by gates of their means."""

    def __init__(self, channels: int, inner: int, gate: Callable[[Tensor], Tensor] = torch.sigmoid) -> None:
        super().__init__()
        self.down, self.up, self.gate = nn.Conv2d(channels, inner, 1), nn.Conv2d(inner, channels, 1), gate

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gate(self.up(F.relu(self.down(x.mean((2, 3), keepdim=True)))))


def inverted(
    inside: int, out: int, grow: int, kernel: int, stride: int, act: type[nn.Module], squeeze: bool = False
) -> nn.Module:
    """An inverted residual block."""
    middle = inside * grow
    body = [conv(inside, middle, 1, act=act)] if grow > 1 else []
    body.append(conv(middle, middle, kernel, stride, middle, act))
    body += [Squeeze(middle, max(8, inside // 4), F.hardsigmoid if act is nn.Hardswish else torch.sigmoid)] * squeeze
    block = nn.Sequential(*body, conv(middle, out, 1, act=None))
    return Residual(block, inside, out, stride, after=False) if stride == 1 and inside == out else block


Stage = tuple[int, int, int, int, int]  # growth, channels, blocks, stride, kernel
V2: list[Stage] = [
    (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3), (6, 96, 3, 1, 3), (6, 160, 3, 2, 3),
    (6, 320, 1, 1, 3),
]  # fmt: skip
V3: list[Stage] = [(1, 16, 1, 2, 3), (4, 24, 2, 2, 3), (6, 40, 3, 2, 5), (3, 48, 2, 1, 5), (6, 96, 3, 2, 5)]
B0: list[Stage] = [
    (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
]  # fmt: skip


def mobile(stages: Sequence[Stage], act: type[nn.Module], squeeze: bool, width: float = 1) -> nn.Module:
    """MobileNet V2 and V3 (Sandler et al., 2018; Howard et al., 2019), EfficientNet (Tan and Le, 2019)."""
    inside = int(32 * width)
    layers = [conv(3, inside, 3, 2, act=act)]
    for grow, channels, blocks, stride, kernel in stages:
        out = max(8, int(channels * width))
        for block in range(blocks):
            layers.append(inverted(inside, out, grow, kernel, 1 if block else stride, act, squeeze))  # type: ignore[arg-type]
            inside = out
    last = int(1280 * width)
    return nn.Sequential(*layers, conv(inside, last, 1, act=act), head(last, 1000))


def vgg(width: float = 1, classes: int = 1000) -> nn.Module:
    """VGG-16 (Simonyan and Zisserman, 2014)."""
    layers: list[nn.Module] = []
    inside = 3
    for stage, depth in enumerate((2, 2, 3, 3, 3)):
        out = int(min(64 << stage, 512) * width)
        for _ in range(depth):
            layers += [nn.Conv2d(inside, out, 3, padding=1), nn.ReLU()]
            inside = out
        layers.append(nn.MaxPool2d(2))
    wide = int(4096 * width)
    dense = [nn.Linear(inside * 49, wide), nn.ReLU(), nn.Dropout(), nn.Linear(wide, wide), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(7), nn.Flatten(), *dense, nn.Linear(wide, classes))


class Dense(nn.Module):
    """A layer of DenseNet: its channels after those of its input."""

    def __init__(self, inside: int, growth: int) -> None:
        super().__init__()
        self.norm, self.body = nn.BatchNorm2d(inside), conv(inside, 4 * growth, 1)
        self.last = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.last(self.body(F.relu(self.norm(x))))], 1)


def densenet(depths: Sequence[int] = (6, 12, 24, 16), growth: int = 32) -> nn.Module:
    """DenseNet (Huang et al., 2016)."""
    inside = 2 * growth
    layers: list[nn.Module] = [conv(3, inside, 7, 2), nn.MaxPool2d(3, 2, 1)]
    for n, depth in enumerate(depths):
        for _ in range(depth):
            layers.append(Dense(inside, growth))
            inside += growth
        if n + 1 < len(depths):
            layers += [nn.BatchNorm2d(inside), nn.ReLU(), nn.Conv2d(inside, inside // 2, 1), nn.AvgPool2d(2)]
            inside //= 2
    return nn.Sequential(*layers, nn.BatchNorm2d(inside), nn.ReLU(), head(inside, 1000))


class Branches(nn.Module):
    """The results of several modules, concatenated along the channels."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


def squeezenet() -> nn.Module:
    """SqueezeNet 1.1 (Iandola et al., 2016)."""
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True)]
    inside = 64
    for n, (thin, wide) in enumerate(((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256))):
        layers += [conv(inside, thin, 1), Branches(conv(thin, wide, 1), conv(thin, wide, 3))]
        inside = 2 * wide
        layers += [nn.MaxPool2d(3, 2, ceil_mode=True)] if n in (1, 3) else []
    return nn.Sequential(*layers, nn.Conv2d(inside, 1000, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())


def googlenet(blocks: int = 3) -> nn.Module:
    """Inception blocks (Szegedy et al., 2014)."""
    layers: list[nn.Module] = [conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for _ in range(blocks):
        pooled = nn.Sequential(nn.MaxPool2d(3, 1, 1), conv(inside, 32, 1))
        wide = [nn.Sequential(conv(inside, 32, 1), conv(32, 64, kernel)) for kernel in (3, 5)]
        layers.append(Branches(conv(inside, 64, 1), *wide, pooled))
        inside = 224
    return nn.Sequential(*layers, head(inside, 1000))


class Shuffle(nn.Module):
    """A unit of ShuffleNet V2 (Ma et al., 2018): one half of the channels is worked on, then both are mixed."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = channels // 2
        self.body = nn.Sequential(conv(half, half, 1), conv(half, half, 3, 1, half, None), conv(half, half, 1))

    def forward(self, x: Tensor) -> Tensor:
        a, b = x.chunk(2, 1)
        return F.channel_shuffle(torch.cat([a, self.body(b)], 1), 2)


def shufflenet(channels: int = 116) -> nn.Module:
    units = [Shuffle(channels) for _ in range(4)]
    return nn.Sequential(conv(3, 24, 3, 2), nn.MaxPool2d(3, 2, 1), conv(24, channels, 1), *units, head(channels, 1000))


class UNet(nn.Module):
    """U-Net (Ronneberger et al., 2015) of three levels."""

    def __init__(self, base: int = 32) -> None:
        super().__init__()
        sizes = [base, 2 * base, 4 * base]
        self.down = nn.ModuleList(
            nn.Sequential(conv(a, b), conv(b, b)) for a, b in zip([3, *sizes], sizes, strict=False)
        )
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(sizes, sizes[1:], strict=False))
        self.join = nn.ModuleList(nn.Sequential(conv(2 * a, a), conv(a, a)) for a in sizes[:-1])
        self.last = nn.Conv2d(base, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for n, level in enumerate(self.down):
            x = level(F.max_pool2d(x, 2) if n else x)
            kept.append(x)
        for up, join, other in zip(reversed(self.up), reversed(self.join), reversed(kept[:-1]), strict=True):
            x = join(torch.cat([other, up(x)], 1))
        return self.last(x)
