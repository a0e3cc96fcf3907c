"""Some random programs over `mlc.numpy` beside NumPy; `fuzz_arrays.py` draws any number of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from fuzz_arrays import one

import mlc.numpy as mnp


@pytest.mark.filterwarnings("ignore")
def test_programs_on_edge_values_agree_with_numpy() -> None:
    first = int(np.random.default_rng().integers(2**31))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        found = [what for seed in range(first, first + 100) for rule, what in one(seed, jit=False) if not rule]
    assert not found, "\n".join(found)


@pytest.mark.filterwarnings("ignore")
def test_programs_in_batches_and_their_gradients() -> None:
    first = int(np.random.default_rng().integers(2**31))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        every = (one(seed, jit=False, vmap=True, grad=True) for seed in range(first, first + 25))
        found = [what for each in every for rule, what in each if not rule]
    assert not found, "\n".join(found)


def test_what_was_found() -> None:
    inf, nan = np.inf, np.nan
    steps = mnp.heaviside(np.array([7.0, -7, 0, nan]), np.array([nan, -inf, 3, 1]))
    np.testing.assert_array_equal(steps, [1, 0, 3, nan])
    np.testing.assert_array_equal(mnp.median(np.array([[1.0, inf], [1, nan], [-inf, inf]]), 1), [inf, nan, nan])
    np.testing.assert_array_equal(mnp.nanmedian(np.array([[1.0, inf, nan], [nan, nan, nan]]), 1), [inf, nan])
    assert np.isnan(np.asarray(mnp.median(np.zeros((2, 0)), axis=1))).all()
    assert mnp.median(np.zeros((1, 0, 3)), axis=0).shape == (0, 3)
    large = np.array([2**63 - 1, 2**63 - 2])
    np.testing.assert_allclose(mnp.nanmean(large), large.astype(float).mean(), rtol=1e-6)
    np.testing.assert_array_equal(mnp.signbit(np.array([-1, 0, 3])), [True, False, False])
    np.testing.assert_array_equal(mnp.signbit(np.array([200], np.uint64)), [False])
