"""Functions of NumPy's against NumPy in float64: values, types, shapes, derivatives; traced as well as line by line."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy_cases import EXACT, SMOOTH, Case

import mlc
import mlc.numpy as mnp
from mlc.dialects.semantics.prepared import interpreted
from mlc.frontends.array.array import Array


def data() -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng()
    return {
        "x": rng.normal(size=(4, 5)), "y": rng.normal(size=(5, 4)), "p": rng.uniform(0.2, 2, size=(4, 5)),
        "v": rng.normal(size=7), "w": rng.normal(size=7), "i": rng.integers(-6, 7, size=(4, 5)),
        "c": rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4)),
        "e": np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 1e10, 1e-10]),
    }  # fmt: skip


def leaves(found: Any) -> list[Any]:
    if isinstance(found, list | tuple):
        return [leaf for each in found for leaf in leaves(each)]
    return [np.asarray(found) if isinstance(found, Array) else found]


def expected(case: Case, given: dict[str, Any]) -> list[Any]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return leaves(case(np, **given))


def assert_close(found: list[Any], wanted: list[Any]) -> None:
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert np.shape(a) == np.shape(b)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and b.dtype.kind in "iub":
            assert a.dtype == b.dtype
        if isinstance(b, np.ndarray | float):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        else:
            assert a == b


@pytest.mark.parametrize("n", range(len(SMOOTH) + len(EXACT)))
def test_values(n: int) -> None:
    case, given = [*SMOOTH, *EXACT][n], data()
    assert_close(leaves(case(mnp, **{name: mnp.asarray(x) for name, x in given.items()})), expected(case, given))


UNTRACED = {n for n, f in enumerate(SMOOTH) if {"insert", "piecewise"} & set(f.__code__.co_names) - {"piecewise"}}


@pytest.mark.parametrize("n", range(len(SMOOTH)))
def test_traced_and_derivatives(n: int) -> None:
    """The derivative along a direction is that of central differences, of a weighted sum of the results."""
    case, given = SMOOTH[n], data()
    named = {name: x for name, x in given.items() if name in "xypvw"}
    weights = np.random.default_rng().normal(size=np.shape(expected(case, given)[0]))

    def total(*xs: Any) -> Any:
        return mnp.sum(case(mnp, **dict(zip(named, xs, strict=True))) * weights)

    slope = mlc.jit(lambda xs, along: mlc.jvp(total, xs, along)[1])
    reverse = mlc.jit(lambda xs: mlc.grad(total, argnums=tuple(range(5)))(*xs))
    along = tuple(np.random.default_rng().normal(size=x.shape) for x in named.values())
    xs, h = tuple(named.values()), 1e-6
    forward = run(slope, xs, along)[0]
    backward = sum(np.sum(g * t) for g, t in zip(run(reverse, xs), along, strict=True))
    ends = [dict(zip(named, [x + s * h * t for x, t in zip(xs, along, strict=True)], strict=True)) for s in (1, -1)]
    up, down = (np.sum(np.asarray(expected(case, each)[0]) * weights) for each in ends)
    np.testing.assert_allclose([forward, backward], [(up - down) / 2 / h] * 2, rtol=2e-4, atol=2e-4)


def run(f: Any, *args: Any) -> list[np.ndarray[Any, Any]]:
    """A jitted function by the interpreter."""
    made = f.lower(*args).imported()
    flat = [x for each in args for x in each]
    return [np.asarray(x) for x in interpreted(made.module, made.weights)(flat)]


@pytest.mark.parametrize("shape, axis", [((0, 2), 1), ((2, 0), 0), ((2, 3), (0, 1)), ((2, 3), 0)])
def test_means_of_no_rows(shape: tuple[int, ...], axis: int | tuple[int, ...]) -> None:
    """Where no mean is left there is none to divide: the sums of weights are the numbers of elements."""
    found, total = mnp.average(np.ones(shape, "f4"), axis=axis, returned=True)
    np.testing.assert_array_equal(found, np.ones(shape).mean(axis))
    np.testing.assert_array_equal(total, np.ones(shape).sum(axis))
    np.testing.assert_array_equal(mnp.average(np.ones(shape, "i4"), axis=axis), np.ones(shape).mean(axis))
