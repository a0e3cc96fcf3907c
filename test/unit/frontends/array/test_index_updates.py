"""``x.at[key]`` against NumPy's assignment and unbuffered operations."""

from __future__ import annotations

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp

KEYS = {
    "integer": 1,
    "negative": (-1, 2),
    "slices": (slice(None, None, 2), slice(3, None, -2)),
    "nothing": slice(2, 2),
    "new dimension": (None, 1),
    "arrays": (np.array([2, 0]), np.array([1, -1])),
    "twice": np.array([0, 2, 0]),
    "mixed": (slice(1, None), np.array([[0, 3], [3, 1]])),
    "mask": np.array([True, False, True]),
}
UFUNCS = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("function", ["set", *UFUNCS])
def test_updates(name: str, function: str) -> None:
    rng = np.random.default_rng()
    x, key = rng.normal(size=(3, 5)), KEYS[name]
    values = rng.normal(size=x[key].shape)
    wanted = x.copy()
    if function == "set":
        wanted[key] = values
    else:
        UFUNCS[function].at(wanted, key, values)
    found = getattr(mnp.asarray(x).at[key], function)(values)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-14)


def test_values_are_broadcast_and_converted() -> None:
    x = mnp.asarray(np.zeros((2, 3), np.int8))
    np.testing.assert_array_equal(x.at[:, 1:].set(7).numpy(), [[0, 7, 7], [0, 7, 7]])
    np.testing.assert_array_equal(x.at[0].add([1.9, 2, 3]).numpy(), [[1, 2, 3], [0, 0, 0]])


def test_complex_arrays() -> None:
    x = mnp.asarray(np.array([1 + 1j, 2, 3]))
    np.testing.assert_array_equal(x.at[[0, 0]].add(1j).numpy(), [1 + 3j, 2, 3])
    with pytest.raises(mlc.errors.InputError, match="complex128"):
        x.at[0].max(1)


def test_compiled_with_traced_indices() -> None:
    """Counts of the classes in a vector."""
    counts = mlc.jit(lambda at: mnp.zeros(6).at[at].add(1))
    at = np.random.default_rng().integers(0, 6, 40)
    np.testing.assert_array_equal(counts(at).numpy(), np.bincount(at, minlength=6))
