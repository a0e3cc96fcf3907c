"""Operators of one's own: values, derivatives, fusion and bounds of compute and reduce, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError

RNG = np.random.default_rng(23)
X, W, Z = RNG.normal(size=(5, 7)), RNG.normal(size=7), RNG.normal(size=(7, 4))
ROWS = RNG.integers(0, 5, 6)
TABLE = RNG.normal(size=(2, 3, 4))


def windows(x: Any) -> Any:
    def element(i: Any) -> Any:
        return mlc.reduce("max", (2, 3), lambda a, b: x[i + a, 2 * b] * mlc.reduce("add", 2, lambda c: x[i + c, b]))

    return mlc.compute((4,), element)


def windows_in_numpy(x: np.ndarray) -> np.ndarray:
    sums = [x[i : i + 2, :3].sum(0) for i in range(4)]
    return np.array([(x[i : i + 2, 0:5:2] * sums[i]).max() for i in range(4)])


CASES: list[tuple[str, Callable[..., Any], list[np.ndarray], Any]] = [
    (
        "elementwise with an iterator as a value",
        lambda x, w: mlc.compute((5, 7), lambda i, j: x[i, j] * mnp.exp(w[j]) + i),
        [X, W],
        X * np.exp(W) + np.arange(5)[:, None],
    ),
    (
        "a product",
        lambda x, z: mlc.compute((5, 4), lambda i, j: mlc.reduce("add", 7, lambda k: x[i, k] * z[k, j])),
        [X, Z],
        X @ Z,
    ),
    (
        "reductions within an expression",
        lambda x: mlc.compute(
            5, lambda i: mnp.tanh(mlc.reduce("add", 7, lambda k: x[i, k])) - mlc.reduce("min", 7, lambda k: x[i, k])
        ),
        [X],
        np.tanh(X.sum(1)) - X.min(1),
    ),
    ("reductions within reductions", windows, [X], windows_in_numpy(X)),
    (
        "indices from data",
        lambda x, rows: mlc.compute((6, 7), lambda a, b: x[rows[a]][b]),
        [X, ROWS],
        X[ROWS],
    ),
    (
        "slices, negative steps, and indices modulo an extent",
        lambda x: mlc.compute(5, lambda i: x[(i + 1) % 5, 2] * x[::-2][i // 2, i] - 2.0),
        [X],
        np.roll(X[:, 2], -1) * X[::-2][np.arange(5) // 2, np.arange(5)] - 2,
    ),
    (
        "a clamped index, a choice, and an outer array that is computed",
        lambda x, w: mlc.compute(7, lambda i: mnp.where(i > 2, (w * 2)[mnp.clip(i - 3, 0, 6)], mnp.sum(x))),
        [X, W],
        np.concatenate([[X.sum()] * 3, 2 * W[:4]]),
    ),
    (
        "a constant",
        lambda x: mlc.compute((2, 3), lambda i, j: 1.5) + x,
        [np.ones((2, 3), "f4")],
        np.full((2, 3), 2.5),
    ),
    (
        "rank 0",
        lambda x: mlc.compute((), lambda: mlc.reduce("mul", (5, 7), lambda i, j: x[i, j])),
        [X],
        X.prod(),
    ),
    (
        "several dimensions at an array of rank 3",
        lambda t: mlc.compute((3, 2), lambda j, i: t[i, 1][j] + t[i, j, 0] * t[i][2, 3]),
        [TABLE],
        (TABLE[:, 1, :3] + TABLE[:, :, 0] * TABLE[:, 2, 3][:, None]).T,
    ),
]


@pytest.mark.parametrize(("f", "arrays", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_values(f: Callable[..., Any], arrays: list[np.ndarray], expected: Any) -> None:
    np.testing.assert_allclose(f(*map(mnp.asarray, arrays)), expected, rtol=1e-9)
    np.testing.assert_allclose(mlc.jit(f)(*arrays), expected, rtol=1e-6 if arrays[0].dtype == "f4" else 1e-9)


def test_one_program_for_every_size() -> None:
    @mlc.jit(shapes={"x": ("n", None)})
    def f(x: Any) -> Any:
        n = x.shape[0]
        return mlc.compute((n, 3), lambda i, j: x[(i + 1) % n, j] - mlc.reduce("max", n, lambda k: x[k, j + 1]))

    for rows in (1, 6):
        x = RNG.normal(size=(rows, 5))
        np.testing.assert_allclose(f(x), np.roll(x, -1, 0)[:, :3] - x[:, 1:4].max(0))


def test_derivatives() -> None:
    found = mlc.grad(lambda x: mnp.sum(mlc.compute((4, 5), lambda i, j: x[i + 1, j] * mnp.sin(x[i, j + 2]))))(X)
    expected = np.zeros_like(X)
    expected[1:, :5] += np.sin(X[:4, 2:])
    expected[:4, 2:] += X[1:, :5] * np.cos(X[:4, 2:])
    np.testing.assert_allclose(found, expected)
    product = mlc.jit(mlc.grad(lambda x, z: mnp.sum(mlc.compute(
        (5, 4), lambda i, j: mlc.reduce("add", 7, lambda k: x[i, k] * z[k, j])) ** 2)))  # fmt: skip
    np.testing.assert_allclose(product(X, Z), 2 * (X @ Z) @ Z.T)


def test_fusion() -> None:
    f = mlc.jit(lambda x, w: mnp.exp(mlc.compute((5, 7), lambda i, j: x[i, 6 - j] * w[j])) + 1)
    assert f.ir("fuse", X, W).count("kernel.func") == 1


@pytest.mark.parametrize(
    ("f", "says"),
    [
        (lambda x: mlc.compute(5, lambda i: x[i + 1, 0]), r"index \(i0 \+ 1\) from 1 to 5 of a dimension of 5"),
        (lambda x: mlc.compute(5, lambda i: x[i - 1, 0]), r"index \(i0 - 1\) from -1 to 3"),
        (lambda x: mlc.compute(5, lambda i: mlc.reduce("add", 8, lambda k: x[i, k])), "index r0 from 0 to 7"),
        (lambda x: mlc.compute(5, lambda i: x[i]), r"needs an element, and this is an array of shape \(7,\)"),
        (lambda x: mlc.compute(5, lambda i: mnp.sum(x[i])), r"array of shape \(7,\)"),
        (lambda x: mlc.compute(5, lambda i: (x[i] * 2)[i]), r"array of shape \(7,\) that depends on an iterator"),
        (lambda x: mlc.compute(5, lambda i: x[i, 0] if i > 2 else 0), "the elements of an array"),
        (lambda x: mlc.compute(5, lambda i: x[i, i, i]), "3 indices"),
        (lambda x: mlc.reduce("add", 5, lambda i: x[i, 0]), "an iterator outside of compute"),
    ],
)
def test_what_is_refused(f: Callable[[Any], Any], says: str) -> None:
    with pytest.raises((InputError, IndexError), match=says) as caught:
        mlc.jit(f)(X)
    if isinstance(caught.value, InputError):
        assert str(caught.value).startswith("test_compute.py:")


def test_an_unknown_monoid() -> None:
    with pytest.raises(InputError, match="reduce cannot combine by 'mean'.*add, mul, max, min"):
        mlc.reduce("mean", 5, lambda i: i)


def test_indices_whose_range_is_not_exact_stay_inside() -> None:
    x = RNG.normal(size=6)
    f = mlc.jit(lambda x: mlc.compute((6, 3), lambda i, j: x[i * j - i]))
    i, j = np.indices((6, 3))
    np.testing.assert_array_equal(f(x), x[np.clip(i * j - i, 0, 5)])
