"""Extents that are known at run time only, divided among ranks: one program for all sizes, beside one rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_uneven import close, draw, flat, heads, loops, loss, normalized, random, softmax

import mlc
import mlc.numpy as mnp
from mlc import comm
from mlc.errors import RunError
from mlc.frontends.array.nn.convolutions import conv
from mlc.runtime import TensorSpec

P = mlc.P
ROWS = P("a")
SIZES = (9, 8, 6, 3, 1, 0)
AT = np.array([2, 0, 1])


CASES: dict[str, tuple[Any, dict[str, P], dict[str, tuple[Any, ...]]]] = {
    "products": (lambda x, w: mnp.tanh(x @ w), {"x": ROWS}, {"x": ("n", 6), "w": (6, 4)}),
    "reduced": (lambda x, w: x @ w, {"x": P(None, "a")}, {"x": (4, "n"), "w": ("n", 3)}),
    "a loss and its gradient": (loss, {"x": ROWS}, {"x": ("n", 6), "w": (6, 4)}),
    "softmax": (softmax, {"x": ROWS}, {"x": ("n", 6)}),
    "normalization": (normalized, {"x": ROWS}, {"x": ("n", 6)}),
    "reshapes": (flat, {"x": ROWS}, {"x": ("n", 6)}),
    "sequences": (heads, {"q": P(None, "a")}, {"q": (2, "n", 12), "k": (2, "n", 12)}),
    "another open extent": (heads, {"q": ROWS}, {"q": ("n", "m", 12), "k": ("n", "m", 12)}),
    "convolutions": (lambda x, w: conv(x, w), {"x": P(None, None, "a")}, {"x": (1, 3, "n", 6), "w": (4, 3, 3, 3)}),
    "long borders": (lambda x, w: conv(x, w), {"x": P(None, None, "a")},
                     {"x": (1, 2, "n", 3), "w": (2, 2, 5, 3)}),
    "strides": (lambda x, w: conv(x, w, strides=2), {"x": P(None, None, "a")},
                {"x": (1, 3, "n", 7), "w": (4, 3, 3, 3)}),
    "rows of a table": (lambda x, at: x[at], {"at": ROWS}, {"x": (7, 3), "at": ("n",)}),
    "a divided table": (lambda x: x[AT], {"x": ROWS}, {"x": ("n", 3)}),
    "random numbers": (random, {"x": ROWS}, {"x": ("n", 3)}),
    "a cumulative sum": (lambda x: mnp.cumsum(x, axis=0), {"x": ROWS}, {"x": ("n", 3)}),
    "an even multiple": (lambda x: mnp.reshape(x, (-1,)) * 2, {"x": ROWS}, {"x": ("n", 6)}),
    "loops and branches": (loops, {"x": ROWS}, {"x": ("n", 3)}),
    "rows and weights": (lambda x, w: mnp.tanh(x @ w) @ w.T, {"x": ROWS, "w": P(None, "b")},
                         {"x": ("n", 6), "w": (6, 4)}),
    "rows of two axes": (loss, {"x": P(("a", "b"))}, {"x": ("n", 6), "w": (6, 4)}),
}  # fmt: skip
LEAST = {"a divided table": 3, "softmax": 1, "convolutions": 3, "long borders": 6, "strides": 3}


def drawn(shape: tuple[Any, ...], n: int) -> np.ndarray[Any, Any]:
    sizes = tuple({"n": n, "m": 5}.get(d, d) for d in shape)
    return np.random.default_rng().integers(0, 7, sizes) if len(sizes) == 1 else draw(*sizes)


@pytest.mark.parametrize("name", CASES)
def test_one_program_has_the_values_of(name: str) -> None:
    f, shardings, shapes = CASES[name]
    others = {"b": 2} if any("b" in str(each) for each in shardings.values()) else {}
    mesh = mlc.Mesh(a=int(np.random.default_rng().integers(2, 4)), **others)
    opened = {k: each for k, each in shapes.items() if not all(isinstance(d, int) for d in each)}
    made = mlc.jit(f, mesh=mesh, shardings=shardings, shapes=opened)
    for n in [n for n in SIZES if n >= LEAST.get(name, 0)]:
        args = [drawn(shape, n) for shape in shapes.values()]
        close(made.simulate(*args), mlc.jit(f)(*args))
    assert len(made._made) == 1


@pytest.mark.parametrize("name, kinds", [("a loss and its gradient", "partial"), ("convolutions", "window")])
def test_rows_are_not_gathered(name: str, kinds: str) -> None:
    f, shardings, shapes = CASES[name]
    specs = [TensorSpec(np.dtype("float32"), shape) for shape in shapes.values()]
    text = mlc.jit(f, mesh=mlc.Mesh(a=3), shardings=shardings, results=None).plan(*specs)
    moved = [line for line in text.splitlines() if "MOVED" in line]
    assert any(kinds in line for line in moved), text
    assert all(kinds in line or "the result reads it" in line for line in moved), moved
    assert "n = 1024" in text


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_compile_and_run_it(ranks: int) -> None:
    """Threads of this process: one program, sizes with and without rows for each rank."""
    mesh = mlc.Mesh(a=ranks)

    def step(x: Any, w: Any) -> Any:
        value, gradient = loss(x, w)
        return value, w - gradient, mnp.tanh(x @ w), softmax(x), x * 2

    results = (P(), P(), ROWS, ROWS, P())
    made = mlc.jit(step, mesh=mesh, shardings={"x": ROWS}, results=results, shapes={"x": ("n", 6)}, wait=True)
    for rows in (7, 6, 1):
        x, w = draw(rows, 6), draw(6, 4)

        def run(rank: int, x: Any = x, w: Any = w) -> Any:
            value, updated, y, z, whole = made(mlc.shard(x, ROWS, mesh), w)
            return value, updated, y.whole(), z.whole(), whole

        for found in comm.in_threads(ranks, run):
            close(found, mlc.jit(step)(x, w))


def test_borders_of_short_blocks_when_compiled() -> None:
    mesh, shapes = mlc.Mesh(a=3), {"x": (1, 2, "n", 3)}
    f, rows = CASES["long borders"][0], P(None, None, "a")
    made = mlc.jit(f, mesh=mesh, shardings={"x": rows}, shapes=shapes, wait=True)
    for n in (8, 5):
        x, w = draw(1, 2, n, 3), draw(2, 2, 5, 3)
        for found in comm.in_threads(3, lambda rank, x=x, w=w: made(x, w)):
            close(found, mlc.jit(f)(x, w))


def test_a_part_that_is_no_balanced_block_is_refused() -> None:
    """Of a program that is called with parts: 9 rows of 10 are no block of two."""
    from mlc.comm.sharded import Sharded

    mesh = mlc.Mesh(a=2)
    made = mlc.jit(lambda x: x * 2, mesh=mesh, shardings={"x": ROWS}, shapes={"x": ("n", 3)}, wait=True)
    wrong = Sharded(draw(9, 3), (10, 3), ROWS, mesh)
    with pytest.raises(RunError, match="A block of n"):
        comm.in_threads(2, lambda rank: made(wrong))
