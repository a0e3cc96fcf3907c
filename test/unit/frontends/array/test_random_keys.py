"""``mlc.numpy.random`` against Random123's test vectors, against ``jax.random``, and by its moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.frontends.array.random.threefry import threefry

R = mnp.random


@pytest.mark.parametrize(
    ("key", "counter", "wanted"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_known_answers(key: tuple[int, int], counter: tuple[int, int], wanted: tuple[int, int]) -> None:
    """kat_vectors of Random123 for threefry2x32 with 20 rounds."""
    words = threefry(mnp.asarray(np.array(key, np.uint32)), *mnp.asarray(np.array(counter, np.uint32)))
    assert tuple(map(int, words)) == wanted


def test_the_bits_are_those_of_jax() -> None:
    random = pytest.importorskip("jax").random
    seed = int(np.random.default_rng().integers(2**31))
    theirs, ours = random.key(seed), R.key(seed)
    p = np.array([0.2, 0.3, 0.5], np.float32)
    equal = [
        (random.key_data(random.split(theirs, 3)), R.split(ours, 3)),
        (random.key_data(random.fold_in(theirs, 7)), R.fold_in(ours, mnp.asarray(7))),
        (random.bits(theirs, (5, 3)), R.bits(ours, (5, 3))),
        (random.bits(theirs, (9,), np.uint8), R.bits(ours, 9, "uint8")),
        (random.uniform(theirs, (100,)), R.uniform(ours, 100)),
        (random.randint(theirs, (100,), -5, 1000), R.randint(ours, 100, -5, 1000, mnp.int32)),
        (random.permutation(theirs, 100), R.permutation(ours, 100)),
        (random.bernoulli(theirs, 0.3, (100,)), R.bernoulli(ours, 0.3, 100)),
        (random.categorical(theirs, np.log(p), shape=(50,)), R.categorical(ours, np.log(p), shape=50)),
    ]
    for wanted, found in equal:
        np.testing.assert_array_equal(found.numpy(), wanted)
    np.testing.assert_allclose(R.normal(ours, 100).numpy(), random.normal(theirs, (100,)), atol=1e-6)


@pytest.mark.parametrize("dtype", [mnp.float32, mnp.float64])
def test_moments(dtype: Any) -> None:
    keys = R.split(R.key(5), 4)
    z = R.normal(keys[0], (300, 200), dtype).numpy()
    assert z.dtype == dtype
    np.testing.assert_allclose([z.mean(), z.var(), (z**4).mean()], [0, 1, 3], atol=0.06)
    u = R.uniform(keys[1], 60000, dtype, -2.0, 4.0).numpy()
    np.testing.assert_allclose([u.mean(), u.var()], [1, 3], atol=0.05)
    assert u.min() >= -2 and u.max() < 4
    n = R.randint(keys[2], 60000, -2, 4).numpy()
    np.testing.assert_allclose(np.bincount(n + 2) / 60000, 1 / 6, atol=0.01)
    assert sorted(R.permutation(keys[3], np.arange(50) * 3).numpy()) == list(range(0, 150, 3))


def test_quantiles_of_float64() -> None:
    from statistics import NormalDist

    from mlc.frontends.array.random.distributions import erfinv

    p = np.random.default_rng().uniform(0.001, 0.999, 50)
    found = erfinv(mnp.asarray(2 * p - 1)).numpy() * 2**0.5
    np.testing.assert_allclose(found, [NormalDist().inv_cdf(each) for each in p], rtol=1e-12, atol=1e-14)


def test_compiled() -> None:
    """A traced key; a loop that folds in its counter."""

    @mlc.jit
    def walk(seed: Any) -> Any:
        key = R.key(seed)
        step = lambda i, x: x + R.normal(R.fold_in(key, i), 3)  # noqa: E731
        return mlc.fori_loop(0, 4, step, mnp.zeros(3))

    wanted = sum(R.normal(R.fold_in(R.key(11), i), 3).numpy() for i in range(4))
    np.testing.assert_allclose(walk(np.int64(11)).numpy(), wanted, atol=1e-5)


def test_errors() -> None:
    with pytest.raises(mlc.errors.InputError, match="int64.* is no random key"):
        R.uniform(mnp.asarray([1, 2, 3]))
    with pytest.raises(mlc.errors.InputError, match="Random bits as int32"):
        R.bits(R.key(0), 3, mnp.int32)
