"""Gradients of attention: two kernels with no scores in memory, which agree with float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn

Arrays = list[np.ndarray[Any, Any]]


def attended(q: Any, k: Any, v: Any, mask: Any, causal: bool) -> Any:
    return nn.dot_product_attention(q, k, v, mask, causal=causal)


def program(causal: bool, **options: Any) -> Any:
    """The gradients by queries, keys and values of a weighted sum of squares of the results."""

    def loss(q: Any, k: Any, v: Any, g: Any, mask: Any) -> Any:
        return mnp.sum(attended(q, k, v, mask, causal) ** 2 * g)

    return mlc.jit(mlc.grad(loss, argnums=(0, 1, 2)), wait=True, **options)


def arrays(batch: int, heads: int, queries: int, keys: int, size: int, value: int) -> Arrays:
    random = np.random.default_rng()
    shapes = [(queries, size), (keys, size), (keys, value), (queries, value)]
    given = [random.standard_normal((batch, heads, *shape)).astype(np.float32) for shape in shapes]
    return [*given, random.standard_normal((batch, 1, 1, keys)).astype(np.float32)]


def expected(given: Arrays, causal: bool) -> Arrays:
    """The same in float64, by the formulas of the softmax's derivative."""
    q, k, v, g, mask = (x.astype(np.float64) for x in given)
    scale = q.shape[-1] ** -0.5
    scores = q @ k.swapaxes(-1, -2) * scale + mask
    scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf) if causal else scores
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    d = 2 * g * (p @ v)
    dp = d @ v.swapaxes(-1, -2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * scale
    return [ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ d]


SHAPES = [(2, 3, 37, 53, 11, 19), (1, 4, 130, 130, 16, 16), (2, 2, 300, 517, 8, 5), (1, 4, 1009, 64, 4, 4)]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_agree_with_float64(shape: tuple[int, ...], causal: bool) -> None:
    given = arrays(*shape)
    run = program(causal, threads=2)
    for found, wanted in zip(run(*given), expected(given, causal), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5 * np.abs(wanted).max())
    kernels = run.ir("fuse", *given).split("kernel.func")
    assert max(each.count("graph.contract") for each in kernels) == 5  # the backward pass
    assert "schedule_plain" not in run.ir("tile", *given)


def band(queries: int, keys: int, window: int) -> np.ndarray[Any, Any]:
    """Where a query sees the last ``window`` keys up to its own position."""
    distance = np.arange(queries)[:, None] - np.arange(keys)
    return (distance >= 0) & (distance < window)


def windowed(queries: int, keys: int, window: int) -> Any:
    """The gradients under a constant mask, which is a band matrix."""
    inside = band(queries, keys, window)

    def loss(q: Any, k: Any, v: Any, g: Any) -> Any:
        return mnp.sum(nn.dot_product_attention(q, k, v, inside) ** 2 * g)

    return mlc.jit(mlc.grad(loss, argnums=(0, 1, 2)), wait=True, threads=2)


@pytest.mark.parametrize("window", [3, 40])
@pytest.mark.parametrize("shape", [(1, 4, 301, 301, 8, 12), (1, 4, 1009, 1009, 4, 4)])
def test_windows(shape: tuple[int, ...], window: int) -> None:
    *given, mask = arrays(*shape)
    mask = np.where(band(*shape[2:4], window), 0, -np.inf)
    run = windowed(*shape[2:4], window)
    for found, wanted in zip(run(*given), expected([*given, mask], False), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5 * np.abs(wanted).max())
    assert run.ir("schedule", *given).count("conditions") > 8  # of the statements of both kernels


def test_masked_blocks_are_not_executed() -> None:
    """Keys that are no numbers reach no derivative of queries that do not see their blocks."""
    *given, _ = arrays(1, 4, 640, 640, 16, 16)
    run = windowed(640, 640, 640)
    given[1][:, :, 512:] = np.nan
    by_queries, _, _ = run(*given)
    assert np.isfinite(by_queries[:, :, :256]).all() and np.isnan(by_queries[:, :, 512:]).all()


def test_bits_do_not_depend_on_threads() -> None:
    given = arrays(1, 4, 200, 150, 16, 8)
    one, two, four = (program(False, threads=n)(*given) for n in (1, 2, 4))
    for a, b, c in zip(one, two, four, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


def test_too_few_matrices_are_stored() -> None:
    """One matrix for two threads: each step of the backward pass is divided among them."""
    given = arrays(1, 1, 70, 60, 8, 8)
    run = program(False, threads=2)
    for found, wanted in zip(run(*given), expected(given, False), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5 * np.abs(wanted).max())


def test_strict_numerics_keep_the_order_of_sums() -> None:
    given = arrays(1, 4, 40, 40, 8, 8)
    assert "barrier" not in program(False, numerics="strict").ir("fuse", *given)
    assert "barrier" in program(False).ir("fuse", *given)


def test_second_derivatives() -> None:
    """A directional derivative of the gradient is a difference of gradients."""
    given = arrays(1, 2, 20, 24, 6, 5)
    direction = np.random.default_rng().standard_normal(given[0].shape).astype(np.float32)

    def along(q: Any, *rest: Any) -> Any:
        loss = lambda q: mnp.sum(attended(q, *rest[:2], rest[3], False) ** 2 * rest[2])  # noqa: E731
        return mnp.sum(mlc.grad(loss)(q) * direction)

    found = mlc.jit(mlc.grad(along), wait=True)(*given)
    step = 1e-4 * direction.astype(np.float64)
    high, low = (expected([given[0] + sign * step, *given[1:]], False)[0] for sign in (1, -1))
    difference = (high - low) / 2e-4
    np.testing.assert_allclose(found, difference, rtol=0, atol=1e-4 * np.abs(difference).max())
