"""Matrices stored in rows and in columns, of which torch keeps different factors for derivatives."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

L = torch.linalg


def results(a: Any, b: Any) -> list[Any]:
    return [L.det(a), L.slogdet(a).logabsdet, L.solve(a, b), L.inv(a)]


@pytest.fixture
def double() -> Any:
    torch.set_default_dtype(torch.float64)  # of the tokens without elements that order checks, too
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("rows", [True, False])
def test_gradients_of_determinants_and_solutions(rows: bool) -> None:
    torch._dynamo.reset()
    a, b = torch.randn(2, 4, 4), torch.randn(2, 4, 3)
    stored = a if rows else a.mT.contiguous().mT
    fast = torch.compile(results, backend="mlc", options={"fallback": False})
    given = [stored.clone(memory_format=torch.preserve_format).requires_grad_() for _ in range(2)]
    for call, x in ((results, given[0]), (fast, given[1])):
        sum((y**2).sum() for y in call(x, b)).backward()
    torch.testing.assert_close(given[1].grad, given[0].grad)
