"""A few random keys of arrays, read and written; `fuzz_keys.py` draws as many as one likes."""

from __future__ import annotations

import numpy as np
import pytest
from fuzz_keys import differences

import mlc.numpy as mnp


def test_keys_index_as_in_numpy() -> None:
    first = int(np.random.default_rng().integers(1 << 31))
    assert not [problem for seed in range(first, first + 60) for problem in differences(seed, compiled=False)]
    assert not [problem for seed in range(first, first + 3) for problem in differences(seed, compiled=True)]


@pytest.mark.parametrize("key", [
    (0, slice(None), [0, 1]), ([0, 1], slice(None), 1), (0, [0, 1]), (slice(None), 1, [0, 1]), (0, None, [0, 1]),
    (0, [1], ..., 2), (1, ..., [0, 1]), (None, 1, [0, 1], 2), (True, [0, 1]), ([[0], [1]], 1, [2, 0]), (0, 1, ..., [2]),
])  # fmt: skip
def test_integers_beside_arrays_are_index_arrays(key: object) -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(np.asarray(mnp.asarray(x)[key]), x[key])
