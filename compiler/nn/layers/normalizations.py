"""Normalizations by batch, layer, group and root mean square. Source: torch.nn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.dialects.semantics.dims import product
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn import normalizations as functions
from mlc.nn import init
from mlc.nn.module import Module, buffer, static


class BatchNorm(Module):
    """Images [N, C, X…] normalized by channel: in training by statistics of the batch, else by running ones.

    ``nn.functional_call`` returns the module with new running statistics: ``(1 - momentum)`` times the old ones and
    ``momentum`` times those of the batch, the variance divided by one less than the number of elements.
    """

    weight: Array | None
    bias: Array | None
    running_mean: Array = buffer()
    running_var: Array = buffer()
    num_batches_tracked: Array = buffer()
    eps: float = static()
    momentum: float = static()

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True) -> None:
        self.weight = init.ones((num_features,)) if affine else None
        self.bias = init.zeros((num_features,)) if affine else None
        self.running_mean, self.running_var = init.zeros((num_features,)), init.ones((num_features,))
        self.num_batches_tracked = as_array(np.asarray(0, np.int64))
        self.eps, self.momentum = eps, momentum

    def __call__(self, x: Any) -> Array:
        image = as_array(x)
        mean, variance = functions.batch_statistics(image) if self.training else (self.running_mean, self.running_var)
        if self.training:
            self._track(image, mean, variance)
        weight = mnp.ones_like(self.running_mean) if self.weight is None else self.weight
        bias = mnp.zeros_like(self.running_mean) if self.bias is None else self.bias
        return functions.batch_norm(image, weight, bias, mean, variance, epsilon=self.eps)

    def _track(self, image: Array, mean: Array, variance: Array) -> None:
        count = mnp.astype(as_array(product((image.shape[0], *image.shape[2:]))), variance.dtype)
        unbiased = variance * (count / mnp.maximum(count - 1, 1))
        old, new = 1 - self.momentum, self.momentum
        self.record(
            running_mean=self.running_mean * old + mean * new,
            running_var=self.running_var * old + unbiased * new,
            num_batches_tracked=self.num_batches_tracked + 1,
        )


BatchNorm1d = BatchNorm2d = BatchNorm3d = BatchNorm


def _extents(shape: int | Sequence[int]) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


class LayerNorm(Module):
    """The last dimensions, of the extents ``normalized_shape``, normalized to mean 0 and variance 1."""

    weight: Array | None
    bias: Array | None
    rank: int = static()
    eps: float = static()

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
    ) -> None:
        extents = _extents(normalized_shape)
        self.weight = init.ones(extents) if elementwise_affine else None
        self.bias = init.zeros(extents) if elementwise_affine and bias else None
        self.rank, self.eps = len(extents), eps

    def __call__(self, x: Any) -> Array:
        return functions.layer_norm(x, self.weight, self.bias, axis=range(-self.rank, 0), epsilon=self.eps)


class RMSNorm(Module):
    """The last dimensions over their root mean square; ``eps`` is by default the type's epsilon."""

    weight: Array | None
    rank: int = static()
    eps: float | None = static()

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float | None = None, elementwise_affine: bool = True
    ) -> None:
        extents = _extents(normalized_shape)
        self.weight = init.ones(extents) if elementwise_affine else None
        self.rank, self.eps = len(extents), eps

    def __call__(self, x: Any) -> Array:
        given = as_array(x)
        eps = float(np.finfo(np.float64 if given.element == "f64" else np.float32).eps)
        return functions.rms_norm(
            given, self.weight, axis=range(-self.rank, 0), epsilon=eps if self.eps is None else self.eps
        )


class GroupNorm(Module):
    """Images [N, C, X…] normalized over each group of channels."""

    weight: Array
    bias: Array
    num_groups: int = static()
    eps: float = static()

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5) -> None:
        self.weight, self.bias = init.ones((num_channels,)), init.zeros((num_channels,))
        self.num_groups, self.eps = num_groups, eps

    def __call__(self, x: Any) -> Array:
        return functions.group_norm(x, self.weight, self.bias, groups=self.num_groups, epsilon=self.eps)


class InstanceNorm(Module):
    """Images [N, C, X…] of which each channel is normalized; with ``affine`` scaled and moved by trained numbers."""

    weight: Array | None
    bias: Array | None
    num_features: int = static()
    eps: float = static()

    def __init__(self, num_features: int, eps: float = 1e-5, affine: bool = False) -> None:
        self.weight = init.ones((num_features,)) if affine else None
        self.bias = init.zeros((num_features,)) if affine else None
        self.num_features, self.eps = num_features, eps

    def __call__(self, x: Any) -> Array:
        weight = mnp.ones((self.num_features,)) if self.weight is None else self.weight
        bias = mnp.zeros((self.num_features,)) if self.bias is None else self.bias
        return functions.group_norm(x, weight, bias, groups=self.num_features, epsilon=self.eps)


InstanceNorm1d = InstanceNorm2d = InstanceNorm3d = InstanceNorm
