"""Pools, activations, resampling and instance normalization as layers, against formulas in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn
from mlc.errors import InputError


def data(*shape: int) -> Any:
    return np.random.default_rng().standard_normal(shape).astype(np.float32)


def windows(x: Any, size: int) -> Any:
    n, c, h, w = x.shape
    return x.reshape(n, c, h // size, size, w // size, size)


def doubled(x: Any, axis: int) -> Any:
    """Linear interpolation to twice the size: a quarter of the neighbour, at the border of the element itself."""
    x = np.moveaxis(x, axis, -1)
    near = np.concatenate([x[..., :1], x, x[..., -1:]], -1)
    left, right = 0.75 * x + 0.25 * near[..., :-2], 0.75 * x + 0.25 * near[..., 2:]
    return np.moveaxis(np.stack([left, right], -1).reshape(*x.shape[:-1], -1), -1, axis)


LAYERS: dict[str, tuple[Any, Any]] = {
    "MaxPool2d": (nn.MaxPool2d(2), lambda x: windows(x, 2).max((3, 5))),
    "AvgPool2d": (nn.AvgPool2d(2), lambda x: windows(x, 2).mean((3, 5))),
    "InstanceNorm2d": (nn.InstanceNorm2d(4), lambda x: (x - x.mean((2, 3), keepdims=True))
                       / np.sqrt(x.var((2, 3), keepdims=True) + 1e-5)),
    "Upsample": (nn.Upsample(2), lambda x: x.repeat(2, 2).repeat(2, 3)),
    "bilinear": (nn.Upsample(2, "bilinear"), lambda x: doubled(doubled(x, 2), 3)),
    "PixelShuffle": (nn.PixelShuffle(2), lambda x: x.reshape(2, 1, 2, 2, 6, 8).transpose(0, 1, 4, 2, 5, 3)
                     .reshape(2, 1, 12, 16)),
    "PReLU": (nn.PReLU(4), lambda x: np.where(x > 0, x, 0.25 * x)),
    "ReLU": (nn.ReLU(), lambda x: np.maximum(x, 0)),
    "LeakyReLU": (nn.LeakyReLU(0.2), lambda x: np.where(x > 0, x, 0.2 * x)),
    "ELU": (nn.ELU(0.5), lambda x: np.where(x > 0, x, 0.5 * np.expm1(np.minimum(x, 0)))),
    "SiLU": (nn.SiLU(), lambda x: x / (1 + np.exp(-x))),
    "Softmax": (nn.Softmax(dim=1), lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
    "Tanh": (nn.Tanh(), np.tanh),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    layer, expected = LAYERS[name]
    x = data(2, 4, 6, 8)
    np.testing.assert_allclose(layer(x).numpy(), expected(x.astype(float)), rtol=1e-4, atol=1e-5)


def test_channels_are_dropped_whole() -> None:
    y, _ = nn.functional_call(nn.Dropout2d(0.5), np.ones((8, 8, 3, 3), np.float32), key=mnp.random.key(0))
    sums = y.numpy().sum((2, 3))
    assert set(np.unique(sums)) == {0.0, 18.0}


def test_slopes_are_trained() -> None:
    layer, x = nn.PReLU(2), data(3, 2)
    found = mlc.grad(lambda m: mnp.sum(m(x)))(layer).weight.numpy()
    np.testing.assert_allclose(found, np.minimum(x, 0).sum(0), rtol=1e-5)


@pytest.mark.parametrize("make, says", [
    (lambda: nn.Upsample(0.5), "cannot resize by 0.5"),
    (lambda: nn.Upsample(2, "cubic"), "mode 'cubic'"),
    (lambda: nn.PixelShuffle(3), "divide 4 channels"),
])  # fmt: skip
def test_refused(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()(data(1, 4, 2, 2))


def test_a_wrong_name_says_the_near_one() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'MaxPool2d'"):
        _ = nn.MaxPol2d
