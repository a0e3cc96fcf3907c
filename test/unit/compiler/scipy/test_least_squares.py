"""Least squares and fitted curves beside SciPy, and their derivatives beside closed forms and central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.scipy.optimize import curve_fit, least_squares


def decay(t: Any, a: Any, b: Any, c: Any) -> Any:
    return a * mnp.exp(-b * t) + c


def by_numpy(t: Any, a: Any, b: Any, c: Any) -> Any:
    return a * np.exp(-b * t) + c


@pytest.fixture
def points() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    t = np.linspace(0, 4, 30)
    return t, by_numpy(t, 2.5, 1.3, 0.5) + 0.02 * np.random.default_rng().standard_normal(30)


def test_beside_scipy(points: Any) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    t, y = points
    tight = {"ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14}
    found, covariance = mlc.jit(lambda y: curve_fit(decay, t, y, **tight))(y)
    wanted, expected = optimize.curve_fit(by_numpy, t, y, **tight)
    np.testing.assert_allclose(found, wanted, rtol=1e-7)
    np.testing.assert_allclose(covariance, expected, rtol=1e-5)
    deviations = np.random.default_rng().uniform(0.01, 0.05, 30)
    for sigma in (deviations, np.diag(deviations**2) + 1e-5):
        fit = mlc.jit(lambda y, s: curve_fit(decay, t, y, sigma=s, absolute_sigma=True, **tight))
        found, covariance = fit(y, sigma)
        wanted, expected = optimize.curve_fit(by_numpy, t, y, sigma=sigma, absolute_sigma=True, **tight)
        np.testing.assert_allclose(found, wanted, rtol=1e-7)
        np.testing.assert_allclose(covariance, expected, rtol=1e-5)


def test_derivatives_by_the_points(points: Any) -> None:
    t, y = points
    fit = mlc.jit(lambda y: curve_fit(decay, t, y, ftol=1e-15, xtol=1e-15, gtol=1e-13))
    along = np.random.default_rng().standard_normal(30)
    parameters, covariance = mlc.jit(lambda y, v: mlc.jvp(lambda y: curve_fit(decay, t, y), (y,), (v,))[1])(y, along)
    for n, found in enumerate((parameters, covariance)):
        central = (np.asarray(fit(y + 1e-5 * along)[n]) - np.asarray(fit(y - 1e-5 * along)[n])) / 2e-5
        np.testing.assert_allclose(found, central, rtol=1e-4, atol=1e-5 * np.abs(central).max())


def test_linear_problems_trees_and_float32() -> None:
    """Residuals that are linear have a closed form; fewer of them than unknowns have many solutions."""
    rng = np.random.default_rng()
    design, target = rng.standard_normal((9, 3)), rng.standard_normal(9)

    def fitted(target: Any) -> Any:
        start = {"slope": np.zeros(2), "offset": np.float64(0)}
        residuals = lambda p: {"all": design[:, :2] @ p["slope"] + design[:, 2] * p["offset"] - target}  # noqa: E731
        x = least_squares(residuals, start).x
        return mnp.concat([x["slope"], x["offset"][None]])

    inverse = np.linalg.pinv(design)
    np.testing.assert_allclose(mlc.jit(fitted)(target), inverse @ target, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(mlc.jit(mlc.jacrev(fitted))(target), inverse, rtol=1e-9, atol=1e-11)
    few = mlc.jit(lambda x: least_squares(lambda x: design[:2] @ x - target[:2], x))(np.zeros(3))
    assert bool(few.success)
    np.testing.assert_allclose(few.fun, 0, atol=1e-7)
    half = mlc.jit(lambda x: least_squares(lambda x: mnp.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]]), x))
    found = half(np.array([-1.2, 1.0], np.float32))
    assert found.x.dtype == np.float32 and bool(found.success)
    np.testing.assert_allclose(found.x, [1, 1], rtol=1e-4)
    short = mlc.jit(lambda x: least_squares(lambda x: mnp.sinh(x) - 3, x, max_nfev=1))(np.array([20.0]))
    assert int(short.nit) == 1 and not bool(short.success)


def test_refusals() -> None:
    t = np.arange(4.0)
    with pytest.raises(InputError, match="how many parameters"):
        curve_fit(lambda t, *p: t, t, t)
    with pytest.raises(InputError, match=r"sigma has shape \[3\] and ydata \[4\]"):
        curve_fit(decay, t, t, sigma=np.ones(3))
    with pytest.raises(InputError, match="cannot take -1 steps"):
        least_squares(lambda x: x, np.zeros(2), max_nfev=-1)
