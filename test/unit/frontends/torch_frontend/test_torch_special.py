"""Special functions, linear algebra, embedding bags, sorts and writes, against eager torch."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from unit.frontends.torch_frontend.programs import Case, assert_equal, evaluated  # noqa: E402

F, L = torch.nn.functional, torch.linalg
X = torch.tensor([0.3, 1.0, 2.0, 2.5, 7.5, 30.0, -0.5, -1.5, -3.3, float("inf"), float("nan")])
BAGS = torch.tensor([0, 3, 3, 5])
INDICES = torch.tensor([1, 2, 1, 4, 0, 2])


def bag(mode: str, **given: Any) -> Case:
    return lambda w: F.embedding_bag(INDICES, w, BAGS, mode=mode, **given), (torch.randn(5, 3),)


def put(x: Any, rows: Any, columns: Any, values: Any, accumulate: bool) -> Any:
    y = x.clone()
    if accumulate:
        y[rows, :, columns] += values
    else:
        y[rows, :, columns] = values
    return y


def cases() -> dict[str, Case]:
    a, b, cube = torch.randn(2, 4, 4), torch.randn(2, 4, 3), torch.randn(4, 3, 5)
    positive = a @ a.mT + torch.eye(4)
    ties = torch.tensor([[2, 1, 2, 1], [0, 0, 3, 3]])
    rows, columns, values = torch.tensor([0, 2]), torch.tensor([4, 1]), torch.randn(2, 3)
    return {
        "lgamma": (torch.lgamma, (X,)),
        "digamma": (torch.digamma, (X,)),
        "polygamma": (lambda x: [torch.polygamma(n, x) for n in (1, 2, 3)], (X[:9],)),
        "round": (lambda x: [torch.round(100 * x, decimals=n) for n in (-1, 0, 2)], (X[:9],)),
        "stable": (lambda x: torch.argsort(x, dim=1, stable=True, descending=True), (ties,)),
        "stable sort": (lambda x: torch.sort(x, stable=True, dim=0), (ties,)),
        "scalar sort": (lambda x: (torch.sort(x), torch.topk(x, 1)), (torch.tensor(3.0),)),
        "put": (lambda x, v: put(x, rows, columns, v, False), (cube, values)),
        "add": (lambda x, v: put(x, rows, columns, v, True), (cube, values)),
        "sum of bags": bag("sum", per_sample_weights=torch.randn(6)),
        "mean of bags": bag("mean", padding_idx=2),
        "max of bags": bag("max", padding_idx=1),
        "last offset": bag("sum", include_last_offset=True),
        "solve": (L.solve, (a, b)),
        "inverse and determinant": (lambda x: (L.inv(x), L.det(x), L.slogdet(x)), (a,)),
        "factors": (lambda x: (*L.lu_factor(x), *L.qr(x)), (a,)),
        "symmetric": (lambda x: (L.cholesky(x), L.eigvalsh(x), L.svdvals(x)), (positive,)),
        "triangular": (lambda x, y: L.solve_triangular(x.triu(), y, upper=True), (positive, b)),
        "nans": (lambda x: (torch.nansum(x), torch.nanmean(x), torch.nanmedian(x)), (X,)),
        "whole": (lambda x: (F.avg_pool1d(x[None], 2), F.hardtanh(x, -0.5, 2.5)), (torch.arange(-3, 5),)),
        "index_reduce": (lambda x: x.index_reduce(1, torch.tensor([0, 2, 0]), x + 1, "amax"), (cube,)),
    }


CASES = cases()


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return evaluated(CASES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_functions(name: str, results: dict[str, Any]) -> None:
    assert_equal(results[name], 2e-4, 2e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("norm_first", [False, True])
def test_the_fast_path_of_an_encoder_layer(norm_first: bool) -> None:
    given = {"activation": "gelu", "batch_first": True, "norm_first": norm_first}
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, **given).eval()
    attention = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
    x, padding = torch.randn(3, 5, 8), torch.zeros(3, 5, dtype=torch.bool)
    padding[0, 3:] = True
    causal = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    with torch.no_grad():
        cases = {
            "plain": (lambda x: layer(x), (x,)),
            "padded": (lambda x: layer(x, src_key_padding_mask=padding), (x,)),
            "causal": (lambda x: layer(x, src_mask=causal), (x,)),
            "attention": (lambda x: attention(x, x, x, key_padding_mask=padding), (x,)),
        }
        for result in evaluated(cases).values():
            assert_equal(result, 1e-4, 1e-5)


@pytest.mark.filterwarnings("ignore")
def test_gradients() -> None:
    functions = {
        "gamma": lambda x: (torch.lgamma(x) + torch.digamma(x) + torch.polygamma(1, x)).sum(),
        "bags": lambda x: sum(
            F.embedding_bag(INDICES, x, BAGS, mode=m, padding_idx=2).square().sum() for m in ("sum", "mean", "max")
        ),
        "factors": lambda x: F.embedding_bag(INDICES, x, BAGS, mode="sum", per_sample_weights=x[:2].reshape(6)).sum(),
    }
    for f in functions.values():
        torch._dynamo.reset()
        x = torch.rand(5, 3) + 0.5
        wanted, found = (x.clone().requires_grad_() for _ in range(2))
        f(wanted).backward()
        torch.compile(f, backend="mlc", options={"fallback": False})(found).backward()
        torch.testing.assert_close(found.grad, wanted.grad, rtol=1e-3, atol=1e-4)
