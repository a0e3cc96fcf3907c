"""Operators of the Builder without a test of their own elsewhere, against NumPy in float64."""

from __future__ import annotations

import numpy as np
import pytest
from built import built

from mlc.frontends.build.ops.contraction import gemm
from mlc.frontends.build.ops.convolution.col2im import col2im
from mlc.frontends.build.ops.elementwise import bit_shift, shrink
from mlc.frontends.build.ops.indexing.selection import nonzero, unique
from mlc.frontends.build.ops.linalg.elimination import determinant
from mlc.frontends.build.ops.random.distributions import bernoulli, normal, uniform
from mlc.frontends.build.ops.reduction import Axes, log_sum_exp, reduce
from mlc.frontends.build.ops.shapes.rearrange import depth_to_space, space_to_depth, tile, triangle
from mlc.frontends.build.ops.training.optimizers import adam_step


def test_determinant(fresh: np.random.Generator) -> None:
    x = fresh.normal(size=(3, 5, 5)).astype("f8")
    (y,) = built(determinant, {"x": x})
    np.testing.assert_allclose(y, np.linalg.det(x), rtol=1e-9)


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
def test_gemm(fresh: np.random.Generator, transposed: tuple[bool, bool]) -> None:
    a, b, c = (fresh.normal(size=shape) for shape in ((3, 5), (5, 4), (4,)))
    stored = {"a": a.T if transposed[0] else a, "b": b.T if transposed[1] else b, "c": c}
    (y,) = built(lambda build, *xs: gemm(build, *xs, transposed, (0.5, -2.0)), stored)
    np.testing.assert_allclose(y, 0.5 * a @ b - 2 * c, rtol=1e-12)


def test_unique(fresh: np.random.Generator) -> None:
    x = fresh.integers(0, 4, (9, 2))
    found = built(lambda build, t: unique(build, t, 0), {"x": x})
    for y, wanted in zip(found, np.unique(x, True, True, True, axis=0), strict=True):
        np.testing.assert_array_equal(y, wanted.reshape(y.shape))


def test_nonzero(fresh: np.random.Generator) -> None:
    x = fresh.integers(0, 3, (4, 5))
    (y,) = built(nonzero, {"x": x})
    np.testing.assert_array_equal(y, np.stack(np.nonzero(x)))


def test_seeded_distributions_are_those_of_numpy(fresh: np.random.Generator) -> None:
    seed, p = int(fresh.integers(1 << 32)), fresh.uniform(size=(3, 4)).astype("f4")
    draws = [np.random.RandomState(seed) for _ in range(3)]
    u, n, b = built(
        lambda build, t: [
            uniform(build, (5,), "f64", seed),
            normal(build, (5,), "f64", seed),
            bernoulli(build, t, seed),
        ],
        {"p": p},
    )
    np.testing.assert_array_equal(u, draws[0].rand(5))
    np.testing.assert_allclose(n, draws[1].randn(5), rtol=1e-12)
    np.testing.assert_array_equal(b, draws[2].binomial(1, p).astype(bool))


def test_columns_add_up_to_an_image(fresh: np.random.Generator) -> None:
    x = fresh.normal(size=(2, 3 * 6, 9))
    image, kernel, strides, dilations, pads = (6, 5), (3, 2), (2, 1), (1, 2), (1, 0, 1, 0)
    windows = [(6 + 2 - 2 - 1) // 2 + 1, (5 - 2 - 1) // 1 + 1]
    (y,) = built(lambda build, t: col2im(build, t, image, kernel, strides, dilations, pads), {"x": x})
    padded = np.zeros((2, 3, 8, 5))
    columns = x.reshape(2, 3, *kernel, *windows)
    for i, j, a, b in np.ndindex(*kernel, *windows):
        padded[:, :, a * 2 + i, b + 2 * j] += columns[:, :, i, j, a, b]
    np.testing.assert_allclose(y, padded[:, :, 1:7], rtol=1e-12, atol=1e-12)


def test_reductions(fresh: np.random.Generator) -> None:
    x = fresh.normal(size=(3, 4, 5))
    norm, total = built(lambda build, t: [
        reduce(build, "l2", t, Axes([0, 2], True)), log_sum_exp(build, t, Axes([1], False))], {"x": x})  # fmt: skip
    np.testing.assert_allclose(norm, np.sqrt((x * x).sum((0, 2), keepdims=True)), rtol=1e-12)
    np.testing.assert_allclose(total, np.log(np.exp(x).sum(1)), rtol=1e-12)


def test_rearrangements(fresh: np.random.Generator) -> None:
    x = fresh.normal(size=(2, 8, 3, 4))
    tiled, upper, deep, back = built(lambda build, t: [
        tile(build, t, [1, 2, 1, 3]), triangle(build, t, 1, True), y := depth_to_space(build, t, 2),
        space_to_depth(build, y, 2)], {"x": x})  # fmt: skip
    np.testing.assert_array_equal(tiled, np.tile(x, (1, 2, 1, 3)))
    np.testing.assert_array_equal(upper, np.triu(x, 1))
    np.testing.assert_array_equal(deep, x.reshape(2, 2, 2, 2, 3, 4).transpose(0, 3, 4, 1, 5, 2).reshape(2, 2, 6, 8))
    np.testing.assert_array_equal(back, x)


def test_elementwise(fresh: np.random.Generator) -> None:
    x, amount = fresh.integers(-100, 100, 20), fresh.integers(-3, 70, 20)
    right, shrunk = built(
        lambda build, t, a: [bit_shift(build, t, a, False), shrink(build, t, 10.0, 3.0)], {"x": x, "amount": amount}
    )
    inside = (amount >= 0) & (amount < 64)
    np.testing.assert_array_equal(right, np.where(inside, x >> np.where(inside, amount, 0), x >> 63))
    np.testing.assert_array_equal(shrunk, np.where(x < -10, x + 3, np.where(x > 10, x - 3, 0)))


def test_adam(fresh: np.random.Generator) -> None:
    x, g, m = (fresh.normal(size=5) for _ in range(3))
    v, rate, count = fresh.uniform(size=5), np.array(0.01), np.array(3)
    inputs = {"x": x, "g": g, "m": m, "v": v, "rate": rate, "count": count}
    new, mean, square = built(
        lambda build, a, b, c, d, r, n: adam_step(build, a, b, (c, d), r, n, (0.9, 0.99), 1e-8, 0.1, 0.0), inputs
    )
    slope = g + 0.1 * x
    wanted_mean, wanted_square = 0.9 * m + 0.1 * slope, 0.99 * v + 0.01 * slope * slope
    unbiased = 0.01 * np.sqrt(1 - 0.99**3) / (1 - 0.9**3)
    np.testing.assert_allclose(mean, wanted_mean, rtol=1e-6)
    np.testing.assert_allclose(square, wanted_square, rtol=1e-6)
    np.testing.assert_allclose(new, x - unbiased * wanted_mean / (np.sqrt(wanted_square) + 1e-8), rtol=1e-6)
