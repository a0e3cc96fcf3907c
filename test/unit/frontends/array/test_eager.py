"""Functions of small arrays are evaluated at once, and compute what a recorded program does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.frontends.array import eager

CALLS: list[Callable[[Any, Any], Any]] = [
    lambda np, x: x + 1, lambda np, x: 2 - x, lambda np, x: x * x, lambda np, x: x**2, lambda np, x: x / 3,
    lambda np, x: x > 0, lambda np, x: np.exp(x), lambda np, x: np.sum(x, axis=0), lambda np, x: np.max(x),
    lambda np, x: x @ x.T, lambda np, x: x.reshape(2, 6).T, lambda np, x: np.where(x > 0, x, 0), lambda np, x: x[1, :],
    lambda np, x: np.cumsum(x, 1), lambda np, x: np.split(x, 3)[1], lambda np, x: np.concatenate([x, x], 1),
    lambda np, x: np.median(x, 0), lambda np, x: np.clip(x, -0.0, 1), lambda np, x: x.astype(int) // 2,
    lambda np, x: np.broadcast_arrays(x, x[0])[1], lambda np, x: np.log(x), lambda np, x: x % True, lambda np, x: -x,
]  # fmt: skip


@pytest.mark.parametrize("n", range(len(CALLS)))
def test_as_recorded(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.random.default_rng().normal(size=(3, 4))
    at_once = [CALLS[n](mnp, mnp.asarray(data)) for _ in range(2)]
    monkeypatch.setattr(eager, "MOST_ELEMENTS", -1)
    recorded = CALLS[n](mnp, mnp.asarray(data))
    with np.errstate(all="ignore"):
        wanted = CALLS[n](np, data)
    for found in (*at_once, recorded):
        assert found.dtype == recorded.dtype and found.shape == np.shape(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_one_program_for_all_numbers() -> None:
    x = mnp.asarray(np.random.default_rng().normal(size=5))
    _ = x * 0.5 + 1
    before = len(eager._programs)
    for n in range(20):
        np.testing.assert_allclose(x * (n / 7) + n, x.numpy() * (n / 7) + n)
    assert len(eager._programs) <= before + 2  # of floats and of integers


def test_signs_of_zeros() -> None:
    x = mnp.ones(2)
    assert [bool(mnp.signbit(mnp.full_like(x, z)).any()) for z in (0.0, -0.0)] == [False, True]
    assert [bool(mnp.signbit(x * z)[0]) for z in (0.0, -0.0, 0.0)] == [False, True, False]


def test_what_is_differentiated_or_traced_is_recorded() -> None:
    x = np.random.default_rng().normal(size=4)
    np.testing.assert_allclose(mlc.grad(lambda x: mnp.sum(mnp.sin(x) * x))(x), np.cos(x) * x + np.sin(x))
    np.testing.assert_allclose(mlc.jit(lambda x: mnp.sin(x) * 2)(x), np.sin(x) * 2, rtol=1e-12)


def test_errors_are_those_of_recording() -> None:
    for _ in range(2):
        with pytest.raises(mlc.InputError, match=r"test_eager.py:\d+: .*shapes \(2, 3\) and \(2, 3\)|by matmul"):
            _ = mnp.ones((2, 3)) @ mnp.ones((2, 3))
        with pytest.raises(mlc.InputError, match="do not broadcast"):
            _ = mnp.ones(2) + mnp.ones(3)


def test_large_first_calls() -> None:
    """Of a full reduction, whose time ``python -m benchmarks.eager`` prints."""
    x = np.random.default_rng().normal(size=(300, 300)).astype(np.float32)
    given = mnp.asarray(x)
    assert int(mnp.argmax(given)) == x.argmax()
    np.testing.assert_array_equal(mnp.sort(given).numpy(), np.sort(x))
    for found, wanted in ((mnp.mean(given), x.mean()), (mnp.std(given), x.std()),
                          (mlc.jit(lambda x: mnp.mean(x**2))(given), (x.astype(float)**2).mean())):  # fmt: skip
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-4, atol=1e-6)


def test_zeros_of_either_sign_are_programs_of_their_own() -> None:
    x = mnp.asarray([np.nan, 1.0])
    for zero in (0.0, -0.0, 0.0):
        found = mnp.nan_to_num(x, nan=zero).numpy(), mnp.full_like(x, zero).numpy()
        assert [bool(np.signbit(each[0])) for each in found] == [str(zero) == "-0.0"] * 2
