"""``mlc.lax`` against NumPy: slices at positions that data says, running extremes, and names of JAX."""

from __future__ import annotations

import numpy as np
import pytest

import mlc
import mlc.lax
import mlc.numpy as mnp
from mlc.errors import InputError

X = np.random.default_rng(71).normal(size=(4, 5))


@pytest.mark.parametrize("start, first", [(-9, 0), (-1, 2), (-4, 0), (0, 0), (1, 1), (2, 2), (3, 2), (99, 2)])
def test_a_start_is_moved_so_that_all_fits(start: int, first: int) -> None:
    at = mlc.jit(lambda x, n: mlc.lax.dynamic_slice_in_dim(x, n, 2))
    np.testing.assert_array_equal(at(X, start), X[first : first + 2])
    wanted = X.copy()
    wanted[first : first + 2, 1:4] = 7
    put = mlc.jit(lambda x, n: mlc.lax.dynamic_update_slice(x, np.full((2, 3), 7.0), (n, 1)))
    np.testing.assert_array_equal(put(X, start), wanted)


def test_slices_of_one_axis() -> None:
    np.testing.assert_array_equal(mlc.lax.dynamic_index_in_dim(X, 2, 1, keepdims=False), X[:, 2])
    np.testing.assert_array_equal(mlc.lax.index_in_dim(X, -1), X[3:])
    np.testing.assert_array_equal(mlc.lax.slice_in_dim(X, 1, None, 2, axis=-1), X[:, 1::2])
    wanted = X.copy()
    wanted[:, 2] = 0
    np.testing.assert_array_equal(mlc.lax.dynamic_update_index_in_dim(X, np.zeros(4), 2, axis=1), wanted)
    with pytest.raises(InputError, match="has no slice of sizes"):
        mlc.lax.dynamic_slice(X, (0,), (2,))
    with pytest.raises(InputError, match="has no slice of sizes"):
        mlc.lax.dynamic_slice(X, (0, 0), (2, 6))


def test_batches_and_gradients_of_slices() -> None:
    cut = lambda n: mlc.lax.dynamic_slice(X, (n, 1), (2, 3))  # noqa: E731
    np.testing.assert_array_equal(mlc.vmap(cut)(np.array([0, 9])), [X[:2, 1:4], X[2:, 1:4]])
    found = mlc.grad(lambda x: mnp.sum(mlc.lax.dynamic_slice(x, (3, 9), (2, 2)) ** 2))(X)
    wanted = np.zeros_like(X)
    wanted[2:, 3:] = 2 * X[2:, 3:]
    np.testing.assert_allclose(found, wanted)


def test_running_functions() -> None:
    np.testing.assert_array_equal(mlc.lax.cummax(X, axis=1), np.maximum.accumulate(X, 1))
    np.testing.assert_array_equal(mlc.lax.cummin(X, reverse=True), np.minimum.accumulate(X[::-1])[::-1])
    np.testing.assert_allclose(mlc.lax.cumlogsumexp(X, axis=1), np.logaddexp.accumulate(X, 1))
    np.testing.assert_allclose(mlc.lax.cumsum(X, 1, reverse=True), X[:, ::-1].cumsum(1)[:, ::-1])
    assert mlc.lax.cumsum(np.ones(3, np.int8)).dtype == np.int8
    ties = np.array([1.0, 3, 2, 3])
    np.testing.assert_allclose(mlc.grad(lambda x: mnp.sum(mlc.lax.cummax(x)))(ties), [1, 2.5, 0, 0.5])


def test_greatest_elements() -> None:
    values, positions = mlc.lax.top_k(np.array([[3.0, 1, 3], [np.inf, 0, 5]]), 2)
    np.testing.assert_array_equal(values, [[3, 3], [np.inf, 5]])
    np.testing.assert_array_equal(positions, [[0, 2], [0, 2]])
    assert positions.dtype == np.int32
    found = mlc.grad(lambda x: mnp.sum(mlc.lax.top_k(x, 2)[0] ** 2))(np.array([3.0, 1, 2]))
    np.testing.assert_allclose(found, [6, 0, 4])
    with pytest.raises(InputError, match="no 4 greatest"):
        mlc.lax.top_k(np.zeros(3), 4)


def test_names_of_jax() -> None:
    lax = mlc.lax
    np.testing.assert_array_equal(lax.clamp(0, np.array([-1, 5, 2]), 3), [0, 3, 2])
    chosen = lax.select_n(np.array([0, 2, 1]), np.zeros(3), np.ones(3), np.full(3, 2.0))
    np.testing.assert_array_equal(chosen, [0, 2, 1])
    np.testing.assert_array_equal(lax.broadcasted_iota(np.int32, (2, 3), 1), [[0, 1, 2]] * 2)
    np.testing.assert_allclose(lax.rsqrt(4.0), 0.5)
    np.testing.assert_allclose(lax.rem(np.array([-5.0, 5]), np.array([3.0, -3])), [-2, 2])
    np.testing.assert_allclose(lax.reduce_max(X, (0,)), X.max(0))
    np.testing.assert_array_equal(lax.fori_loop(0, 3, lambda i, s: s + i, 0), 3)
    with pytest.raises(AttributeError, match="Did you mean 'dynamic_slice'"):
        lax.dynamic_slices  # noqa: B018
