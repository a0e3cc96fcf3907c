"""Reductions, norms and searches of torch on edge values, exported and by torch.compile, against eager torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unit.frontends.torch_frontend.programs import Case, assert_equal, evaluated  # noqa: E402

INF, NAN = float("inf"), float("nan")
ROWS = torch.tensor([[1.0, NAN, 3.0, 2.0], [4.0, 4.0, 1.0, 0.0], [NAN, 1.0, NAN, NAN], [INF, -INF, 0.0, 5.0]])
LINE, VALUES = torch.tensor([-1.0, 0.0, 0.5, 0.5, 2.0]), torch.tensor([NAN, INF, -INF, 0.5, -2.0, 0.0])
POINTS = torch.tensor([[0.0, 0.0, 0.0], [3.0, -4.0, 1.0], [1.0, 1.0, 0.0]])
ORDERS = (0.0, 0.5, 1.0, 2.0, 3.0, INF)


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {
        "median": (lambda x: torch.median(x, 1), (ROWS,)),
        "median_all": (torch.median, (ROWS,)),
        "median_kept": (lambda x: torch.median(x, 0, keepdim=True), (ROWS,)),
        "nanmedian": (lambda x: torch.nanmedian(x, 1).values, (ROWS,)),
        "kthvalue": (lambda x: torch.kthvalue(x, 3, 1).values, (ROWS,)),
        "median_whole": (lambda x: torch.median(x, 1).values, (torch.tensor([[3, 1, 2, 7]]),)),
        "sorter": (
            lambda line, x: torch.searchsorted(line.flip(0), x, sorter=torch.arange(4, -1, -1)), (LINE, VALUES)),
        "copysign": (torch.copysign, (torch.ones(5), torch.tensor([-0.0, 0.0, -NAN, -INF, 2.0]))),
        "signbit": (torch.signbit, (torch.tensor([-0.0, 0.0, -INF, 2.0]),)),
        "angle": (torch.angle, (torch.tensor([-0.0, 0.0, -INF, 2.0, -3.0, NAN]),)),
        "clamp_nan": (lambda x, low: torch.clamp(x, low), (ROWS, torch.tensor([0.0, 1.0, NAN, 2.0]))),
        "pool_nan": (lambda x: torch.nn.functional.max_pool1d(x[None], 2), (ROWS,)),
    }  # fmt: skip
    for right in (False, True):
        found[f"bucketize_{right}"] = (lambda x, line, r=right: torch.bucketize(x, line, right=r), (VALUES, LINE))
        found[f"searchsorted_{right}"] = (
            lambda line, x, r=right: torch.searchsorted(line, x, right=r), (LINE, VALUES))  # fmt: skip
    for correction in (0, 1, 4, 6):
        for f in (torch.var, torch.std):
            found[f"{f.__name__}_{correction}"] = (
                lambda x, f=f, c=correction: f(x, dim=1, correction=c), (ROWS[[1, 1]] * POINTS[:2, :1],)
            )  # fmt: skip
    for p in ORDERS:
        found[f"cdist_{p}"] = lambda a, b, p=p: torch.cdist(a, b, p), (POINTS, POINTS[1:])
        found[f"norm_{p}"] = lambda a, p=p: torch.linalg.vector_norm(a, p, dim=1), (POINTS,)
    return found


CASES = cases()


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return evaluated(CASES)


@pytest.mark.parametrize("name", CASES)
def test_edges(name: str, results: dict[str, Any]) -> None:
    assert_equal(results[name])


def test_gradients_of_norms_at_zero_are_zero() -> None:
    for p in ORDERS[1:]:
        expected, found = (torch.zeros(2, 3, requires_grad=True) for _ in range(2))
        f = lambda x, p=p: torch.linalg.vector_norm(x, p, dim=1).sum()  # noqa: E731
        f(expected).backward()
        torch.compile(f, backend="mlc")(found).backward()
        np.testing.assert_array_equal(found.grad.numpy(), expected.grad.numpy())


HALVES = torch.linspace(-9, 9, 901)
WITH_NUMBERS = {
    "mul": lambda x: x * 0.1,
    "reversed mul": lambda x: 0.1 * x,
    "scalar tensor": lambda x: x * torch.tensor(0.1),
    "div": lambda x: x / 0.3,
    "reversed div": lambda x: 0.3 / x,
    "floor": lambda x: torch.div(x, 0.3, rounding_mode="floor"),
    "add": lambda x: x + 0.1,
    "sub": lambda x: 0.1 - x,
    "alpha": lambda x: torch.add(x, x, alpha=0.1),
    "lerp": lambda x: torch.lerp(x, x.flip(0), 0.1),
    "addcmul": lambda x: torch.addcmul(x, x, x, value=0.1),
}


def test_halves_beside_numbers_have_the_bits_of_torch() -> None:
    given = {str(dtype)[6:]: HALVES.to(dtype) for dtype in (torch.bfloat16, torch.float16)}
    found = evaluated({f"{n} {d}": (f, (x,)) for n, f in WITH_NUMBERS.items() for d, x in given.items()})
    for eager, ours in found.values():
        np.testing.assert_array_equal(ours[0].astype(np.float64), eager[0].astype(np.float64))
