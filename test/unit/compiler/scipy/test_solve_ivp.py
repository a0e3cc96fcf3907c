"""``solve_ivp`` beside closed forms, SciPy's stiff methods and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.scipy.integrate import dormand_prince, rosenbrock, solve_ivp

RATES = np.array([0.04, 1e4, 3e7])
REACHED = 0.7158270687194  # of Robertson's problem at 40: SciPy's Radau with tolerances of 1e-12
SLOPES = np.array([-4.2475632, 1.3730795e-5, -2.2883490e-9])


def robertson(t: Any, y: Any, rates: Any) -> Any:
    """Three reactions whose rates differ by nine orders of magnitude."""
    first, second, third = rates[0] * y[0], rates[1] * y[1] * y[2], rates[2] * y[1] ** 2
    return mnp.stack([second - first, first - second - third, third])


def reached(rates: Any, **options: Any) -> Any:
    start = np.array([1.0, 0, 0])
    return solve_ivp(robertson, (0.0, 40.0), start, "Rodas", args=(rates,), rtol=1e-6, atol=1e-9, **options).y[0, -1]


def test_a_stiff_problem_and_its_derivatives() -> None:
    value, slope = mlc.jit(mlc.value_and_grad(lambda rates: reached(rates, max_steps=96)))(RATES)
    np.testing.assert_allclose(value, REACHED, rtol=1e-5)
    np.testing.assert_allclose(slope, SLOPES, rtol=1e-4)


def test_beside_scipy() -> None:
    scipy = pytest.importorskip("scipy.integrate")
    times = np.array([0.4, 4.0, 40.0])
    numbers = lambda t, y: np.asarray(robertson(t, y, RATES))  # noqa: E731
    wanted = scipy.solve_ivp(numbers, (0, 40), [1.0, 0, 0], "Radau", times, rtol=1e-8, atol=1e-11).y
    atol = np.array([1e-9, 1e-13, 1e-9])
    found = mlc.jit(
        lambda y: solve_ivp(robertson, (0.0, 40.0), y, "Rodas", times, args=(RATES,), rtol=1e-7, atol=atol).y
    )
    np.testing.assert_allclose(found(np.array([1.0, 0, 0])), wanted, rtol=1e-5)


@pytest.mark.parametrize("method, order", [(rosenbrock, 4), (dormand_prince, 5)])
def test_the_order_of_a_method_and_of_its_polynomial(method: Any, order: int) -> None:
    """Halved steps for ``y' = y cos t``: the error falls by ``2 ** order``, within a step at least by 2 ** 3."""
    slope = lambda y, t: y * mnp.cos(t)  # noqa: E731
    loose = dormand_prince.Control(1e9, 1e9, 1, False)

    def errors(n: int) -> Any:
        h, t, y = mnp.asarray(np.float64(1 / n)), mnp.asarray(np.float64(0)), mnp.asarray(np.ones(1))
        first = dormand_prince.start(slope, y, t, loose)
        last = mlc.fori_loop(0, n, lambda i, s: method.advanced(slope, s._replace(length=h), loose), first)
        middle = dormand_prince.interpolated(last, 1 - h * 0.4)
        return np.abs([float(last.y[0]) - np.exp(np.sin(1)), float(middle[0]) - np.exp(np.sin(1 - 0.4 / n))])

    end, within = np.log2(errors(8) / errors(16))
    assert order - 0.5 < end < order + 1 and within > 3


def falling(t: Any, y: Any, gravity: Any) -> Any:
    return {"height": y["speed"], "speed": -gravity}


def ground(t: Any, y: Any, gravity: Any) -> Any:
    return y["height"]


def top(t: Any, y: Any, gravity: Any) -> Any:
    return y["speed"]


ground.terminal, ground.direction = True, -1  # type: ignore[attr-defined]


def thrown(speed: Any, gravity: Any) -> Any:
    start = {"height": mnp.zeros_like(speed), "speed": speed}
    return solve_ivp(
        falling, (0.0, 9.0), start, t_eval=np.arange(10.0), events=[ground, top], args=(gravity,), rtol=1e-8
    )


def _first_and_all(speed: Any, gravity: Any) -> Any:
    found = thrown(speed, gravity)
    return found.t_events[0], found


def test_events_end_the_solution_and_have_derivatives() -> None:
    speed, gravity = np.float64(5), np.float64(2)
    (_, found), slopes = mlc.jit(mlc.value_and_grad(_first_and_all, (0, 1), has_aux=True))(speed, gravity)
    np.testing.assert_allclose(found.t_events, [5, 2.5], rtol=1e-9)
    np.testing.assert_allclose(found.y_events["speed"], [-5, 0], atol=1e-9)
    times = np.arange(6.0)
    np.testing.assert_allclose(found.y["height"][:6], 5 * times - times**2, atol=1e-7)
    assert np.isnan(np.asarray(found.y["height"])[6:]).all() and (int(found.status), bool(found.success)) == (1, True)
    np.testing.assert_allclose(slopes, [1, -2.5], rtol=1e-8)  # of 2 v / g


def test_no_event_backwards_and_batches() -> None:
    found = solve_ivp(
        lambda t, y: -y, (1.0, 0.0), np.array([1.0, 2.0]), events=lambda t, y: y[0], rtol=1e-9, adjoint=False
    )
    np.testing.assert_allclose(found.y[:, -1], [np.e, 2 * np.e], rtol=1e-6)
    assert np.isnan(float(found.t_events[0])) and int(found.status) == 0
    batch = mlc.vmap(lambda y: solve_ivp(lambda t, y: -50 * y, (0.0, 1.0), y, "Rodas", [0.02], rtol=1e-6).y[0, 0])
    np.testing.assert_allclose(batch(np.array([[1.0], [3.0]])), [np.exp(-1), 3 * np.exp(-1)], rtol=1e-5)


def test_too_many_steps_are_said() -> None:
    found = solve_ivp(lambda t, y: -y, (0.0, 9.0), np.ones(2), max_steps=2, adjoint=False)
    assert not bool(found.success) and int(found.status) == -1 and np.isnan(np.asarray(found.y)[:, -1]).all()


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="no method 'BDF'.*Rodas is for stiff"):
        solve_ivp(lambda t, y: y, (0.0, 1.0), np.ones(1), method="BDF")
    with pytest.raises(InputError, match="a span of 3 times"):
        solve_ivp(lambda t, y: y, (0.0, 1.0, 2.0), np.ones(1))
    with pytest.raises(InputError, match="A state of 2 numbers has a derivative of 1"):
        solve_ivp(lambda t, y: y[:1], (0.0, 1.0), np.ones(2))
