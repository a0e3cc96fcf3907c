"""Loop-carried values that a scatter updates in one buffer: compiled against NumPy, and where two are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp

X = np.random.default_rng(17).normal(size=6)
M = np.random.default_rng(18).normal(size=(5, 3))


def exchanged(i: Any, s: Any) -> Any:
    old = s[i + 1]
    return s.at[i + 1].set(s[i]).at[i].set(old)


def beside(c: Any, i: Any) -> Any:
    new = c.at[i].add(1.0)
    return new, mnp.sum(c * new)


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "counter": (lambda x: mlc.fori_loop(0, 6, lambda i, s: s.at[i].add(2.0), x), (X,)),
    "neighbour": (lambda x: mlc.fori_loop(1, 6, lambda i, s: s.at[i].set(s[i - 1] / 2 + s[i]), x), (X,)),
    "exchange of elements": (lambda x: mlc.fori_loop(0, 5, exchanged, x), (X,)),
    "old value beside the new one": (lambda x: mlc.scan(beside, x, mnp.arange(6)), (X,)),
    "old value collected": (lambda x: mlc.scan(lambda c, i: (c.at[i].add(1.0), c), x, mnp.arange(6)), (X,)),
    "exchange of values": (
        lambda x, y: mlc.fori_loop(0, 3, lambda i, s: (s[1].at[i].add(1.0), s[0].at[0].mul(2.0)), (x, y)),
        (X, X + 1),
    ),
    "rows": (lambda m: mlc.fori_loop(0, 5, lambda i, s: s.at[i].add(s[4 - i]), m), (M,)),
    "elements of rows": (
        lambda m: mlc.fori_loop(0, 5, lambda i, s: mlc.fori_loop(0, 3, lambda j, s: s.at[i, j].add(s[j, 2]), s), m),
        (M,),
    ),
    "first value used later": (lambda x: (mlc.fori_loop(0, 6, lambda i, s: s.at[i].add(x[5 - i]), x), x * 2), (X,)),
    "condition": (
        lambda x: mlc.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1].at[s[0]].set(mnp.sum(s[1]))), (0, x)),
        (X,),
    ),
    "no iteration": (
        lambda x: mlc.while_loop(lambda s: s[0] < 0, lambda s: (s[0] + 1, s[1].at[s[0]].set(1.0)), (0, x)),
        (X,),
    ),
    "counter beyond the end": (lambda x: mlc.fori_loop(-2, 9, lambda i, s: s.at[i].add(i + 1.0), x), (X,)),
}


@pytest.mark.parametrize("name", CASES)
def test_updates_in_loops(name: str) -> None:
    f, given = CASES[name]
    found = mlc.jit(f, wait=True)(*given)
    mlc.tree_map(np.testing.assert_allclose, found, f(*map(mnp.asarray, given)))


def test_one_buffer_and_no_clamps() -> None:
    update = mlc.jit(lambda x: mlc.fori_loop(0, 6, lambda i, s: s.at[i].add(s[i]), x))
    graph, plan = update.ir("graph", X), update.ir("plan", X)
    assert "min(" not in graph and "max(" not in graph and "where(" not in graph
    assert "rt.copy %0, %2" in plan and "kernel.copy" not in plan


def test_two_buffers_where_the_old_value_is_read_later() -> None:
    collected = mlc.jit(lambda x: mlc.scan(lambda c, i: (c.at[i].add(1.0), c), x, mnp.arange(6)))
    assert collected.ir("plan", X).count("kernel.copy") > 2
