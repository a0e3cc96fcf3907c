"""``x[key] = value``: what changes and what does not, against NumPy; line by line, traced, differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp


def steps(np: Any, x: Any, i: Any) -> Any:
    x[1] = 5
    x[:, 0] += x[:, 2]
    x[i, 1] = x[0, :3]
    x[x > 1] = 0.5
    x[-1, ::2] *= 3
    x[..., -1] = np.arange(4) * 1.0
    return x


WRITES: list[Callable[[Any, Any], None]] = [
    lambda x, i: x.__setitem__(0, 7.0),
    lambda x, i: x.__setitem__((slice(None), 1), 7.0),
    lambda x, i: x.__setitem__(i, 2.0),
    lambda x, i: x.__setitem__((i, i), [1.0, 2.0, 3.0]),
    lambda x, i: x.__setitem__((slice(1, 3), None, slice(0, 2)), 4.0),
    lambda x, i: x.__setitem__(Ellipsis, 4.0),
    lambda x, i: x.__setitem__(x > 0, x[x > 0] * 2),
    lambda x, i: x.__setitem__([True, False, False, True], 9.0),
    lambda x, i: x.__setitem__(slice(None, None, -1), x + 0),
]


@pytest.mark.parametrize("write", WRITES)
def test_as_numpy(write: Callable[[Any, Any], None]) -> None:
    data, i = np.random.default_rng().normal(size=(4, 5)), np.array([2, 0, 3])
    ours, theirs = mnp.asarray(data), data.copy()
    write(ours, mnp.asarray(i))
    write(theirs, i)
    np.testing.assert_array_equal(ours, theirs)


def test_traced_and_line_by_line() -> None:
    data, i = np.random.default_rng().normal(size=(4, 5)), np.array([2, 0, 3])
    wanted = steps(np, data.copy(), i)
    given = mnp.asarray(data)
    np.testing.assert_allclose(mlc.jit(lambda x, i: steps(mnp, x, i))(given, i), wanted)
    np.testing.assert_array_equal(given, data)  # the caller's array is as it was
    np.testing.assert_allclose(steps(mnp, given, mnp.asarray(i)), wanted)
    np.testing.assert_allclose(given, wanted)


def test_others_keep_their_elements() -> None:
    x = mnp.zeros((3, 3))
    name, view, part, copied, elements = x, x[:], x[0], x.copy(), x.numpy()
    later = x * 1
    x[0, 0] = 1
    assert name[0, 0] == 1 and x.shape == (3, 3)
    for each in (view, part, copied, elements, later):
        assert float(np.asarray(each).reshape(-1)[0]) == 0
    part[0] = 8
    assert x[0, 0] == 1


def test_elements_that_nothing_else_holds_are_not_copied() -> None:
    x = mnp.zeros(100)
    x[0] = 1
    before = id(x.value)
    for n in range(10):
        x[n] = n
    assert id(x.value) == before


def test_derivatives() -> None:
    def f(x: Any, v: Any) -> Any:
        x[1] = x[0] * v
        x[2] += x[1]
        return mnp.sum(x**2)

    x, v = np.array([1.0, 2.0, 3.0]), np.float64(0.5)
    g, h = mlc.grad(f, argnums=(0, 1))(x, v)
    np.testing.assert_allclose(g, [2 * 1 + 2 * 0.5 * 0.5 + 2 * 3.5 * 0.5, 0, 7])
    np.testing.assert_allclose(h, 2 * 0.5 + 2 * 3.5)


@pytest.mark.parametrize("mode, wanted", [
    (None, [1, 0, 0, 2]), ("drop", [1, 0, 0, 2]), ("clip", [3, 0, 0, 6]), ("wrap", [1, 4, 0, 2]),
])  # fmt: skip
@pytest.mark.parametrize("jitted", [True, False])
def test_indices_outside(mode: str | None, wanted: list[float], jitted: bool) -> None:
    """[0, 3, 5, -9] of four elements."""

    def f(x: Any, i: Any, v: Any) -> Any:
        return x.at[i].add(v, mode=mode)

    i, v = np.array([0, 3, 5, -9]), np.array([1.0, 2.0, 4.0, 0.0]) if mode == "wrap" else np.array([1.0, 2.0, 4.0, 2.0])
    found = (mlc.jit(f) if jitted else f)(mnp.zeros(4), mnp.asarray(i), mnp.asarray(v))
    np.testing.assert_array_equal(found, wanted)


def test_reads_outside() -> None:
    x, i = mnp.arange(4) * 1.0, mnp.asarray([1, 4, -5])
    np.testing.assert_array_equal(x.at[i].get(), [1, np.nan, np.nan])
    np.testing.assert_array_equal(x.at[i].get(mode="clip"), [1, 3, 0])
    np.testing.assert_array_equal(x.at[i].get(fill_value=7), [1, 7, 7])
    np.testing.assert_array_equal(mnp.take(x, i, mode="fill"), [1, np.nan, np.nan])


def test_checked_indices_name_the_line() -> None:
    f = mlc.jit(lambda x, i: x.at[i].set(1.0, mode="check"))
    np.testing.assert_array_equal(f(np.zeros(3), np.array([0, -1])), [1, 0, 1])
    with pytest.raises(mlc.RunError, match=r"test_assignments.py:\d+.*an index is outside of a dimension of 3"):
        f(np.zeros(3), np.array([0, 3]))
    with pytest.raises(IndexError, match="an index is outside of a dimension of 3"):
        mnp.zeros(3).at[mnp.asarray([3])].set(1.0, mode="check")
    with pytest.raises(IndexError):
        mnp.zeros(3)[3] = 1


def test_other_updates() -> None:
    x, i = np.array([1.0, 2.0, 4.0]), np.array([0, 2])
    for name, wanted in (("subtract", [-1, 2, 2]), ("divide", [0.5, 2, 2]), ("power", [1, 2, 16]), ("mul", [2, 2, 8])):
        np.testing.assert_allclose(getattr(mnp.asarray(x).at[i], name)(2.0), wanted)
    np.testing.assert_allclose(mnp.asarray(x).at[1:].apply(mnp.sqrt), np.append(1, np.sqrt(x[1:])), rtol=1e-6)
    y = mnp.asarray(x)
    y.fill(3)
    np.testing.assert_array_equal(y, [3, 3, 3])
