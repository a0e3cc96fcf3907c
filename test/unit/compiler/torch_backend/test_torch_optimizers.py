"""Steps of torch's optimizers through torch.compile."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", ["AdamW", "RMSprop"])
@pytest.mark.filterwarnings("error:mlc")  # of an operator that runs in eager torch
def test_compiled_steps_agree(name: str) -> None:
    found, wanted = (_trained(name, is_compiled) for is_compiled in (True, False))
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)


def _trained(name: str, is_compiled: bool) -> torch.Tensor:
    weight = torch.nn.Parameter(torch.linspace(-1, 1, 12).reshape(3, 4))
    optimizer = getattr(torch.optim, name)([weight], 1e-2)
    step = torch.compile(optimizer.step, backend="mlc") if is_compiled else optimizer.step
    for n in range(3):
        weight.grad = torch.cos(weight.detach() * (n + 1))
        step()
    return weight.detach()
