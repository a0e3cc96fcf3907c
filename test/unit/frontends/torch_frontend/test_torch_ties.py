"""Gradients at ties of what torch exports, by mlc.grad and by torch.compile, against eager torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import mlc  # noqa: E402
import mlc.numpy as mnp  # noqa: E402

F = torch.nn.functional
CASES: dict[str, Callable[[Any], Any]] = {
    "max_pool": lambda x: F.max_pool2d(x, 3, 2),
    "padded": lambda x: F.max_pool2d(x, 3, 2, 1),
    "one dimension": lambda x: F.max_pool1d(x[0], 2),
    "adaptive": lambda x: F.adaptive_max_pool2d(x, (3, 4)),
    "amax": lambda x: torch.amax(x, (2, 3)),
    "all": lambda x: x.max(),
    "max": lambda x: x.max(dim=-1).values,
    "min": lambda x: x.min(dim=2, keepdim=True).values,
    "sort": lambda x: torch.sort(x, dim=-1, stable=True).values * torch.arange(9.0),
    "clamp": lambda x: torch.clamp(x, 0, 2),
    "clamp_min": lambda x: torch.clamp_min(x, 1),
    "relu": lambda x: torch.relu(x),
    "maximum": lambda x: torch.maximum(x, x.flip(-1)),
}


class Module(torch.nn.Module):
    def __init__(self, f: Callable[[Any], Any]) -> None:
        super().__init__()
        self.f = f

    def forward(self, x: Any) -> Any:
        return self.f(x)


@pytest.mark.parametrize("name", CASES)
def test_gradients_at_ties(name: str) -> None:
    f = CASES[name]
    x = torch.from_numpy(np.random.default_rng().integers(0, 3, (1, 2, 8, 9)).astype(np.float32))
    weights = torch.randint(-4, 5, f(x).shape).float()
    expected = gradient_of(f, x, weights)
    exported, scale = mlc.function(torch.export.export(Module(f), (x,))), weights.numpy()
    gradient = mlc.grad(lambda x: mnp.sum(exported(x) * scale))
    for found in (gradient(x.numpy()), mlc.jit(gradient, wait=True)(x.numpy())):
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)
    np.testing.assert_allclose(gradient_of(torch.compile(f, backend="mlc"), x, weights), expected, rtol=1e-6)


def gradient_of(f: Callable[[Any], Any], x: Any, weights: Any) -> np.ndarray:
    leaf = x.clone().requires_grad_()
    (f(leaf) * weights).sum().backward()
    return leaf.grad.numpy()
