"""torch.cond, torch.while_loop and sizes that are computed from data, compiled, against eager torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import mlc  # noqa: E402


def normal(*shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng().normal(size=shape).astype(np.float32))


class Branch(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda a: a.cumsum(0) * 2, lambda a: (a - 1) * a, (x,))


class Loop(torch.nn.Module):
    def forward(self, x: Any, count: Any) -> Any:
        step = torch.tensor(0)
        return torch.while_loop(lambda i, z: i < count, lambda i, z: (i + 1, z * 1.5 + i), (step, x))


class Counted(torch.nn.Module):
    def forward(self, x: Any, count: Any) -> Any:
        n = count.item()
        torch._check(n >= 1)
        torch._check(n <= 8)
        return x[:n].sum(), torch.zeros(n) + torch.arange(n), x.expand(3, 8) * n


CASES = {
    Branch: [(normal(3, 4).abs(),), (-normal(3, 4).abs(),)],
    Loop: [(normal(4), torch.tensor(5)), (normal(4), torch.tensor(0))],
    Counted: [(normal(8), torch.tensor(5)), (normal(8), torch.tensor(1))],
}


@pytest.mark.parametrize("kind", CASES)
def test_control(kind: Any) -> None:
    net = mlc.compile(torch.export.export(kind(), CASES[kind][0]))
    for args in CASES[kind]:
        torch.testing.assert_close(net(*args), kind()(*args), rtol=1e-5, atol=1e-5)


def test_a_size_beyond_the_tensor_is_refused() -> None:
    net = mlc.compile(torch.export.export(Counted(), CASES[Counted][0]))
    with pytest.raises(mlc.RunError, match="not from 0 to 8|extent|elements"):
        net(normal(8), torch.tensor(-3))
