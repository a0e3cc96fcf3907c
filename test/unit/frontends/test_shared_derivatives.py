"""Derivatives where several elements are equal, or one place is written twice: line by line and jitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn


def gradients(f: Callable[..., Any], x: np.ndarray) -> list[np.ndarray]:
    """The gradient by ``x`` line by line, and of compiled code."""
    gradient = mlc.grad(f)
    return [np.asarray(gradient(x)), np.asarray(mlc.jit(gradient, wait=True)(x))]


INDICES = [[1, 1, 0], [0, 0, 0], [2, -1, 2], [3, 1, 3]]


@pytest.mark.parametrize("at", INDICES)
def test_only_the_last_of_several_writes_of_one_place_has_a_derivative(at: list[int]) -> None:
    weights = np.float32([1, 10, 100, 1000])
    kept = {n % 4: number for number, n in enumerate(at)}
    expected = [weights[n % 4] if kept[n % 4] == number else 0 for number, n in enumerate(at)]
    for found in gradients(
        lambda v: mnp.sum(mnp.ones(4, dtype=np.float32).at[at].set(v) * weights), np.float32([1, 2, 3])
    ):
        np.testing.assert_array_equal(found, expected)
    along = mlc.jvp(lambda v: mnp.ones(4, dtype=np.float32).at[at].set(v), (np.ones(3, np.float32),), (np.float32(
        [1, 2, 3]),))[1]  # fmt: skip
    np.testing.assert_allclose(float(np.asarray(along) @ weights), np.float32(expected) @ [1, 2, 3])


def test_rows_written_twice() -> None:
    weights = np.arange(12, dtype=np.float32).reshape(4, 3)
    for found in gradients(
        lambda v: mnp.sum(mnp.zeros((4, 3), dtype=np.float32).at[[2, 0, 2]].set(v) ** 2 * weights),
        np.ones((3, 3), np.float32),
    ):
        np.testing.assert_array_equal(found, 2 * weights[[2, 0, 2]] * [[0], [1], [1]])


def of_windows(x: np.ndarray, adjoint: np.ndarray, kernel: int, stride: int) -> np.ndarray:
    """The adjoint of a maximum of windows: all of it at the first element that attains it."""
    found = np.zeros_like(x)
    for (n, c, i, j), g in np.ndenumerate(adjoint):
        window = x[n, c, i * stride : i * stride + kernel, j * stride : j * stride + kernel]
        at = np.argmax(window == window.max())
        found[n, c, i * stride + at // kernel, j * stride + at % kernel] += g
    return found


@pytest.mark.parametrize("kernel, stride", [(2, 2), (3, 2), (3, 1), (2, 3)])
def test_of_equal_elements_of_a_window_the_first_has_the_derivative(kernel: int, stride: int) -> None:
    random = np.random.default_rng()
    x = random.integers(0, 3, (2, 3, 8, 8)).astype(np.float32)
    size = (8 - kernel) // stride + 1
    adjoint = random.integers(-5, 6, (2, 3, size, size)).astype(np.float32)
    expected = of_windows(x, adjoint, kernel, stride)
    for found in gradients(lambda x: mnp.sum(nn.max_pool(x, kernel, strides=stride) * adjoint), x):
        np.testing.assert_array_equal(found, expected)


def test_padding_has_no_derivative() -> None:
    for found in gradients(lambda x: mnp.sum(nn.max_pool(x, 3, strides=2, padding=1)), np.full((1, 1, 4), -5, "f")):
        np.testing.assert_array_equal(found, [[[1, 1, 0, 0]]])


def test_of_nan_in_a_window_the_first_has_the_derivative() -> None:
    for found in gradients(lambda x: mnp.sum(nn.max_pool(x, 4)), np.float32([[[1, np.nan, 7, np.nan]]])):
        np.testing.assert_array_equal(found, [[[0, 1, 0, 0]]])


@pytest.mark.parametrize("f", [mnp.max, mnp.min])
def test_equal_extremes_of_an_axis_share_the_derivative(f: Callable[..., Any]) -> None:
    for found in gradients(lambda x: mnp.sum(f(x, axis=0)), np.float32([[1, 2], [1, 2]])):
        np.testing.assert_array_equal(found, np.full((2, 2), 0.5))
