"""Loops line by line: the prepared program computes what the reference interpreter does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.dialects.semantics.interpreter import interpret
from mlc.frontends.array.array import Array
from mlc.frontends.array.evaluate import Program
from mlc.frontends.array.record import ordered


def scanned(x: Any) -> Any:
    return mlc.scan(lambda s, row: (0.5 * s + mnp.tanh(row), s[::-1]), x[0], x)[1]


def until(x: Any) -> Any:
    """A loop whose number of iterations data decides, with a branch, a gather and a pad inside."""

    def step(state: Any) -> Any:
        n, y = state
        y = mlc.cond(mnp.sum(y) > 0, lambda y: y - 1, lambda y: mnp.concat([y[1:] * 2, mnp.zeros((1, 4))]), y)
        return n + 1, y[mnp.argsort(y[:, 0])]

    return mlc.while_loop(lambda s: mnp.max(mnp.abs(s[1])) > 0.5, step, (0, x), max_iterations=20)[1]


def counted(x: Any) -> Any:
    return mlc.fori_loop(0, 5, lambda n, y: y.at[n % 4].set(y[n % 3] / (n + 1)) @ mnp.ones((4, 4)), x)


PROGRAMS: list[Callable[[Any], Any]] = [
    scanned, until, counted, lambda x: mnp.linalg.svdvals(x), lambda x: mnp.linalg.inv(x[:4]), lambda x: x * 2 + 1,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_prepared_and_interpreted(f: Callable[[Any], Any]) -> None:
    result = f(mnp.asarray(np.random.default_rng().normal(size=(6, 4)).astype(np.float32)))
    assert isinstance(result, Array)
    order = ordered([result.record])
    inputs = [each for each in order if each.data is not None]
    program = Program(order, inputs, [result.record])
    data = [each.data for each in inputs]
    (found,) = program(data)
    imported = program.imported
    (wanted,) = interpret(imported.module, imported.weights, {f"x{n}": x for n, x in enumerate(data)}).values()
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
