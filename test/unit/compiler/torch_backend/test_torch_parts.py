"""Graphs with operators that mlc refuses: these run in eager torch, and the parts between them are compiled."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from mlc.torch import backend as backend_module  # noqa: E402
from mlc.torch.graph_program import Program  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[Program]:
    """The programs that are compiled, in order."""
    found: list[Program] = []
    torch._dynamo.reset()

    class Seen(Program):
        def prepare(self, args: Any) -> Any:
            variant = super().prepare(args)
            found.append(self)
            return variant

    monkeypatch.setattr(backend_module, "Program", Seen)
    return found


class Strange(torch.nn.Module):
    """An operator without a translation between layers; its result is read twice."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = torch.nn.Linear(4, 6), torch.nn.Linear(6, 2)

    def forward(self, x: Any) -> Any:
        y = torch.relu(self.first(x))
        z = torch.special.bessel_j0(y) + torch.special.bessel_y0(y + 1)
        return {"out": self.last(z * 2 + y), "size": z.shape[0], "sum": z.sum()}


def same(found: Any, wanted: Any) -> None:
    assert found.keys() == wanted.keys() and found["size"] == wanted["size"]
    for name in ("out", "sum"):
        torch.testing.assert_close(found[name], wanted[name], rtol=1e-4, atol=1e-5)


def test_one_operator_runs_eagerly_and_the_others_are_compiled(programs: list[Program]) -> None:
    net, x = Strange().eval(), torch.randn(3, 4)
    fast = torch.compile(net, backend="mlc")
    with torch.no_grad(), pytest.warns(UserWarning) as caught:
        found = fast(x)
    same(found, net(x))
    assert len(programs) == 2
    messages = [str(each.message) for each in caught if "mlc" in str(each.message)]
    assert len(messages) == 2 and "special_bessel_j0 at test_torch_parts.py:" in messages[0]


def test_new_parameters_and_sizes(programs: list[Program]) -> None:
    net = Strange().eval()
    fast = torch.compile(net, backend="mlc", dynamic=True)
    with torch.no_grad(), warnings.catch_warnings(action="ignore"):
        for rows in (3, 5):
            x = torch.randn(rows, 4)
            same(fast(x), net(x))
            net.last.weight.mul_(2)
            same(fast(x), net(x))


def test_training_in_parts(programs: list[Program]) -> None:
    def loss(net: Any, x: Any) -> Any:
        y = net.first(x)
        return (net.last(torch.sinc(y) * torch.nn.functional.pdist(y).sum()) ** 2).sum()

    net, x = Strange(), torch.randn(3, 4)
    with warnings.catch_warnings(action="ignore"):
        torch.compile(loss, backend="mlc")(net, x).backward()
    found = {name: p.grad.clone() for name, p in net.named_parameters()}
    net.zero_grad()
    loss(net, x).backward()
    for name, p in net.named_parameters():
        torch.testing.assert_close(found[name], p.grad, rtol=1e-4, atol=1e-5)
    assert programs


def test_a_refusal_by_arguments_is_found_after_another(programs: list[Program]) -> None:
    """The second one is seen when its part is imported."""

    def twice(x: Any) -> Any:
        y = torch.special.bessel_j0(x)
        return torch.unique_consecutive(torch.floor(y * 2)).sum() + y.mean()

    x = torch.rand(5)
    with warnings.catch_warnings(action="ignore"):
        torch.testing.assert_close(torch.compile(twice, backend="mlc")(x), twice(x))


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_interpolation_of_symbolic_sizes(mode: str) -> None:
    """Sizes are multiples of symbolic ones, which torch rounds down from floats."""
    torch._dynamo.reset()

    def resized(x: Any) -> Any:
        return torch.nn.functional.interpolate(x, scale_factor=(0.5, 1.3), mode=mode)

    fast = torch.compile(resized, backend="mlc", dynamic=True, options={"fallback": False})
    for size in ((8, 10), (11, 5)):
        x = torch.randn(1, 2, *size)
        torch.testing.assert_close(fast(x), resized(x), rtol=1e-4, atol=1e-4)
