"""The derivatives of two residual blocks (He et al., 2016) by their filters, as a training step on a GPU computes them.

Six convolutions: three of stride 1, then a block of stride 2 with a projection.
"""

from __future__ import annotations

from typing import Any

import mlc
import mlc.numpy as mnp
from mlc import nn
from mlc.options import Numerics
from mlc.tracing.traced import Traced

NAME = "residual_step"
FILTERS = ((64, 16, 3, 3), (64, 64, 3, 3), (64, 64, 3, 3), (128, 64, 3, 3), (128, 128, 3, 3), (128, 64, 1, 1))
PIXELS = 56


def traced(batch: int, element: str, target: str, numerics: Numerics = "default") -> Traced:
    """The gradients of Σ y·g by the six filters, for ``batch`` images of 16 channels and 56 × 56 pixels."""
    specs = [mlc.TensorSpec(element, shape) for shape in FILTERS]
    image = mlc.TensorSpec(element, (batch, 16, PIXELS, PIXELS))
    given = mlc.TensorSpec(element, (batch, 128, PIXELS // 2, PIXELS // 2))
    jitted = mlc.jit(mlc.grad(_loss, argnums=0), target=target, numerics=numerics, wait=True)
    return jitted.lower(tuple(specs), image, given)


def _loss(filters: tuple[Any, ...], image: Any, given: Any) -> Any:
    first, *block = filters
    x = nn.relu(nn.conv(image, first, strides=1, padding=1))
    x = nn.relu(_two(x, block[0], block[1], 1) + x)
    y = nn.relu(_two(x, block[2], block[3], 2) + nn.conv(x, block[4], strides=2, padding=0))
    return mnp.sum(mnp.astype(y, mnp.float32) * mnp.astype(given, mnp.float32))


def _two(x: Any, first: Any, second: Any, strides: int) -> Any:
    """Two 3 × 3 convolutions with a ReLU between them."""
    return nn.conv(nn.relu(nn.conv(x, first, strides=strides, padding=1)), second, strides=1, padding=1)
