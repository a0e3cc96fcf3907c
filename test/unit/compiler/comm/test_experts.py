"""A mixture of experts on ranks beside one rank and NumPy: results, gradients, bytes, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import comm
from mlc.errors import InputError

EXPERTS, WIDTH, HIDDEN, TOKENS = 4, 6, 10, 8


def draw(*shape: int) -> np.ndarray[Any, Any]:
    return (np.random.default_rng().normal(size=shape) / 2).astype("float32")


def expert(w: Any, x: Any) -> Any:
    """With a bias, so that rows which no token fills have results of their own."""
    return mnp.tanh(x @ w["up"] + w["bias"]) @ w["down"]


def experts() -> dict[str, Any]:
    return {"up": draw(EXPERTS, WIDTH, HIDDEN), "bias": draw(EXPERTS, HIDDEN), "down": draw(EXPERTS, HIDDEN, WIDTH)}


def step(part: Any, router: Any, x: Any) -> Any:
    """Results of tokens, and the gradients of experts, router and tokens."""

    def loss(part: Any, router: Any, x: Any) -> Any:
        y = mlc.mixture_of_experts(expert, part, x, x @ router, top=2)
        return mnp.sum(mnp.tanh(y) ** 2), y

    (_, y), gradients = mlc.value_and_grad(loss, argnums=(0, 1, 2), has_aux=True)(part, router, x)
    return y, gradients


def in_numpy(w: Any, router: Any, x: Any) -> Any:
    found, scores = np.zeros(x.shape), x.astype("f8") @ router
    for n, row in enumerate(x.astype("f8")):
        best = np.argsort(-scores[n], kind="stable")[:2]
        weights = np.exp(scores[n, best] - scores[n, best].max())
        for e, share in zip(best, weights / weights.sum(), strict=True):
            found[n] += share * (np.tanh(row @ w["up"][e] + w["bias"][e]) @ w["down"][e])
    return found


def close(found: Any, wanted: Any) -> None:
    mlc.tree_map(
        lambda a, b: np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-4, atol=1e-5), found, wanted
    )


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("skew", [0.0, 8.0])
def test_results_and_gradients_are_those_of_one_rank(ranks: int, skew: float) -> None:
    """With ``skew`` nearly all tokens go to one expert: none is dropped."""
    w, x, router = experts(), draw(TOKENS, WIDTH), draw(WIDTH, EXPERTS)
    x[:, 0], router[0, 1] = 1, skew
    wanted, (of_experts, of_router, of_x) = step(*mlc.tree_map(mnp.asarray, (w, router, x)))
    close(wanted, in_numpy(w, router, x))
    apart = lambda v: np.stack(np.split(v, ranks))  # noqa: E731
    y, gradients = comm.simulate(step, ranks)(mlc.tree_map(apart, w), np.stack([router] * ranks), apart(x))
    joined = lambda v: np.asarray(v).reshape(-1, *v.shape[2:])  # noqa: E731
    close(joined(y), wanted)
    close(mlc.tree_map(joined, gradients[0]), of_experts)
    close(np.asarray(gradients[1]).sum(0), of_router)
    close(joined(gradients[2]), of_x)


def test_ranks_send_the_rows_of_tokens_alone() -> None:
    """Threads of this process. All tokens of rank 0 go to expert 0 and 1, its own, and so do those of rank 1."""
    w, x = experts(), np.abs(draw(TOKENS, WIDTH)) + 0.1
    router = np.tile(np.array([4, 3, 0, 0], np.float32), (WIDTH, 1))

    def run(rank: int) -> tuple[Any, int]:
        f = mlc.jit(lambda part, x: mlc.mixture_of_experts(expert, part, x, x @ router), wait=True)
        args = mlc.tree_map(lambda v: np.split(v, 2)[rank], (w, x))
        before = comm.current().sent  # type: ignore[attr-defined]
        y = f(*args)
        return y, comm.current().sent - before  # type: ignore[attr-defined]

    found = comm.in_threads(2, run)
    close(np.concatenate([y for y, _ in found]), in_numpy(w, router, x))
    rows, joined = TOKENS // 2 * 2 * WIDTH * 4, 64
    counts, marks = 3 * 2 * 8, TOKENS // 2 * 2 * 4  # of 2 lists each time; one number for each row
    assert [sent - joined for _, sent in found] == [counts + rows, counts + rows + marks]


def test_lists_are_those_of_a_plain_all_to_all() -> None:
    """Rows of zeros within a list, at its end, and whole lists of zeros."""
    x = draw(2, 6, 5, 3)
    x[:, :, 3:], x[0, 1], x[1, 2, 1] = 0, 0, 0

    def run(rank: int) -> Any:
        both = mlc.jit(lambda x: (comm.all_to_all(x, lists=True), comm.all_to_all(x)), wait=True)
        return both(x[rank])

    for lists, plain in comm.in_threads(2, run):
        np.testing.assert_array_equal(lists, plain)


REFUSED: dict[str, tuple[Any, str]] = {
    "experts": (lambda w: mlc.mixture_of_experts(expert, w, draw(3, WIDTH), draw(3, 5)), "do not fit"),
    "tokens": (lambda w: mlc.mixture_of_experts(expert, w, draw(3, WIDTH), draw(2, EXPERTS)), "do not fit"),
    "too many": (lambda w: mlc.mixture_of_experts(expert, w, draw(3, WIDTH), draw(3, EXPERTS), top=5), "cannot have 5"),
    "lists": (lambda w: comm.all_to_all(draw(4), lists=True), "all_to_all of lists"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        make(experts())
