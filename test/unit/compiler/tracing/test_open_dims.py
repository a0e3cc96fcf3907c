"""Open dimensions of traced functions, under any name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import RunError
from mlc.frontends.array import trees


@pytest.mark.parametrize("name", ["n", "k", "m", "c", "i0", "int", "dim", "size0", "batch"])
def test_a_dimension_may_have_any_name(name: str) -> None:
    """Letters of products and iterators, words of C, names of run-time dimensions."""

    @mlc.jit(shapes={"x": (name, None)}, wait=True)
    def f(x, w):  # type: ignore[no-untyped-def]
        return mnp.tanh(x @ w), mlc.grad(lambda v: mnp.sum(mnp.tanh(x @ v)))(w), mnp.roll(x, 1, axis=0)

    random = np.random.default_rng()
    w = random.standard_normal((3, 2)).astype(np.float32)
    for rows in (4, 7):
        x = random.standard_normal((rows, 3)).astype(np.float32)
        y, gradient, rolled = map(np.asarray, f(x, w))
        np.testing.assert_allclose(y, np.tanh(x @ w), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(gradient, x.T @ (1 - np.tanh(x @ w) ** 2), rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(rolled, np.roll(x, 1, 0))
    assert len(f.programs) == 1


@pytest.mark.parametrize("by", [1, 2, 5, -1, -3, -7])
def test_a_roll_by_more_than_an_open_extent(by: int) -> None:
    f = mlc.jit(lambda x: mnp.roll(x, by, axis=0), shapes={"x": ("n",)}, wait=True)
    for n in (0, 1, 2, 3, 4, 6, 9):
        x = np.random.default_rng().standard_normal(n, np.float32)
        np.testing.assert_array_equal(f(x).numpy(), np.roll(x, by))


@pytest.mark.parametrize("by", [1, 4, -3])
def test_a_roll_has_the_open_dimension_of_its_array(by: int) -> None:
    """So it is added to the array; its derivative rolls back."""

    def f(x: Any, w: Any) -> Any:
        return mnp.sum((mnp.roll(x, by, axis=0) + x) * w)

    gradient = mlc.jit(mlc.grad(f), shapes={"x": ("n", 3), "w": ("n", 3)}, wait=True)
    for n in (0, 1, 2, 5):
        x, w = np.random.default_rng().standard_normal((2, n, 3), np.float32)
        np.testing.assert_allclose(gradient(x, w).numpy(), np.roll(w, -by, axis=0) + w, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("f", "least"),
    [
        (lambda x: x[-3] + 0, 3),
        (lambda x: x[2] + 0, 3),
        (lambda x: x[0] + 0, 1),
        (lambda x: mnp.take(x, mnp.asarray([0]), axis=0), 1),
        (lambda x: mnp.max(x), 1),
        (lambda x: mnp.argmin(x), 1),
        (lambda x: mnp.sum(x) + 100 % x.shape[0], 1),
        (lambda x: mnp.zeros((7 // x.shape[0],)) + mnp.sum(x), 1),
        (lambda x: x[-1] + 0, 1),
    ],
)
def test_what_is_outside_of_an_open_dimension_is_refused(f: Callable[[Any], Any], least: int) -> None:
    jitted = mlc.jit(f, shapes={"x": ("n",)}, wait=True)
    for n in range(6):
        x = np.random.default_rng().standard_normal(n, np.float32)
        if n < least:
            with pytest.raises(RunError, match=f"only n >= {least}, but n is {n}"):
                jitted(x).numpy()
        else:
            np.testing.assert_allclose(jitted(x).numpy(), f(mnp.asarray(x)).numpy(), rtol=1e-5)


@pytest.mark.parametrize("f", [lambda x, y: mnp.sum(x[:-1]) + y, lambda x, y: (mnp.diff(x), x[1:] * y[:-1])])
def test_slices_of_empty_open_dimensions_have_a_program_of_their_own(f: Callable[..., Any]) -> None:
    """The open program has a dimension n-1; an array without elements is traced again, with its shape."""
    jitted = mlc.jit(f, shapes={"x": ("n",), "y": ("n",)}, wait=True)
    for n in (0, 3, 1, 0):
        x, y = np.random.default_rng().standard_normal((2, n), np.float32)
        found, wanted = (trees.leaves(g(mnp.asarray(x), mnp.asarray(y))) for g in (jitted, f))
        for a, b in zip(found, wanted, strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5)
    assert len(jitted.programs) == 2


def test_empty_open_dimensions_give_what_numpy_does() -> None:
    def f(x: Any) -> Any:
        scaled, half = x[:, 0] * mnp.linspace(0, 1, x.shape[0]), x[: x.shape[0] // 2]
        none = mnp.take(x, mnp.zeros((0,), dtype=mnp.int64), axis=0)
        return mnp.any(x > 0), mnp.sum(x, axis=0), mnp.sort(x, axis=0), scaled, half, mnp.flip(x), none

    jitted = mlc.jit(f, shapes={"x": ("n", 3)}, wait=True)
    for n in (0, 1, 2, 7):
        x = np.random.default_rng().standard_normal((n, 3), np.float32)
        scaled = x[:, 0] * np.linspace(0, 1, n)
        expected = (x > 0).any(), x.sum(0), np.sort(x, 0), scaled, x[: n // 2], np.flip(x), x[:0]
        for found, wanted in zip(jitted(x), expected, strict=True):
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_an_empty_array_is_sorted() -> None:
    assert mlc.jit(lambda x: mnp.sort(x, axis=0), wait=True)(np.zeros((0, 3), np.float32)).shape == (0, 3)
