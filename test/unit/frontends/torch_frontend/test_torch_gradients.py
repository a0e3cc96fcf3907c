"""Gradients of exported programs where a rule decides: at edges, and of decompositions; against torch's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import mlc  # noqa: E402
import mlc.numpy as mnp  # noqa: E402

F, L = torch.nn.functional, torch.linalg
EDGES = torch.tensor([[0.0, 1.0, -2.0], [0.0, 0.0, 0.0], [3.0, 3.0, 3.0]], dtype=torch.float64)


def at_edges(x: Any) -> list[Any]:
    y = x * 1.0
    return [
        *(x.std(1), x.std(1, correction=0), torch.std_mean(x, 0)[0], x[:, :1].std(1, correction=0)),
        *(F.leaky_relu(x), F.prelu(x, torch.full((3,), 0.25, dtype=x.dtype)), F.celu(x, 0.7), F.elu(x), F.rrelu(x)),
        *(torch.sinc(x), torch.atan2(x, y), torch.hypot(x, y), x.cumprod(1), x.prod(1), L.det(x), x.norm(dim=1)),
        *(F.pdist(x, float("inf")), torch.cdist(x, y, 1.0)),
    ]


def of_decompositions(x: Any) -> list[Any]:
    symmetric, square = x @ x.mT + torch.eye(3, dtype=x.dtype), x + 2 * torch.eye(3, dtype=x.dtype)
    _, vectors = L.eigh(symmetric)
    q, r = L.qr(square)
    return [
        *(L.svdvals(x), L.eigvalsh(symmetric), vectors.abs(), q, r, L.pinv(x[:, :2]), L.cholesky(symmetric)),
        *(L.slogdet(square)[1], L.det(square), L.inv(square), torch.matrix_exp(x), L.matrix_norm(x, 2)),
    ]


class Total(torch.nn.Module):
    """The sum of all results, each with weights of its own."""

    def __init__(self, function: Callable[[Any], list[Any]]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        flat = torch.cat([y.reshape(-1) for y in self.function(x)])
        return (flat * torch.linspace(0.5, 2.5, flat.numel(), dtype=x.dtype)).sum()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [at_edges, of_decompositions])
def test_gradients_of_exported_programs(function: Callable[[Any], list[Any]]) -> None:
    torch.manual_seed(0)
    x = EDGES.clone() if function is at_edges else torch.randn(3, 3, dtype=torch.float64)
    f = mlc.function(torch.export.export(Total(function).eval(), (x,)))
    found = mlc.grad(lambda x: mnp.sum(f(x)))(x.numpy())
    given = x.clone().requires_grad_()
    Total(function).eval()(given).backward()
    np.testing.assert_allclose(np.asarray(found), given.grad.numpy(), rtol=1e-9, atol=1e-9)
