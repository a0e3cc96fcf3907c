"""Factors in one matrix, as LAPACK has them: reflections, L D L^T with blocks of 2; against eager torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unit.frontends.torch_frontend.programs import Case, assert_equal, evaluated  # noqa: E402

import mlc  # noqa: E402
import mlc.numpy as mnp  # noqa: E402

L = torch.linalg
KINDS = (torch.float64, torch.complex128)


def indefinite(n: int, kind: Any, hermitian: bool, diagonal: float = 0.0) -> Any:
    """Two matrices whose diagonals of small elements are no pivots."""
    x = torch.randn(2, n, n, dtype=kind)
    whole = x + (x.mH if hermitian else x.mT)
    return whole.tril(-1) + whole.triu(1) + diagonal * torch.diag_embed(torch.randn(2, n).to(kind))


def solved(a: Any, b: Any, hermitian: bool) -> Any:
    factors, pivots = L.ldl_factor(a, hermitian=hermitian)
    return factors, pivots, L.ldl_solve(factors, pivots, b, hermitian=hermitian)


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for kind in KINDS:
        for hermitian in (False, True):
            for n, diagonal in ((1, 1.0), (2, 0.0), (7, 0.0), (12, 0.7), (0, 0.0)):
                given = (indefinite(n, kind, hermitian, diagonal), torch.randn(2, n, 3, dtype=kind))
                found[f"ldl {kind} {hermitian} {n}"] = lambda a, b, h=hermitian: solved(a, b, h), given
        for m, n in ((6, 4), (4, 6), (5, 5), (1, 1), (3, 0), (70, 40)):
            x = torch.randn(2, m, n, dtype=kind)
            found[f"geqrf {kind} {m} {n}"] = lambda x: torch.geqrf(x), (x,)
        x, b = torch.randn(2, 6, 4, dtype=kind), torch.randn(2, 6, 6, dtype=kind)
        found[f"products {kind}"] = products, (*torch.geqrf(x), b)
    x = torch.zeros(4, 4, dtype=torch.float64)
    x[3, 0] = 2.0
    found["reflects nothing"] = lambda x: torch.geqrf(x), (x,)
    return found


def products(x: Any, factors: Any, b: Any) -> Any:
    sides = [torch.ormqr(x, factors, b, left=a, transpose=t) for a in (True, False) for t in (True, False)]
    return L.householder_product(x, factors), L.householder_product(x, factors[..., :2]), sides


@pytest.fixture(scope="module")
def results() -> Any:
    torch.manual_seed(0)
    return evaluated(cases())


def test_factors_and_solutions(results: Any) -> None:
    for name, result in results.items():
        try:
            assert_equal(result, 1e-9, 1e-9)
        except AssertionError as error:
            raise AssertionError(name) from error


def test_a_singular_matrix_is_reported() -> None:
    x = torch.tensor([[2.0, 4.0, 0.0], [4.0, 8.0, 0.0], [0.0, 0.0, 1.0]])
    assert_equal(evaluated({"x": (lambda x: L.ldl_factor_ex(x)[2], (x,))})["x"])


def test_gradients_of_products_with_reflections() -> None:
    given = [torch.randn(2, 5, 3, dtype=torch.float64), torch.rand(2, 3, dtype=torch.float64)]

    class Product(torch.nn.Module):
        def forward(self, x: Any, factors: Any) -> Any:
            q = L.householder_product(x, factors)
            return q @ torch.ormqr(x, factors, q, transpose=True).mT

    f = mlc.function(torch.export.export(Product(), tuple(given)))
    found = mlc.grad(lambda x, t: mnp.sum(f(x, t) ** 3), argnums=(0, 1))(*(x.numpy() for x in given))
    leaves = [x.requires_grad_() for x in given]
    wanted = torch.autograd.grad((Product()(*leaves) ** 3).sum(), leaves)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(a), b.numpy(), rtol=1e-9, atol=1e-9)
