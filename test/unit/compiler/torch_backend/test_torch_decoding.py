"""Decoding with caches that grow, whose heads serve several of the queries, through torch.compile."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")

F = torch.nn.functional
ONLY = {"fallback": False}


class Decoder(torch.nn.Module):
    """Two layers of attention, 4 heads of queries and 2 of keys; a cache for each."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(16, 32) for _ in range(2))

    def forward(self, x: Any, caches: Any, mask: Any) -> Any:
        grown = []
        for layer, (keys, values) in zip(self.layers, caches, strict=True):
            q, k, v = layer(x).split([16, 8, 8], -1)
            q, k, v = (t.unflatten(-1, (-1, 4)).transpose(1, 2) for t in (q, k, v))
            k, v = torch.cat([keys, k], 2), torch.cat([values, v], 2)
            grown.append((k, v))
            x = x + F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True).transpose(1, 2).flatten(2)
        return x, grown


def test_caches_that_grow() -> None:
    torch.manual_seed(0)
    net = Decoder().eval()
    fast = torch.compile(net, backend="mlc", dynamic=True, options=ONLY)
    found = wanted = [(torch.zeros(2, 2, 0, 4), torch.zeros(2, 2, 0, 4))] * 2
    with torch.no_grad():
        for step, count in enumerate((5, 1, 1, 1)):
            whole = 5 + step
            x, mask = torch.randn(2, count, 16), torch.ones(count, whole, dtype=torch.bool).tril(whole - count)
            (a, found), (b, wanted) = fast(x, found, mask), net(x, wanted, mask)
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_constants_beside_an_eager_operator() -> None:
    def f(x: Any) -> Any:
        return torch.special.bessel_j0(x) * torch.tensor([1.0, 2.0]) + x

    with warnings.catch_warnings(action="ignore"):
        torch.testing.assert_close(torch.compile(f, backend="mlc")(torch.ones(3, 2)), f(torch.ones(3, 2)))


def test_flags_that_may_not_be_set() -> None:
    """As they are once torch's own testing tools are imported."""
    x = torch.randn(3, requires_grad=True)
    allowed = torch.backends.__allow_nonbracketed_mutation_flag
    torch.backends.__allow_nonbracketed_mutation_flag = False
    try:
        torch.compile(lambda x: (x * x).sum(), backend="mlc", options=ONLY)(x).backward()
    finally:
        torch.backends.__allow_nonbracketed_mutation_flag = allowed
    torch.testing.assert_close(x.grad, 2 * x.detach())
