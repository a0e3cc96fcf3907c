"""Counts, running extremes, pools with positions, factors of any shape, random distributions, against eager torch."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from unit.frontends.torch_frontend.programs import Case, assert_equal, evaluated  # noqa: E402

from mlc.errors import RunError  # noqa: E402

F, L = torch.nn.functional, torch.linalg
NAN, INF = float("nan"), float("inf")
X = torch.tensor([[0.5, NAN, 2.0, 2.0, -INF], [-INF, -INF, 1.0, 1.0, INF], [3.0, 1.0, 3.0, 0.0, -0.0]])
WHOLE = torch.tensor([[2, 1, 2, 1, 1], [0, 3, 3, 3, 0], [2, 1, 2, 1, 1]])
P = torch.tensor([0.0, 1e-6, 0.3, 0.5, 1.0, 2.5, 40.0, 700.0])


def cases() -> dict[str, Case]:
    image, samples = torch.randn(2, 3, 9, 7), torch.rand(2, 3, 2)
    tall, wide = torch.randn(2, 5, 3), torch.randn(3, 5)
    low_rank = torch.randn(4, 2) @ torch.randn(2, 3)
    triangle = torch.randn(3, 3)
    return {
        "cummax": (lambda x, n: [torch.cummax(y, d) for y in (x, n) for d in (0, 1)], (X, WHOLE)),
        "cummin": (lambda x, n: [torch.cummin(y, -1) for y in (x, n)], (X, WHOLE)),
        "logcumsumexp": (lambda x: (torch.logcumsumexp(x, 1), torch.logcumsumexp(x[:0], 1)), (X[1:] * 100,)),
        "mode": (lambda n: (*torch.mode(n), *torch.mode(n, 0, keepdim=True)), (WHOLE,)),
        "histc": (lambda x: (torch.histc(x, 4), torch.histc(x, 5, -1, 2), torch.histc(x[:1], 3)), (X[2],)),
        "histogram": (lambda x: (torch.histogram(x, 4), torch.histogram(x, torch.tensor([0.0, 1.0, 3.0]))), (X[2],)),
        "points": (lambda x: torch.histogramdd(x, [2, 3], range=[-1.0, 1.0, 0.0, 2.0]), (torch.randn(9, 2),)),
        "bincount": (lambda n: (torch.bincount(n), torch.bincount(n, n * 0.5, minlength=7)), (WHOLE[1],)),
        "unique": (lambda n: torch.unique(n, return_inverse=True, return_counts=True), (WHOLE,)),
        "unique rows": (lambda n: torch.unique(n, dim=0, return_inverse=True, return_counts=True), (WHOLE,)),
        "runs": (lambda n: torch.unique_consecutive(n, return_inverse=True, return_counts=True), (WHOLE,)),
        "runs of columns": (lambda n: torch.unique_consecutive(n, dim=1, return_counts=True), (WHOLE,)),
        "repeat": (lambda n, x: (torch.repeat_interleave(n[1]), x.repeat_interleave(n[0], 1)), (WHOLE, X[1:])),
        "adaptive": (lambda x: F.adaptive_max_pool2d(x, (4, 3), return_indices=True), (image,)),
        "fractional": (
            lambda x, s: F.fractional_max_pool2d(x, 2, output_size=(4, 3), _random_samples=s, return_indices=True),
            (image, samples),
        ),
        "gamma": (lambda p: (torch.special.gammainc(p, p.flip(0)), torch.special.gammaincc(p, p.flip(0))), (P[:-1],)),
        "special": (lambda p: (torch.erfinv(p[:5]), torch.special.ndtri(p[:5]), torch.special.i1e(p), torch.i0(p[:7])),
                    (P,)),
        "zeta": (lambda p: (torch.special.zeta(p[2:], 2.0), torch.special.log_ndtr(-p), torch.frexp(p)), (P,)),
        "factors": (lambda a, b: [L.lu_factor(x) for x in (a, b)], (tall, wide)),
        "unpacked": (lambda a, b: [(*L.lu(x), *torch.lu_unpack(*L.lu_factor(x))) for x in (a, b)], (tall, wide)),
        "inverses": (lambda a, t: (L.pinv(a), L.pinv(t, hermitian=True), L.pinv(a, rtol=1.1)), (low_rank, triangle)),
        "exponential": (torch.matrix_exp, (tall[:, :3],)),
        "scalars": (lambda x: (x.gather(0, torch.tensor([0, 0])), x.index_add(0, torch.tensor([0]), x)), (P[3],)),
        "position": (lambda x: (x.argmax(0), x.argmin(-1, keepdim=True), x.argmax()), (P[3],)),
        "no dimension": (lambda x: x.squeeze([]), (torch.randn(1, 1),)),
        "diagonal": (lambda n: n.float().diagonal_scatter(torch.ones(3), 1), (WHOLE,)),
        "masked": (lambda x, n: x.masked_scatter(n > 1, n * 0.5), (P[:5], WHOLE)),
        "divisors": (lambda n: (torch.gcd(n, n.flip(1)), torch.lcm(n, n.flip(1))), (WHOLE,)),
        "view": (lambda x: x.as_strided((2, 2), (1, 2), 1), (P,)),
    }  # fmt: skip


@pytest.fixture(scope="module")
def results() -> dict[str, object]:
    torch.manual_seed(0)
    return evaluated({name: (f, tuple(x.clone() for x in given)) for name, (f, given) in cases().items()})


@pytest.mark.parametrize("name", list(cases()))
def test_operators_agree_with_eager_torch(results: dict[str, object], name: str) -> None:
    assert_equal(results[name])  # type: ignore[arg-type]


def test_memory_before_a_view_is_refused_not_guessed() -> None:
    view = torch.arange(10.0)[4:]

    def first(x: torch.Tensor) -> torch.Tensor:
        return x.as_strided((2,), (1,), 0) * 2

    with pytest.warns(UserWarning, match="as_strided .* runs in eager torch"):
        assert torch.compile(first, backend="mlc")(view).tolist() == [0.0, 2.0]


def _assigned(x: torch.Tensor, mask: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[mask] = values
    return y


def test_values_assigned_by_a_mask_are_as_many_as_it_has() -> None:
    x, rows = torch.randn(4, 5), torch.tensor([True, False, True, False])
    some = x > x.flatten().sort().values[-5]  # four elements
    cases = [(some, torch.randn(4)), (some, torch.randn(1)), (x > 99, torch.randn(0)), (rows, torch.randn(2, 5))]
    for mask, values in cases:
        torch._dynamo.reset()
        compiled = torch.compile(_assigned, backend="mlc", options={"fallback": False})
        assert torch.equal(compiled(x, mask, values), _assigned(x, mask, values))
    with pytest.raises(RunError, match="other elements than"):
        compiled(x, ~rows | True, values)


def test_running_functions_of_symbolic_extents() -> None:
    def both(x: torch.Tensor) -> object:
        return torch.cummax(x, 0), torch.logcumsumexp(x, 0)

    compiled = torch.compile(both, backend="mlc", dynamic=True, options={"fallback": False})
    for n in (7, 33, 2):
        x = torch.randn(n, 3)
        (top, at), total = compiled(x)
        assert torch.equal(top, x.cummax(0).values) and torch.equal(at, x.cummax(0).indices)
        torch.testing.assert_close(total, x.logcumsumexp(0))


def test_random_distributions_have_their_moments() -> None:
    def drawn(p: torch.Tensor) -> list[torch.Tensor]:
        return [
            torch.randint(3, 9, (4000,)),
            torch.normal(p[0], torch.full((4000,), 2.0)),
            torch.poisson(torch.full((4000,), 4.0)),
            torch._standard_gamma(torch.full((4000,), 2.5)),
            torch.multinomial(p[1:], 4000, replacement=True),
            torch.multinomial(p[1:].expand(4000, 4), 1)[:, 0],
            torch.multinomial(p[1:].expand(50, 4), 3).sum(1),
        ]

    p = torch.tensor([1.0, 0.0, 1.0, 2.0, 1.0])
    found = torch.compile(drawn, backend="mlc", options={"fallback": False})(p)
    integers, normal, poisson, gamma, many, one, without = found
    assert set(integers.tolist()) == set(range(3, 9))
    for values, mean, variance in ((normal, 1.0, 4.0), (poisson, 4.0, 4.0), (gamma, 2.5, 2.5), (many, 2.0, 0.5),
                                   (one, 2.0, 0.5), (integers, 5.5, 35 / 12)):  # fmt: skip
        assert abs(values.double().mean() - mean) < 0.2
        assert abs(values.double().var() - variance) < 0.15 * variance + 0.1
    assert (without == 6).all()  # each of the three classes that have a weight, once


def test_positions_of_maxima_take_the_gradients() -> None:
    x, samples = torch.randn(2, 3, 8, 7, requires_grad=True), torch.rand(2, 3, 2)

    def pools(x: torch.Tensor) -> torch.Tensor:
        small = F.fractional_max_pool2d(x, 2, output_size=3, _random_samples=samples)
        return (small**2).sum() + (F.adaptive_max_pool2d(x, 3) ** 3).sum()

    compiled = torch.compile(pools, backend="mlc", options={"fallback": False})
    wanted, found = (torch.autograd.grad(f(x), x)[0] for f in (pools, compiled))
    torch.testing.assert_close(found, wanted)


def test_weights_of_a_direction_and_a_length() -> None:
    norm = torch.nn.utils.parametrizations.weight_norm
    net = torch.nn.Sequential(norm(torch.nn.Conv1d(2, 4, 3)), norm(torch.nn.Linear(6, 3)))
    x = torch.randn(2, 2, 8)
    found, wanted = (
        torch.autograd.grad((f(x) ** 2).sum(), list(net.parameters()))
        for f in (torch.compile(net, backend="mlc", options={"fallback": False}), net)
    )
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_systems_are_solved_from_factors_on_both_sides() -> None:
    def solved(a: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
        lu, pivots = L.lu_factor(a)
        return [L.lu_solve(lu, pivots, x, left=n < 2, adjoint=n % 2 > 0) for n, x in enumerate((b, b, b.mT, b.mT))]

    a, b = torch.randn(2, 3, 3) + 3 * torch.eye(3), torch.randn(2, 3, 5)
    found = torch.compile(solved, backend="mlc", options={"fallback": False})(a, b)
    torch.testing.assert_close(found, solved(a, b), rtol=1e-4, atol=1e-4)
