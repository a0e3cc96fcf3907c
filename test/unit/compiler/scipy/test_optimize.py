"""Roots and minima beside solutions in closed form, and beside SciPy where that is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.scipy.optimize import minimize, root


def rosenbrock(x: Any, a: Any = 1.0, b: Any = 100.0) -> Any:
    """Least at ``(a, a²)``."""
    return mnp.sum(b * (x[1:] - x[:-1] ** 2) ** 2 + (a - x[:-1]) ** 2)


def circle_and_line(p: Any, radius: Any, slope: Any) -> Any:
    """A tree of two unknowns: where a line through 0 meets a circle."""
    return {"circle": p["x"] ** 2 + p["y"] ** 2 - radius**2, "line": p["y"] - slope * p["x"]}


def test_root_and_its_derivatives() -> None:
    start = {"x": np.float64(1), "y": np.float64(1)}

    def x(radius: Any, slope: Any) -> Any:
        return root(circle_and_line, start, (radius, slope)).x["x"]

    r, s = np.float64(2), np.float64(0.5)
    found = mlc.jit(lambda r, s: root(circle_and_line, start, (r, s)))(r, s)
    assert bool(found.success) and 0 < int(found.nit) < 10
    np.testing.assert_allclose(found.x["x"], r / np.sqrt(1 + s * s), rtol=1e-13)
    np.testing.assert_allclose([found.fun["circle"], found.fun["line"]], 0, atol=1e-13)
    by_r, by_s = mlc.jit(mlc.grad(x, (0, 1)))(r, s)
    np.testing.assert_allclose([by_r, by_s], [(1 + s * s) ** -0.5, -r * s * (1 + s * s) ** -1.5], rtol=1e-12)
    second = mlc.jit(mlc.grad(mlc.grad(x, 1), 1))(r, s)
    np.testing.assert_allclose(second, r * (2 * s * s - 1) * (1 + s * s) ** -2.5, rtol=1e-11)
    along = mlc.jit(lambda s: mlc.jvp(lambda s: x(r, s), (s,), (s * 0 + 1,))[1])(s)
    np.testing.assert_allclose(along, by_s, rtol=1e-12)
    slopes = np.array([0.1, 0.5, 3])
    np.testing.assert_allclose(mlc.jit(mlc.vmap(lambda s: x(r, s)))(slopes), 2 / np.sqrt(1 + slopes**2), rtol=1e-13)


def test_far_starts_and_no_root() -> None:
    far = mlc.jit(lambda x: root(lambda x: mnp.arctan(x), x))(np.array([20.0]))
    np.testing.assert_allclose(far.x, 0, atol=1e-12)
    none = mlc.jit(lambda x: root(lambda x: x**2 + 1, x))(np.float64(0.7))
    assert not bool(none.success)


def test_minimum_and_its_derivatives() -> None:
    start = np.array([-1.2, 1.0])
    found = mlc.jit(lambda x: minimize(rosenbrock, x, tol=1e-9))(start)
    assert bool(found.success)
    np.testing.assert_allclose(found.x, [1, 1], rtol=1e-8)
    np.testing.assert_allclose(found.fun, 0, atol=1e-15)
    where = lambda a: minimize(rosenbrock, start, (a,), tol=1e-9).x  # noqa: E731
    np.testing.assert_allclose(mlc.jit(mlc.jacrev(where))(np.float64(1.5)), [1, 3], rtol=1e-6)
    np.testing.assert_allclose(mlc.jit(mlc.jacfwd(where))(np.float64(1.5)), [1, 3], rtol=1e-6)


def test_minimum_over_what_the_function_reads_and_batches() -> None:
    rng = np.random.default_rng()
    design, target = rng.standard_normal((9, 3)), rng.standard_normal(9)

    def fitted(target: Any) -> Any:
        return minimize(lambda w: mnp.sum((design @ w - target) ** 2), np.zeros(3), tol=1e-10).x

    inverse = np.linalg.pinv(design)
    np.testing.assert_allclose(mlc.jit(fitted)(target), inverse @ target, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(mlc.jit(mlc.jacrev(fitted))(target), inverse, rtol=1e-7, atol=1e-9)
    targets = rng.standard_normal((4, 9))
    np.testing.assert_allclose(mlc.jit(mlc.vmap(fitted))(targets), targets @ inverse.T, rtol=1e-6, atol=1e-8)


def test_float32_and_few_iterations() -> None:
    found = mlc.jit(lambda x: minimize(lambda x: mnp.sum((x - 3) ** 4 + x**2), x, tol=1e-3))(np.zeros(2, np.float32))
    assert found.x.dtype == np.float32 and bool(found.success)
    short = mlc.jit(lambda x: minimize(rosenbrock, x, options={"maxiter": 3}))(np.array([-1.2, 1.0]))
    assert int(short.nit) == 3 and not bool(short.success)


@pytest.mark.parametrize("call, says", [
    (lambda: root(lambda x: mnp.zeros(3), np.zeros(2)), "2 unknowns have 3 equations"),
    (lambda: minimize(lambda x: x, np.zeros(2)), "float of rank 0"),
    (lambda: minimize(mnp.sum, np.zeros(2), method="Powell"), "no method 'Powell'"),
    (lambda: minimize(mnp.sum, np.zeros(2), options={"disp": 1}), "no option disp"),
])  # fmt: skip
def test_what_is_refused(call: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        call()


def test_beside_scipy() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    start = np.random.default_rng().uniform(-1, 1, 6)
    wanted = optimize.minimize(optimize.rosen, start, jac=optimize.rosen_der, method="BFGS", options={"gtol": 1e-10})
    found = mlc.jit(lambda x: minimize(rosenbrock, x, tol=1e-9))(start)
    np.testing.assert_allclose(found.fun, wanted.fun, atol=1e-12)
    np.testing.assert_allclose(found.x, wanted.x, rtol=1e-6)
    system = lambda x, xp: [x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1, 0.5 * (x[1] - x[0]) ** 3 + x[1]]  # noqa: E731
    wanted = optimize.root(lambda x: system(x, np), [0.0, 0.0], tol=1e-13)
    found = mlc.jit(lambda x: root(lambda x: mnp.stack(system(x, mnp)), x))(np.zeros(2))
    np.testing.assert_allclose(found.x, wanted.x, rtol=1e-10)
