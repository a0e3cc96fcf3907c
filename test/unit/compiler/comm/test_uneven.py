"""Blocks of extents that the ranks do not divide evenly: values beside one rank, in NumPy and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import comm
from mlc.comm.sharded import Sharded
from mlc.frontends.array.nn.convolutions import conv

P = mlc.P
ROWS = P("a")


def draw(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng().normal(size=shape).astype("float32")


def close(found: Any, wanted: Any) -> None:
    mlc.tree_map(
        lambda a, b: np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-4, atol=2e-4), found, wanted
    )


def softmax(x: Any) -> Any:
    e = mnp.exp(x - mnp.max(x, axis=0))
    return e / mnp.sum(e, axis=0)


def normalized(x: Any) -> Any:
    return (x - mnp.mean(x, axis=0)) / mnp.sqrt(mnp.var(x, axis=0) + 1e-5)


def loss(x: Any, w: Any) -> Any:
    return mlc.value_and_grad(lambda w: mnp.mean(mnp.tanh(x @ w) ** 2))(w)


def heads(q: Any, k: Any) -> Any:
    apart = lambda x: mnp.reshape(x, (*x.shape[:2], 3, 4))  # noqa: E731
    return mnp.einsum("blhd,bmhd->bhlm", apart(q), apart(k))


def flat(x: Any) -> Any:
    return mnp.reshape(mnp.reshape(x, (-1,)) * 2, (x.shape[0], 2, 3)) + 1


def random(x: Any) -> Any:
    return x + mlc.numpy.random.normal(mlc.numpy.random.key(3), x.shape)


def loops(x: Any) -> Any:
    """Computed whole on each rank: loops and branches with several results."""
    a, b = mlc.fori_loop(0, 3, lambda i, c: (c[0] * 1.5, c[1] + c[0]), (x, x))
    c, d = mlc.cond(mnp.sum(x) > 0, lambda x: (x, x * 2), lambda x: (x * 3, x), x)
    return a + b + c * d


AT = np.array([0, 6, 3, 2, 6])
CASES: dict[str, tuple[Any, Any, list[Any]]] = {
    "products": (lambda x, w: mnp.tanh(x @ w), {"x": ROWS}, [(7, 6), (6, 4)]),
    "reduced": (lambda x, w: x @ w, {"x": P(None, "a")}, [(4, 7), (7, 3)]),
    "a loss and its gradient": (loss, {"x": ROWS}, [(7, 6), (6, 4)]),
    "maxima": (lambda x: mnp.max(x, axis=0), {"x": ROWS}, [(7, 3)]),
    "softmax": (softmax, {"x": ROWS}, [(7, 6)]),
    "normalization": (normalized, {"x": ROWS}, [(7, 6)]),
    "reshapes": (flat, {"x": ROWS}, [(7, 6)]),
    "sequences": (heads, {"q": P(None, "a")}, [(2, 7, 12), (2, 7, 12)]),
    "convolutions": (lambda x, w: conv(x, w), {"x": P(None, None, "a")}, [(2, 3, 17, 6), (4, 3, 3, 3)]),
    "strides": (lambda x, w: conv(x, w, strides=2), {"x": P(None, None, "a")}, [(1, 3, 23, 7), (4, 3, 3, 3)]),
    "stencils": (lambda x: x[2:] - 2 * x[1:-1] + x[:-2], {"x": ROWS}, [(23, 3)]),
    "a divided table": (lambda x: x[AT], {"x": ROWS}, [(7, 3)]),
    "rows of a table": (lambda x, at: x[at], {"at": ROWS}, [(7, 3), AT]),
    "random numbers": (random, {"x": ROWS}, [(7, 3)]),
    "a cumulative sum": (lambda x: mnp.cumsum(x, axis=0), {"x": ROWS}, [(7, 3)]),
    "two values of 5 rows": (lambda x, y: mnp.concat([x, y], axis=1), {"x": ROWS, "y": ROWS}, [(5, 2), (5, 3)]),
    "loops and branches": (loops, {"x": ROWS}, [(7, 3)]),
    "fewer rows than ranks": (loss, {"x": ROWS}, [(1, 6), (6, 4)]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_values_of(name: str) -> None:
    f, shardings, given = CASES[name]
    args = [draw(*each) if isinstance(each, tuple) else each for each in given]
    ranks = int(np.random.default_rng().integers(2, 5))
    made = mlc.jit(f, mesh=mlc.Mesh(a=ranks), shardings=shardings)
    close(made.simulate(*args), mlc.jit(f)(*args))


@pytest.mark.parametrize("name", ["a loss and its gradient", "softmax", "convolutions"])
def test_rows_are_not_gathered(name: str) -> None:
    f, shardings, given = CASES[name]
    made = mlc.jit(f, mesh=mlc.Mesh(a=3), shardings=shardings)
    moved = [line for line in made.plan(*(draw(*each) for each in given)).splitlines() if "MOVED" in line]
    assert all("partial" in line or "window" in line or "the result reads it" in line for line in moved), moved


@pytest.mark.parametrize("rows, ranks", [(7, 3), (3, 4)])
def test_ranks_compile_and_run_it(rows: int, ranks: int) -> None:
    """Threads of this process; 3 rows leave the last rank none."""
    x, w, mesh = draw(rows, 6), draw(6, 4), mlc.Mesh(a=ranks)

    def step(x: Any, w: Any) -> Any:
        value, gradient = loss(x, w)
        return value, w - gradient, mnp.tanh(x @ w)

    made = mlc.jit(step, mesh=mesh, shardings={"x": ROWS}, results=(P(), P(), ROWS), wait=True)
    wanted = mlc.jit(step)(x, w)

    def run(rank: int) -> Any:
        part = mlc.shard(x, ROWS, mesh)
        assert part.part.shape == np.array_split(x, ranks)[rank].shape
        value, updated, y = made(part, w)
        assert isinstance(y, Sharded)
        return value, updated, y.whole()

    for found in comm.in_threads(ranks, run):
        close(found, wanted)


@pytest.mark.parametrize("axes", [{"a": 2, "b": 2}, {"b": 2, "a": 3}])
def test_another_axis_divides_weights(axes: dict[str, int]) -> None:
    """The even axis is first, so that its blocks are known where the uneven one is divided."""
    args = draw(7, 6), draw(6, 8), draw(8, 6)
    f = lambda x, up, down: mnp.mean((mnp.tanh(x @ up) @ down) ** 2)  # noqa: E731
    made = mlc.jit(f, mesh=mlc.Mesh(**axes), shardings={"x": ROWS, "up": P(None, "b")})
    close(made.simulate(*args), mlc.jit(f)(*args))
    moved = [line for line in made.plan(*args).splitlines() if "MOVED" in line]
    assert len(moved) == 2 and all("partial add" in line for line in moved), moved


@pytest.mark.parametrize("rows", [7, 3])
def test_a_dimension_that_one_axis_divides_unevenly_is_divided_again(rows: int) -> None:
    args = draw(rows, 6), draw(6, 4)
    made = mlc.jit(loss, mesh=mlc.Mesh(a=2, b=2), shardings={"x": P(("a", "b"))})
    close(made.simulate(*args), mlc.jit(loss)(*args))
