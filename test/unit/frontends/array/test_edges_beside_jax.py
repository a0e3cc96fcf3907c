"""Edge values on which functions differed from NumPy, SciPy and JAX."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import mlc
import mlc.nn
import mlc.numpy as mnp
import mlc.scipy

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_tests_of_narrow_floats_in_compiled_programs(dtype: type) -> None:
    x = np.array([NAN, 1, -INF], dtype)
    found = mlc.jit(lambda x: (mnp.isnan(x), mnp.isinf(x), mnp.isfinite(x), mnp.isclose(x, x)), wait=True)(x)
    wanted = [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    np.testing.assert_array_equal([np.asarray(each) for each in found], np.array(wanted, bool))


def test_clip_takes_the_common_type() -> None:
    found = mnp.clip(np.array([0, 1, 2, 3]), 0.5, 2.5)
    np.testing.assert_array_equal(found, [0.5, 1, 2, 2.5])
    assert found.dtype == np.float32
    assert mnp.clip(np.array([1], np.int8), np.array([-300], np.int16)).dtype == np.int16
    assert mnp.clip(np.array([1.5], np.float32), 0, 1).dtype == np.float32


def test_quotients_of_infinities_are_rounded_down() -> None:
    x = np.array([-0.5, 0.5, 0.0, -2.5])
    for by in (INF, -INF):
        np.testing.assert_array_equal(mnp.floor_divide(x, by), np.floor_divide(x, by))


def test_relu_keeps_integers() -> None:
    found = mlc.nn.relu(np.array([-1, 2**62]))
    np.testing.assert_array_equal(found, [0, 2**62])
    assert found.dtype == np.int64


def test_masked_softmax() -> None:
    x = np.array([[1.0, 2, 3], [INF, 0, NAN], [1, 1, 1]])
    mask = np.array([[True, True, False], [False, True, False], [False, False, False]])
    e = np.exp([1.0, 2.0])
    found = mlc.nn.softmax(x, where=mask)
    np.testing.assert_allclose(found[:2], [[*e / e.sum(), 0], [0, 1, 0]], rtol=1e-6)
    np.testing.assert_allclose(mlc.nn.log_softmax(x, where=mask)[0], [*np.log(e / e.sum()), -INF], rtol=1e-6)
    np.testing.assert_allclose(mlc.nn.logsumexp(x, axis=1, where=mask), [np.log(e.sum()), 0, -INF], rtol=1e-6)
    np.testing.assert_allclose(
        mlc.scipy.special.logsumexp(x, axis=1, where=mask), [np.log(e.sum()), 0, -INF], rtol=1e-6
    )
    np.testing.assert_allclose(mlc.nn.logmeanexp(x[0], where=mask[0]), np.log(e.mean()), rtol=1e-6)
    gradient = mlc.grad(lambda x: mnp.sum(mlc.nn.softmax(x, where=mask[0]) * np.arange(3)))(x[0])
    p = e / e.sum()
    np.testing.assert_allclose(gradient, [-p[0] * p[1], p[0] * p[1], 0], rtol=1e-6)
    np.testing.assert_allclose(mlc.nn.standardize(x[0], where=mask[0]), (x[0] - 1.5) / np.sqrt(0.25 + 1e-5), rtol=1e-6)


def test_further_activations_of_jax() -> None:
    x = np.array([-2.0, -1, 0, 0.5, 1, 3])
    np.testing.assert_allclose(mlc.nn.sparse_sigmoid(x), [0, 0, 0.5, 0.75, 1, 1])
    np.testing.assert_allclose(
        mlc.nn.log1mexp(np.array([0, 1e-12, 0.5, 50])), [-INF, -27.631021, -0.9327521, -1.92875e-22], rtol=1e-6
    )
    assert np.isfinite(np.asarray(mlc.vmap(mlc.grad(mlc.nn.log1mexp))(np.array([1e-12, 0.5, 50, 800])))).all()
    assert mlc.nn.softmax(np.zeros((2, 0))).shape == (2, 0)


def test_densities_of_nan_are_nan() -> None:
    stats = mlc.scipy.stats
    for density in (stats.expon.pdf, stats.uniform.logpdf, stats.uniform.cdf, stats.norm.cdf):
        assert np.isnan(density(NAN))
    assert np.isnan(stats.chi2.pdf(NAN, 2.5))
    assert np.isnan(stats.bernoulli.pmf(NAN, 0.5))


def test_clipped_indices_may_count_from_the_end() -> None:
    x = mnp.asarray(np.arange(4.0))
    np.testing.assert_array_equal(x.at[np.array([-1, 9, -9])].add(1.0, mode="clip"), [1, 1, 2, 5])
    np.testing.assert_array_equal(x.at[np.array([-1, 9, -9])].get(mode="clip"), [3, 3, 0])


def test_shifts_of_64_bits_by_a_number() -> None:
    x = np.array([3, 2**63 + 5], np.uint64)
    for f in (lambda x: x >> 1, lambda x: x << 2, lambda x: (x >> 1) + (x & 1), mnp.bitwise_count):
        wanted = np.bitwise_count(x) if f is mnp.bitwise_count else f(x)
        np.testing.assert_array_equal(f(mnp.asarray(x)), wanted)
        np.testing.assert_array_equal(mlc.jit(f, wait=True)(x), wanted)
