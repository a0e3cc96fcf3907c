"""Functions on their edges, line by line and jitted: against float64 references, and gradients against known values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn

INF, NAN = math.inf, math.nan
EDGES = [0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 0.5, 3.0, -7.5, 1e-30, 1e30, -1e30, 3.4e38, 1e-44, 1e-45, INF, -INF, NAN]


def pairs(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    given = np.array(list(itertools.product(EDGES, EDGES)), dtype)
    return np.ascontiguousarray(given[:, 0]), np.ascontiguousarray(given[:, 1])


def both(f: Callable[..., Any], *given: np.ndarray) -> list[np.ndarray]:
    """The result line by line, and of compiled code."""
    compiled = mlc.jit(f, wait=True)
    return [np.asarray(f(*map(mnp.asarray, given))), np.asarray(compiled(*given))]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floor_division_of_floats(dtype: Any) -> None:
    random = np.random.default_rng()
    a, b = pairs(dtype)
    a = np.concatenate([a, random.integers(-40, 40, 500).astype(dtype) / 10, [1.0, 0.5, 0.7]]).astype(dtype)
    b = np.concatenate([b, random.choice([0.1, -0.1, 0.2, 0.3, 0.7], 500), [0.1, 0.1, 0.1]]).astype(dtype)
    finite = np.isfinite(a) & np.isfinite(b)  # of infinities the Array API standard has a rule of its own
    with np.errstate(all="ignore"):
        expected = np.floor_divide(a, b)
    for found in both(mnp.floor_divide, a, b):
        np.testing.assert_array_equal(found[finite], expected[finite])
        zero = finite & (expected == 0)
        np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


@pytest.mark.parametrize("name", ["hypot", "logaddexp"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_of_two(name: str, dtype: Any) -> None:
    a, b = pairs(dtype)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a.astype(np.longdouble), b.astype(np.longdouble)).astype(dtype)
    for found in both(getattr(mnp, name), a, b):
        np.testing.assert_allclose(
            found, expected, rtol=4 * np.finfo(dtype).eps, atol=2 * np.finfo(dtype).smallest_subnormal
        )


@pytest.mark.parametrize("name, base", [("log2", 2.0), ("log10", 10.0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logarithms_of_powers_are_whole(name: str, base: float, dtype: Any) -> None:
    most = {(2.0, np.float32): 127, (2.0, np.float64): 1023, (10.0, np.float32): 10, (10.0, np.float64): 22}
    whole = np.arange(0, most[base, dtype] + 1)
    for found in both(getattr(mnp, name), (base**whole).astype(dtype)):
        np.testing.assert_array_equal(found, whole)


def grads(f: Callable[..., Any], *given: Any) -> list[np.ndarray]:
    numbers = tuple(range(len(given)))
    return [np.asarray(each) for each in mlc.grad(f, numbers)(*map(np.float32, given))]


def test_derivatives_of_logaddexp_where_the_arguments_are_equal() -> None:
    assert grads(mnp.logaddexp, 1.5, 1.5) == [0.5, 0.5]
    second = mlc.grad(lambda a: mlc.grad(mnp.logaddexp)(a, np.float32(1.5)))(np.float32(1.5))
    assert float(np.asarray(second)) == 0.25


@pytest.mark.parametrize("row, expected", [
    ([-INF, -INF], -INF), ([1.0, INF], INF), ([-INF, 0.0], 0.0), ([INF, INF], INF), ([-INF, INF], INF),
    ([NAN, 1.0], NAN),
])  # fmt: skip
def test_logsumexp(row: list[float], expected: float) -> None:
    for found in both(lambda x: nn.logsumexp(x, axis=-1), np.array([row], np.float32)):
        np.testing.assert_array_equal(found, [np.float32(expected)])


LOGITS, LABEL = np.array([[-INF, 1.0, 2.0]], np.float32), np.array([2])
LOSSES: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...], float]] = {
    "classes": (nn.cross_entropy, (LOGITS, LABEL), 0.31326169),
    "probabilities": (nn.cross_entropy, (LOGITS, np.array([[0, 0, 1]], np.float32)), 0.31326169),
    "log-probabilities": (nn.nll_loss, (np.array([[-INF, -1.3, -0.3]], np.float32), LABEL), 0.3),
    "an ignored row": (
        lambda x, y: nn.cross_entropy(x, y, ignore_index=-100),
        (np.concatenate([LOGITS, LOGITS[:, ::-1]]), np.array([2, -100])), 0.31326169),
    "sure and right": (nn.binary_cross_entropy, (np.float32([0, 1]), np.float32([0, 1])), 0.0),
    "sure and wrong": (nn.binary_cross_entropy, (np.float32([0, 1]), np.float32([1, 0])), 100.0),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_impossible_classes(name: str) -> None:
    f, given, expected = LOSSES[name]
    for found in both(lambda x, y: f(x, y), *given):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    gradient = np.asarray(mlc.grad(f)(*given))
    assert np.isfinite(gradient).all()


def test_lists_beside_arrays_are_arrays() -> None:
    x = mnp.asarray([1, 2, 3])
    for found, expected in (
        (x == [1, 0, 3], [True, False, True]), (x != (1, 2, 0), [False, False, True]), (x + [1, 1, 1], [2, 3, 4]),
        ((2, 1, 1) * x, [2, 2, 3]), (x <= (2, 2, 2), [True, True, False]), (mnp.asarray([1, 1, 1]) == [1, 1, 1], True),
    ):  # fmt: skip
        np.testing.assert_array_equal(np.asarray(found), expected)
    assert (x == None) is False and (x != "x") is True  # noqa: E711


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64])
def test_division_of_integers(dtype: Any) -> None:
    """By zero it gives 0, quotients and remainders; the least integer by -1 wraps. 37 elements: vectors and a rest."""
    ends = np.iinfo(dtype)
    few = np.array([ends.min, ends.max, 0, 1, 7, 100, ends.max - 1, 3], dtype)
    divisors = np.array([0, 1, 2, ends.max, 5, ends.min, 3, 0 if ends.min == 0 else -1], dtype)
    a, b = np.resize(np.repeat(few, 8), 101), np.resize(divisors, 101)
    with np.errstate(all="ignore"):
        expected = np.floor_divide(a, b), np.remainder(a, b)
    for f, right in zip((mnp.floor_divide, mnp.remainder), expected, strict=True):
        for found in both(f, a, b):
            np.testing.assert_array_equal(found, right)
    for found in both(lambda x: x % np.zeros(1, dtype), a):
        np.testing.assert_array_equal(found, 0)
