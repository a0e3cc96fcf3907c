"""Adaptive steps of the linearly implicit method Rodas of orders 4 and 3, for stiff equations, with a dense output.

Source: Hairer and Wanner, "Solving ordinary differential equations II", 1996, IV.7 and the program RODAS. A step takes
one Jacobian, one LU factorization and six systems, and no iteration; it is L-stable.
"""

from __future__ import annotations

import mlc.numpy as mnp
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.linalg.systems import lu_factor, lu_solve
from mlc.frontends.array.transforms.derivatives.jacobians import jacfwd
from mlc.frontends.array.transforms.derivatives.linear_maps import jvp
from mlc.scipy.integrate.dormand_prince import FASTEST, SAFETY, SLOWEST, Control, Slope, Step, size

GAMMA = 0.25
NODES = (0.0, 0.386, 0.21, 0.63, 1.0, 1.0)
BY_TIME = (0.25, -0.1043, 0.1035, -0.03620000000000023, 0.0, 0.0)
STAGES: tuple[tuple[float, ...], ...] = (
    (),
    (1.544,),
    (0.9466785280815826, 0.2557011698983284),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0),
)
COUPLED: tuple[tuple[float, ...], ...] = (
    (),
    (-5.6688,),
    (-2.430093356833875, -0.2063599157091915),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
    (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
)
BETWEEN = (
    (10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662),
    (-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872),
)
"""The values between the ends of a step."""


def advanced(f: Slope, step: Step, control: Control) -> Step:
    """One step further where its error is small enough; the same one again, shorter, where it is not."""
    dt, time = step.length, step.time
    by_time = jvp(lambda t: f(step.y, t), (time,), (mnp.ones_like(time),))[1]
    jacobian = jacfwd(lambda y: f(y, time))(step.y)
    factors = lu_factor(mnp.eye(step.y.shape[0], dtype=step.y.dtype) / (GAMMA * dt) - jacobian)
    found: list[Array] = []
    for n, (node, share) in enumerate(zip(NODES, BY_TIME, strict=True)):
        at = step.y + _weighted(STAGES[n], found) if n else step.y
        right = f(at, time + dt * node) if n else step.slope
        right = right + _weighted(COUPLED[n], found) / dt if n else right
        found.append(lu_solve(factors, right + dt * share * by_time if share else right))
    y = at + found[-1]
    error = size(found[-1] / (control.atol + control.rtol * mnp.maximum(mnp.abs(step.y), mnp.abs(y))))
    good = error <= 1
    factor = SAFETY / mnp.maximum(error, as_array(1e-10, error.element)) ** (1 / 4)
    second, third = (_weighted(row, found[:5]) for row in BETWEEN)
    polynomial = mnp.stack([y * 0, -third, third - second, y - step.y + second, step.y])
    pick = lambda new, old: mnp.where(good, new, old)  # noqa: E731
    return Step(
        pick(time + dt, time),
        pick(y, step.y),
        pick(f(y, time + dt), step.slope),
        pick(time, step.before),
        pick(polynomial, step.polynomial),
        dt * mnp.clip(factor, SLOWEST, mnp.where(good, FASTEST, 1.0)),
        step.steps + 1,
    )


def _weighted(factors: tuple[float, ...], found: list[Array]) -> Array:
    terms = [factor * each for factor, each in zip(factors, found, strict=True)]
    return sum(terms[1:], terms[0])
