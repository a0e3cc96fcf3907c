"""``odeint`` beside solutions in closed form, and beside SciPy where that is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.scipy.integrate import odeint

TIMES = np.array([0.0, 0.3, 1.0, 2.5])


def oscillator(y: Any, t: Any, stiffness: Any, push: Any) -> Any:
    """A spring that is pushed with a force that grows in time."""
    return {"x": y["v"], "v": -stiffness * y["x"] + push * t}


def exact(x: float, v: float, stiffness: float, push: float, t: Any) -> Any:
    w = stiffness**0.5
    drift = push / stiffness
    return x * np.cos(w * t) + (v - drift) / w * np.sin(w * t) + drift * t


def position(x: Any, v: Any, stiffness: Any, push: Any, t: Any, **options: Any) -> Any:
    start = {"x": mnp.asarray(x), "v": mnp.asarray(v)}
    return odeint(oscillator, start, t, stiffness, push, rtol=1e-10, atol=1e-10, **options)["x"]


GIVEN = (np.float64(1.2), np.float64(0.4), np.float64(2.0), np.float64(0.7))
EXACT_SLOPES = [
    [(exact(*(g + (1e-6 if n == m else 0) for m, g in enumerate(GIVEN)), TIMES)
      - exact(*(g - (1e-6 if n == m else 0) for m, g in enumerate(GIVEN)), TIMES)) / 2e-6] for n in range(4)
]  # fmt: skip


def test_solution_in_both_directions() -> None:
    found = mlc.jit(position)(*GIVEN, TIMES)
    np.testing.assert_allclose(found, exact(*GIVEN, TIMES), rtol=1e-8, atol=1e-9)
    decay = mlc.jit(lambda t: odeint(lambda y, t: -2 * y, np.ones((2, 2)), t))(np.array([1.0, 0.5, 0.0]))
    np.testing.assert_allclose(decay, np.exp(2 * np.array([0, 0.5, 1.0]))[:, None, None] * np.ones((2, 2)), rtol=1e-6)
    np.testing.assert_array_equal(odeint(lambda y, t: y, 3.0, [0.0]), [3])


@pytest.mark.parametrize("options", [{}, {"adjoint": False, "mxstep": 64}], ids=["adjoint", "through"])
def test_gradients_by_all_arguments(options: dict[str, Any]) -> None:
    weights = np.random.default_rng().standard_normal(4)
    loss = lambda *args: mnp.sum(weights * position(*args, **options))  # noqa: E731
    *found, by_times = mlc.jit(mlc.grad(loss, (0, 1, 2, 3, 4)))(*GIVEN, TIMES)
    np.testing.assert_allclose(found, [weights @ slope for (slope,) in EXACT_SLOPES], rtol=1e-6, atol=1e-7)
    rate = (exact(*GIVEN, TIMES + 1e-6) - exact(*GIVEN, TIMES - 1e-6)) / 2e-6
    np.testing.assert_allclose(by_times[1:], (weights * rate)[1:], rtol=1e-6, atol=1e-7)


def test_gradient_by_what_the_function_reads_and_its_derivative() -> None:
    """``y = exp(a t)``: derivatives ``t exp(a t)`` and ``t² exp(a t)``."""
    times = np.array([0.0, 1.5])
    value = lambda a: odeint(lambda y, t: a * y, np.float64(1), times, rtol=1e-10, atol=1e-10)[1]  # noqa: E731
    a, end = np.float64(0.3), np.exp(0.45)
    first, second = mlc.jit(mlc.value_and_grad(mlc.grad(value)))(a)
    np.testing.assert_allclose(first, 1.5 * end, rtol=1e-7)
    np.testing.assert_allclose(second, 2.25 * end, rtol=1e-6)


def test_forward_mode_and_batches() -> None:
    decay = lambda y, rate: odeint(lambda y, t: -rate * y, y, TIMES, adjoint=False)  # noqa: E731
    y, rates = np.float64(2), np.array([0.5, 1, 4])
    wanted = 2 * np.exp(-np.outer(rates, TIMES))
    np.testing.assert_allclose(mlc.jit(mlc.vmap(decay, (None, 0)))(y, rates), wanted, rtol=1e-6, atol=1e-7)
    along = mlc.jit(lambda r: mlc.jvp(lambda r: decay(y, r), (r,), (np.float64(1),))[1])(np.float64(0.5))
    np.testing.assert_allclose(along, -TIMES * wanted[0], rtol=1e-6, atol=1e-9)


def test_too_many_steps_give_nan() -> None:
    wave = mlc.jit(lambda y: odeint(lambda y, t: 50 * mnp.cos(200 * t), y, TIMES, mxstep=3))
    found = np.asarray(wave(np.float64(0)))
    assert found[0] == 0 and np.isnan(found[1:]).all()


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="derivative of 2"):
        odeint(lambda y, t: mnp.zeros(2), 1.0, TIMES)
    with pytest.raises(InputError, match="Give a vector"):
        odeint(lambda y, t: y, 1.0, 2.0)


def test_beside_scipy() -> None:
    integrate = pytest.importorskip("scipy.integrate")
    slope = lambda y, t: [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]  # noqa: E731
    y0 = np.array([1.0, 2, 3])
    times = np.linspace(0, 2, 9)
    wanted = integrate.solve_ivp(lambda t, y: slope(y, t), (0, 2), y0, "DOP853", times, rtol=1e-12, atol=1e-12).y.T
    found = mlc.jit(lambda y: odeint(lambda y, t: mnp.stack(slope(y, t)), y, times, rtol=1e-10, atol=1e-10))(y0)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
