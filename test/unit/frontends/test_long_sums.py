"""Sums of millions of equal terms, which all round in one direction, in every form of a sum: at most 1e-6 off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn

TERM, COUNT = np.float32(0.1), 4_000_000
FORMS: dict[str, Callable[[Any], Any]] = {
    "vector": mnp.sum,
    "mean": lambda x: mnp.mean(x) * COUNT,
    "product": lambda x: x @ mnp.ones(COUNT, dtype=np.float32),
    "norm": lambda x: mnp.linalg.vector_norm(x, ord=1),
    "rows": lambda x: mnp.sum(mnp.reshape(x, (4, -1)), axis=1)[2] * 4,
    "columns": lambda x: mnp.sum(mnp.reshape(x, (-1, 10)), axis=0)[3] * 10,
    "few columns": lambda x: mnp.sum(mnp.reshape(x, (-1, 10))),
    "between": lambda x: mnp.sum(mnp.reshape(x, (4, -1, 5)), axis=1)[1, 1] * 20,
    "matrix by vector": lambda x: (mnp.reshape(x, (4, -1)) @ mnp.ones(COUNT // 4, dtype=np.float32))[1] * 4,
    "log-sum-exp": lambda x: mnp.exp(nn.logsumexp(x * 0, axis=0)) * TERM,
    "adjoint": lambda x: mlc.grad(lambda w: mnp.sum(mnp.reshape(x, (-1, 5)) * w))(mnp.ones(5, dtype=np.float32))[2] * 5,
    "running": lambda x: mnp.cumulative_sum(x)[-1],
}


def is_right(found: Any, count: int = COUNT, name: str = "") -> None:
    np.testing.assert_allclose(np.float64(np.asarray(found)), np.float64(TERM) * count, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("numerics", ["default", "strict"])
def test_compiled(numerics: str) -> None:
    x = np.full(COUNT, TERM)
    together = mlc.jit(lambda x: [f(x) for f in FORMS.values()], wait=True, numerics=numerics)
    for name, found in zip(FORMS, together(x), strict=True):
        is_right(found, name=name)


def test_interpreted() -> None:
    count = 100_000
    x = np.full(count, TERM)
    for f in (lambda x: mnp.sum(x), lambda x: x @ mnp.ones(count, dtype=np.float32), lambda x: mnp.sum(x[:, None])):
        is_right(mlc.jit(f)(x), count)


def test_open_sizes() -> None:
    f = mlc.jit(lambda x: (mnp.sum(x), mnp.sum(x, axis=0)[0], x[:, 0] @ x[:, 1]), shapes={"x": ("n", 2)}, wait=True)
    for count in (3, 1000, 2_000_000):
        total, column, product = f(np.full((count, 2), TERM))
        is_right(total, 2 * count)
        is_right(column, count)
        is_right(np.asarray(product) / TERM, count)


def test_not_a_number_and_infinity_stay() -> None:
    for special in (np.inf, -np.inf, np.nan):
        x = np.full(200_000, TERM)
        x[150_000] = special
        np.testing.assert_array_equal(np.asarray(mlc.jit(lambda x: mnp.sum(x), wait=True)(x)), special)
