"""Gravity between bodies: the same array code line by line in NumPy and compiled by mlc.

    python -m examples.n_body [BODIES] [STEPS]

Prints the error of the energy and the time of a step of each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp

SOFTENING = 0.05
STEP = 1e-3


def acceleration(xp: Any, position: Any, mass: Any) -> Any:
    offset = position[None, :, :] - position[:, None, :]
    distance = xp.sqrt(xp.sum(offset * offset, axis=2) + SOFTENING**2)
    return xp.sum(offset * (mass[None, :] / distance**3)[:, :, None], axis=1)


def step(xp: Any, position: Any, velocity: Any, mass: Any) -> tuple[Any, Any]:
    """A leapfrog step: kick, drift, kick."""
    velocity = velocity + STEP / 2 * acceleration(xp, position, mass)
    position = position + STEP * velocity
    return position, velocity + STEP / 2 * acceleration(xp, position, mass)


def energy(position: np.ndarray, velocity: np.ndarray, mass: np.ndarray) -> float:
    offset = position[None] - position[:, None]
    distance = np.sqrt((offset**2).sum(2) + SOFTENING**2)
    pairs = np.triu(mass[:, None] * mass[None] / distance, 1).sum()
    return float((mass * (velocity**2).sum(1)).sum() / 2 - pairs)


def start(bodies: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    position, velocity = random.normal(size=(bodies, 3)), random.normal(size=(bodies, 3)) / 3
    return position, velocity, np.full(bodies, 1 / bodies)


def simulated(advance: Callable[..., Any], bodies: int, steps: int) -> tuple[Any, float]:
    """The last positions and velocities, and the seconds of a step."""
    position, velocity, mass = start(bodies)
    advance(position, velocity, mass)
    before = time.perf_counter()
    for _ in range(steps):
        position, velocity = advance(position, velocity, mass)
    seconds = (time.perf_counter() - before) / steps
    return (np.asarray(position), np.asarray(velocity), mass), seconds


def main(bodies: int = 500, steps: int = 50) -> None:
    programs = {
        "NumPy": lambda *state: step(np, *state),
        "mlc": mlc.jit(lambda *state: step(mnp, *state), wait=True),
    }
    first = energy(*start(bodies))
    for name, advance in programs.items():
        state, seconds = simulated(advance, bodies, steps)
        print(f"{name:6} {seconds * 1e3:8.2f} ms a step, energy off by {abs(energy(*state) / first - 1):.1e}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
