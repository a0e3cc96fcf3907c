"""Normalization over the last dimensions, groups, the batch; softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops import normalization as norm
from mlc.frontends.build.ops.random.distributions import bernoulli
from mlc.frontends.build.ops.softmax import softmax
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.dtypes import TORCH_OF_ELEMENT
from mlc.frontends.torch.registry import Call, aten


@aten("softmax", "_softmax", "log_softmax", "_log_softmax", "_safe_softmax", "special_log_softmax")
def soft(call: Call, x: Tensor, dim: int, *_: Any, dtype: Any = None) -> Tensor:
    """``_safe_softmax`` gives 0 for rows of minus infinity."""
    x = call.tensor(x)
    if not x.rank:
        return call.build.map("x0 - x0" if "log" in call.op else "x0 - x0 + 1", x)
    return softmax(call.build, x, [dim % x.rank], log="log" in call.op, safe=call.op == "_safe_softmax")


@aten("native_dropout", "dropout")
def dropout(call: Call, x: Tensor, p: float, train: bool | None) -> Any:
    """Dropout: in training each element is 0 with probability ``p``, by other draws than torch's. In inference:
    nothing.
    """
    build = call.build
    kept = build.broadcast(build.constant(True, "i1"), x.shape)
    if train is not False and p:
        kept = bernoulli(build, build.broadcast(build.constant(1 - p, "f32"), x.shape))
        factor = literal(1 / (1 - p)) if p < 1 else "0"
        x = build.map(f"where(x1, x0 * {factor}, 0)", x, kept)
    return (x, kept) if call.op == "native_dropout" else x


@aten("layer_norm")
def layer_norm(
    call: Call,
    x: Tensor,
    shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    return native_layer_norm(call, x, shape, weight, bias, eps)[0]


@aten("native_layer_norm")
def native_layer_norm(
    call: Call, x: Tensor, shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    build, axes = call.build, list(range(x.rank - len(shape), x.rank))
    mean, variance = norm.mean_and_variance(build, build.wide(x), axes)
    y = norm.normalized(build, x, mean, variance, weight, bias, eps)
    return y, mean, build.map(f"rsqrt(x0 + {literal(eps)})", variance)


@aten("rms_norm", "_fused_rms_norm")
def rms_norm(
    call: Call, x: Tensor, shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Any:
    build, axes = call.build, list(range(x.rank - len(shape), x.rank))
    epsilon = torch.finfo(TORCH_OF_ELEMENT[x.element]).eps if eps is None else eps
    weight = weight or build.broadcast(build.constant(1, x.element), tuple(shape))
    y = norm.rms_norm(build, x, axes, weight, epsilon)
    return y if call.op == "rms_norm" else (y, None)


@aten("group_norm")
def group_norm(
    call: Call,
    x: Tensor,
    groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    return norm.group_norm(call.build, x, groups, *_affine(call, x, weight, bias), eps)


@aten("native_group_norm")
def native_group_norm(
    call: Call, x: Tensor, weight: Tensor | None, bias: Tensor | None, n: Any, c: Any, hw: Any, groups: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Group normalization. It also returns the mean and 1 / deviation of each group, [N, groups]."""
    build, y = call.build, group_norm(call, x, groups, weight, bias, eps)
    split = build.reshape(x, (x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]))
    found = norm.mean_and_variance(build, build.wide(split), range(2, split.rank))
    mean, variance = (build.reshape(t, (x.shape[0], groups)) for t in found)
    return y, mean, _inverse_deviation(call, variance, eps)


def _affine(call: Call, x: Tensor, weight: Tensor | None, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    """Scale and offset of each channel, 1 and 0 where there are none."""
    build, channels = call.build, x.shape[1:2]
    scale = build.broadcast(build.constant(1, x.element), channels) if weight is None else weight
    return scale, build.broadcast(build.constant(0, x.element), channels) if bias is None else bias


@aten("_native_batch_norm_legit_no_training")
def batch_norm(
    call: Call, x: Tensor, weight: Any, bias: Any, mean: Tensor, variance: Tensor, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch normalization in inference. The statistics that it returns have no elements."""
    scale, offset = _affine(call, x, weight, bias)
    none = call.build.broadcast(call.build.constant(0, x.element), (0,))
    return norm.batch_norm(call.build, x, scale, offset, mean, variance, eps), none, none


@aten("_native_batch_norm_legit.no_stats")
def batch_statistics(
    call: Call, x: Tensor, weight: Any, bias: Any, training: bool, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """With the statistics of the batch itself, as instance norm has them; also their mean and 1 / deviation."""
    y, mean, variance = _of_batch(call, x, weight, bias, eps)
    return y, mean, _inverse_deviation(call, variance, eps)


@aten("_native_batch_norm_legit_functional")
def batch_norm_with_statistics(
    call: Call,
    x: Tensor,
    weight: Any,
    bias: Any,
    running_mean: Tensor,
    running_variance: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """In training with the statistics of the batch, towards which the running ones move: the last two results."""
    if not training:
        found = batch_norm(call, x, weight, bias, running_mean, running_variance, momentum, eps)
        return *found, running_mean, running_variance
    y, mean, variance = _of_batch(call, x, weight, bias, eps)
    element = mean.element
    count = f"{element}({product(d for n, d in enumerate(x.shape) if n != 1)})"
    blend = f"{literal(1 - momentum)} * x0 + {literal(momentum)} * x1"
    unbiased = call.build.map(f"x0 * ({count} / ({count} - 1))", variance)
    moved = [
        call.build.cast(call.build.map(blend, call.build.cast(old, element), new), old.element)
        for old, new in ((running_mean, mean), (running_variance, unbiased))
    ]
    return y, mean, _inverse_deviation(call, variance, eps), *moved


@aten("_batch_norm_with_update_functional")
def batch_norm_with_update(
    call: Call, x: Tensor, weight: Any, bias: Any, running_mean: Tensor, running_variance: Tensor, *given: float
) -> tuple[Tensor, ...]:
    """Batch normalization in training. The fourth result is empty: other devices keep memory there for the
    derivative.
    """
    found = batch_norm_with_statistics(call, x, weight, bias, running_mean, running_variance, True, *given)
    return *found[:3], call.build.broadcast(call.build.constant(0, "ui8"), (0,)), *found[3:]


def _of_batch(call: Call, x: Tensor, weight: Any, bias: Any, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(result, mean and variance of each channel)."""
    build = call.build
    mean, variance = norm.mean_and_variance(build, build.wide(x), [0, *range(2, x.rank)])
    scale, offset = (None if t is None else norm.per_channel(build, t, x.rank) for t in (weight, bias))
    y = norm.normalized(build, x, mean, variance, scale, offset, eps)
    return y, build.reshape(mean, x.shape[1:2]), build.reshape(variance, x.shape[1:2])


def _inverse_deviation(call: Call, variance: Tensor, eps: float) -> Tensor:
    return call.build.map(f"rsqrt(x0 + {literal(eps)})", variance)
