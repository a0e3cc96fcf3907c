"""Rows of tables: their distances, segments of them, and embeddings of a largest norm; against eager torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unit.frontends.torch_frontend.programs import Case, assert_equal, evaluated  # noqa: E402

import mlc  # noqa: E402

F = torch.nn.functional
ORDERS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf"))
HOW = ("sum", "mean", "max", "min", "prod")
TIED = torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, -2.0, 0.0]], dtype=torch.float64)


def segmented(x: Any, axis: int, **given: Any) -> list[Any]:
    return [torch.segment_reduce(x, how, axis=axis, unsafe=True, **given) for how in HOW]


def cases() -> dict[str, Case]:
    torch.manual_seed(0)
    x, rows = torch.randn(7, 4), torch.randn(2, 6, 3)
    lengths, offsets = torch.tensor([2, 0, 3, 2]), torch.tensor([[1, 2, 2, 5], [0, 0, 6, 6]])
    x[3, 1], x[5, 2] = float("nan"), 0.0
    found: dict[str, Case] = {
        "lengths": (lambda x, n: segmented(x, 0, lengths=n), (x, lengths)),
        "initial": (lambda x, n: segmented(x, 0, lengths=n, initial=0.5), (x, lengths)),
        "offsets": (lambda x, at: segmented(x, 1, offsets=at), (rows, offsets)),
        "nothing": (lambda x, n: segmented(x, 0, lengths=n), (x[:0], lengths * 0)),
        "scalars": (lambda x, n: segmented(x, 0, lengths=n.int()), (x[:, 0], lengths)),
    }
    for p in ORDERS:
        found[f"pairs {p}"] = lambda x, p=p: F.pdist(x, p), (rows[0],)
        found[f"few pairs {p}"] = lambda x, p=p: (F.pdist(x[:1], p), F.pdist(x[:2], p), F.pdist(x[:0], p)), (rows[0],)
    return found


def test_values() -> None:
    for name, result in evaluated(cases()).items():
        try:
            assert_equal(result)
        except AssertionError as error:
            raise AssertionError(name) from error


def test_many_pairs() -> None:
    x = torch.randn(300, 1, dtype=torch.float64)
    assert_equal(evaluated({"x": (lambda x: F.pdist(x), (x,))})["x"], 1e-12)


@pytest.mark.filterwarnings("ignore")
def test_gradients_at_ties() -> None:
    """One program with the gradients of all: where elements are equal, and where distances are 0."""
    lengths = torch.tensor([1, 3])

    def total(x: Any) -> Any:
        ys = [F.pdist(x, p) for p in ORDERS if p] + [torch.cdist(x, x.flip(0) * 1.0, p) for p in ORDERS if p]
        ys += segmented(x, 0, lengths=lengths) + segmented(x, 0, lengths=lengths, initial=0.0)
        flat = [(n + 1) * y.reshape(-1) for n, y in enumerate(ys)]
        return sum((torch.linspace(0.5, 1.5, y.numel(), dtype=y.dtype) * y).sum() for y in flat)

    a, b = (TIED.clone().requires_grad_() for _ in range(2))
    total(a).backward()
    torch.compile(total, backend="mlc", options={"fallback": False})(b).backward()
    np.testing.assert_allclose(b.grad.numpy(), a.grad.numpy(), rtol=1e-9, atol=1e-9)


class Rows(torch.nn.Module):
    def __init__(self, **given: Any) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(7, 4, **given)

    def forward(self, at: Any) -> Any:
        return self.table(at) ** 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("given", [{"max_norm": 1.0}, {"max_norm": 0.8, "norm_type": 1.0, "padding_idx": 2}])
def test_embeddings_of_a_largest_norm(given: dict[str, Any]) -> None:
    """The rows that are read are scaled in place, and trained."""
    eager, own = Rows(**given), Rows(**given)
    own.load_state_dict(eager.state_dict())
    fast, at = torch.compile(own, backend="mlc", options={"fallback": False}), torch.tensor([[1, 5, 1], [2, 0, 2]])
    for module, call in ((eager, eager), (own, fast)):
        call(at).sum().backward()
        with torch.no_grad():
            module.table.weight += 0.7
            call(at + 1)
    torch.testing.assert_close(own.table.weight.grad, eager.table.weight.grad)
    torch.testing.assert_close(own.table.weight, eager.table.weight)
    net = mlc.compile(torch.export.export(own, (at,)))
    torch.testing.assert_close(net(at), eager(at))
