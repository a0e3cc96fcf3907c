"""Normalization over a batch, layers, groups, instances, root mean squares, neighbours, and by a norm.

Images are [N, C, …]; statistics are made in at least f32.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.reduction import mean
from mlc.frontends.build.tensors import Tensor


def mean_and_variance(build: Builder, x: Tensor, axes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Mean and variance over ``axes``, which stay as dimensions of extent 1."""
    middle = mean(build, x, axes, keepdims=True)
    return middle, mean(build, build.map("square(x0 - x1)", x, middle), axes, keepdims=True)


def normalized(
    build: Builder,
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    scale: Tensor | None,
    bias: Tensor | None,
    epsilon: float,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + bias."""
    y = build.map(f"(x0 - x1) * rsqrt(x2 + {literal(epsilon)})", build.wide(x), mean, variance)
    y = y if scale is None else build.map("x0 * x1", y, build.cast(scale, y.element))
    y = y if bias is None else build.map("x0 + x1", y, build.cast(bias, y.element))
    return build.cast(y, x.element)


def per_channel(build: Builder, x: Tensor, rank: int) -> Tensor:
    """A tensor [C] reshaped so that it broadcasts to [N, C, …]."""
    return build.reshape(x, (*x.shape, *[1] * (rank - 2)))


def batch_norm(
    build: Builder, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, epsilon: float
) -> Tensor:
    """Batch normalization with the statistics of training: one multiply-add a channel."""
    element = build.wide(x).element
    scale, bias, mean, variance = (build.cast(build.wide(t), element) for t in (scale, bias, mean, variance))
    factor = build.map(f"x0 / sqrt(x1 + {literal(epsilon)})", scale, variance)
    offset = build.map("x0 - x1 * x2", bias, mean, factor)
    factor, offset = per_channel(build, factor, x.rank), per_channel(build, offset, x.rank)
    return build.cast(build.map("x0 * x1 + x2", build.wide(x), factor, offset), x.element)


def batch_norm_training(
    build: Builder,
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    running: Sequence[Tensor],
    epsilon: float,
    momentum: float,
) -> tuple[Tensor, ...]:
    """Batch normalization with the statistics of the batch, towards which the ``running`` mean and variance move."""
    mean, variance = mean_and_variance(build, build.wide(x), [0, *range(2, x.rank)])
    scale, bias = per_channel(build, scale, x.rank), per_channel(build, bias, x.rank)
    y = normalized(build, x, mean, variance, scale, bias, epsilon)
    blend = f"{literal(momentum)} * x0 + {literal(1 - momentum)} * x1"
    moved = [
        build.map(blend, old, build.cast(build.reshape(new, old.shape), old.element))
        for old, new in zip(running, (mean, variance), strict=True)
    ]
    return (y, *moved)


def layer_norm(
    build: Builder, x: Tensor, axes: Sequence[int], scale: Tensor | None, bias: Tensor | None, epsilon: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Layer normalization over the last dimensions: (result, mean, variance)."""
    mean, variance = mean_and_variance(build, build.wide(x), axes)
    return normalized(build, x, mean, variance, scale, bias, epsilon), mean, variance


def rms_norm(build: Builder, x: Tensor, axes: Sequence[int], scale: Tensor, epsilon: float) -> Tensor:
    """x / sqrt(mean(x²) + epsilon) * scale, in the type of ``scale``."""
    wide = build.wide(x)
    square = mean(build, build.map("x0 * x0", wide), axes, keepdims=True)
    y = build.map(f"x0 * rsqrt(x1 + {literal(epsilon)})", wide, square)
    return build.map("x0 * x1", build.cast(y, scale.element), scale)


def instance_norm(build: Builder, x: Tensor, scale: Tensor, bias: Tensor, epsilon: float) -> Tensor:
    """Instance normalization: statistics over each channel of each image."""
    mean, variance = mean_and_variance(build, build.wide(x), range(2, x.rank))
    scale, bias = per_channel(build, scale, x.rank), per_channel(build, bias, x.rank)
    return normalized(build, x, mean, variance, scale, bias, epsilon)


def group_norm(build: Builder, x: Tensor, groups: int, scale: Tensor, bias: Tensor, epsilon: float) -> Tensor:
    """Statistics over each group of channels. ``scale`` and ``bias`` have one element a channel, or one a group."""
    split = build.reshape(x, (x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]))
    mean, variance = mean_and_variance(build, build.wide(split), range(2, split.rank))
    scale, bias = (build.reshape(t, (groups, t.shape[0] // groups, *[1] * (x.rank - 2))) for t in (scale, bias))
    return build.reshape(normalized(build, split, mean, variance, scale, bias, epsilon), x.shape)


def local_response_norm(build: Builder, x: Tensor, size: int, alpha: float, beta: float, bias: float) -> Tensor:
    """x / (bias + alpha/size * sum of squares over ``size`` neighbouring channels) ** beta."""
    low = [0, (size - 1) // 2, *[0] * (x.rank - 2)]
    high = [0, size - 1 - (size - 1) // 2, *[0] * (x.rank - 2)]
    squares = build.pad(build.map("x0 * x0", build.wide(x)), low, high)
    names = [f"i{n}" for n in range(x.rank)]
    text = f"x0[{', '.join(f'{a} + r0' if n == 1 else a for n, a in enumerate(names))}]"
    total = build.compute(text, [squares], x.shape, [size], "add")
    y = build.map(f"x0 / ({literal(bias)} + {literal(alpha / size)} * x1) ** {literal(beta)}", build.wide(x), total)
    return build.cast(y, x.element)


def lp_norm(build: Builder, x: Tensor, axis: int, p: int) -> Tensor:
    """x / the norm of order ``p``, 1 or 2; 0 where the norm is 0."""
    wide, first = build.wide(x), p == 1
    total = build.reduce("add", build.map("abs(x0)" if first else "x0 * x0", wide), [axis], keepdims=True)
    norm = total if first else build.map("sqrt(x0)", total)
    return build.cast(build.map("where(x1 == 0, x1, x0 / x1)", wide, norm), x.element)
