"""``mlc.scipy.interpolate`` against what defines each function: values at points, smoothness, ends, monotony."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.scipy import interpolate

Array = np.ndarray[Any, Any]
EPSILON = 1e-9


def points(n: int, *more: int) -> tuple[Array, Array]:
    rng = np.random.default_rng()
    return np.cumsum(rng.uniform(0.2, 1.5, n)), rng.standard_normal((n, *more))


@pytest.mark.parametrize("kind", ["not-a-knot", "natural", "clamped", "periodic"])
@pytest.mark.parametrize("n", [3, 4, 8])
def test_cubic_splines_are_smooth_and_have_their_ends(kind: str, n: int) -> None:
    x, y = points(n, 2)
    y[-1] = y[0] if kind == "periodic" else y[-1]
    spline = interpolate.CubicSpline(x, y, bc_type=kind)
    at = lambda x, nu=0: np.asarray(spline(x, nu))  # noqa: E731
    np.testing.assert_allclose(at(x), y, atol=1e-9)
    for nu in (1, 2):
        np.testing.assert_allclose(at(x[1:-1] - EPSILON, nu), at(x[1:-1] + EPSILON, nu), atol=1e-6)
    low, high = x[0] + EPSILON, x[-1] - EPSILON
    if kind == "natural":
        np.testing.assert_allclose([at(low, 2), at(high, 2)], 0, atol=1e-6)
    if kind == "clamped":
        np.testing.assert_allclose([at(low, 1), at(high, 1)], 0, atol=1e-6)
    if kind == "periodic":
        np.testing.assert_allclose([at(low, nu) for nu in (1, 2)], [at(high, nu) for nu in (1, 2)], atol=1e-5)
        np.testing.assert_allclose(at(x[0] + 0.1 + 3 * (x[-1] - x[0])), at(x[0] + 0.1), atol=1e-9)
    if kind == "not-a-knot":
        cubic = np.polynomial.Polynomial(np.random.default_rng().standard_normal(4 if n > 3 else 3))
        t = np.linspace(x[0] - 1, x[-1] + 1, 9)
        np.testing.assert_allclose(interpolate.CubicSpline(x, cubic(x))(t), cubic(t), rtol=1e-7, atol=1e-7)


def test_gradients_of_a_spline_are_its_basis() -> None:
    x, y = points(6)
    value = mlc.jit(lambda y, t: interpolate.CubicSpline(x, y)(t))
    gradient = np.asarray(mlc.grad(lambda y: interpolate.CubicSpline(x, y)(2.0))(mnp.asarray(y)))
    np.testing.assert_allclose(gradient @ y, value(y, np.float64(2.0)), rtol=1e-9)
    slope = mlc.grad(lambda t: interpolate.CubicSpline(x, y)(t))(mnp.asarray(2.0, dtype="float64"))
    np.testing.assert_allclose(slope, interpolate.CubicSpline(x, y)(2.0, nu=1), rtol=1e-9)


def test_monotone_cubics_do_not_overshoot() -> None:
    x, y = points(7)
    y = np.sort(y)
    y[3] = y[2]
    spline = interpolate.PchipInterpolator(x, y)
    np.testing.assert_allclose(spline(x), y, atol=1e-12)
    assert (np.diff(np.asarray(spline(np.linspace(x[0], x[-1], 200)))) >= -1e-12).all()
    np.testing.assert_allclose(spline(np.linspace(x[2], x[3], 5)), y[2], atol=1e-12)


def test_grids() -> None:
    (a, _), (b, _) = points(4), points(5)
    slope = np.random.default_rng().standard_normal((2, 3))
    values = a[:, None, None] * slope[0] + b[:, None] * slope[1]
    grid = interpolate.RegularGridInterpolator((a, b), values, fill_value=None)
    xi = np.random.default_rng().uniform(0, 5, (6, 2))
    np.testing.assert_allclose(grid(xi), xi @ slope, rtol=1e-9, atol=1e-9)
    inside = interpolate.RegularGridInterpolator((a, b), values)
    assert np.isnan(np.asarray(inside(np.array([[a[0] - 1, b[1]]])))).all()
    nearest = interpolate.RegularGridInterpolator((a, b), values, method="nearest")
    np.testing.assert_array_equal(nearest((a[2] + 0.05, b[3] - 0.05)), values[2, 3])
    jacobian = mlc.jacrev(lambda p: inside(p))(mnp.asarray([a[1] + 0.1, b[2] + 0.1]))
    np.testing.assert_allclose(jacobian, slope.T, rtol=1e-7)


def test_refusals() -> None:
    with pytest.raises(InputError, match="no bc_type"):
        interpolate.CubicSpline([0.0, 1.0], [0.0, 1.0], bc_type="free")
    with pytest.raises(InputError, match="cannot have values of shape"):
        interpolate.PchipInterpolator([0.0, 1.0], [0.0, 1.0, 2.0])
    with pytest.raises(InputError, match="Methods are linear and nearest"):
        interpolate.RegularGridInterpolator(([0.0, 1.0],), [0.0, 1.0], method="cubic")
