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


ROWS = {"set": None, "add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}


@pytest.mark.parametrize("function", ROWS)
@pytest.mark.parametrize("shape", [(7, 3), (7, 2, 3), (7, 0), (7,)])
def test_rows_with_traced_indices(function: str, shape: tuple[int, ...]) -> None:
    """Whole rows by an index array: negative ones count from the end, those outside are passed over, the last stays."""
    rng = np.random.default_rng()
    x, at = rng.normal(size=shape), rng.integers(-12, 12, (4, 3))
    values = rng.normal(size=(3, *shape[1:]))
    wanted = x.copy()
    for row, value in zip(at.reshape(-1), np.concatenate([values] * 4), strict=True):
        if -7 <= row < 7:
            wanted[row] = value if function == "set" else ROWS[function](wanted[row], value)  # type: ignore[misc]
    update = mlc.jit(lambda x, at, values: getattr(x.at[at], function)(values))
    np.testing.assert_allclose(update(x, at, values).numpy(), wanted, rtol=1e-14)
    batched = mlc.vmap(lambda x, at, values: getattr(x.at[at], function)(values), in_axes=(None, 0, None))
    assert batched(x, np.stack([at, at]), values).shape == (2, *shape)


def test_gradients_of_rows() -> None:
    rng = np.random.default_rng()
    x, at, values = rng.normal(size=(5, 3)), np.array([4, -4, 4]), rng.normal(size=(3, 3))
    weights = rng.normal(size=(5, 3))
    for how, kept in (("set", [0, 2, 3]), ("add", [0, 1, 2, 3, 4])):
        f = lambda x, v, how=how: mnp.sum(getattr(x.at[at], how)(v) * weights)  # noqa: E731
        of_x, of_values = mlc.grad(f, (0, 1))(x, values)
        np.testing.assert_allclose(of_x.numpy(), weights * np.isin(np.arange(5), kept)[:, None], rtol=1e-14)
        wanted = weights[[4, 1, 4]] * (1 if how == "add" else np.array([[0], [1], [1]]))
        np.testing.assert_allclose(of_values.numpy(), wanted, rtol=1e-14)


def test_rows_of_state_are_updated_in_place() -> None:
    """The program copies no table, though it reads rows of it before."""

    def step(table: mlc.Array, moments: mlc.Array, at: mlc.Array, values: mlc.Array) -> tuple[mlc.Array, ...]:
        now = 0.5 * moments[at] + values
        return table.at[at].set(table[at] - now), moments.at[at].set(now), mnp.sum(table[at])

    compiled = mlc.jit(step, state=("table", "moments"))
    rng = np.random.default_rng()
    table, moments = rng.normal(size=(2, 50, 4)).astype(np.float32)
    at, values = np.array([3, 7, -50, 49]), rng.normal(size=(4, 4)).astype(np.float32)
    text = compiled.ir("plan", table, moments, at, values)
    assert "rt.copy" not in text and "in_place = [array<i64: 0, 3>]" in text
    instance, wanted = compiled.create(table, moments), (table.copy(), moments.copy())
    for _ in range(2):
        instance(at, values)
        wanted[1][at] = 0.5 * wanted[1][at] + values
        wanted[0][at] -= wanted[1][at]
    for found, each in zip(instance.state, wanted, strict=True):
        np.testing.assert_allclose(found, each, rtol=1e-6)
