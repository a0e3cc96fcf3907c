"""A differentiable solver of the heat equation recovers the diffusivity of a rod from its last temperatures.

    python -m examples.diffusivity

The solver is a ``scan`` over time steps in double precision. Newton's method takes the first derivative of the error by
``grad`` and the second by ``hvp``, through the loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp

POINTS, STEPS = 64, 200
TRUE = 0.21
START = np.exp(-100 * (np.linspace(0, 1, POINTS) - 0.4) ** 2)


def solve(diffusivity: Any, temperature: Any) -> Any:
    """The temperatures after all steps; the ends of the rod are insulated."""

    def step(u: Any, _: Any) -> tuple[Any, Any]:
        padded = mnp.concat([u[:1], u, u[-1:]])
        return u + diffusivity * (padded[:-2] - 2 * u + padded[2:]), mnp.sum(u)

    return mlc.scan(step, temperature, mnp.zeros(STEPS))[0]


def error(diffusivity: Any, measured: Any) -> Any:
    difference = solve(diffusivity, mnp.asarray(START)) - measured
    return mnp.sum(difference * difference)


@mlc.jit
def newton(diffusivity: Any, measured: Any) -> Any:
    """One step of Newton's method, and the error before it."""

    def of(d: Any) -> Any:
        return error(d, measured)

    value, slope = mlc.value_and_grad(of)(diffusivity)
    curvature = mlc.hvp(of, (diffusivity,), (mnp.ones_like(diffusivity),))
    return diffusivity - slope / mnp.abs(curvature), value


def main() -> float:
    measured = mlc.jit(solve)(np.float64(TRUE), START).numpy()
    diffusivity = np.float64(0.1)
    for n in range(8):
        diffusivity, value = newton(diffusivity, measured)
        print(f"step {n}: diffusivity {float(diffusivity):.12f}, error {float(value):.3e}")
    return float(diffusivity)


if __name__ == "__main__":
    main()
