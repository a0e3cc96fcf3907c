"""Programs on particles and ensembles: forces, integrators, recurrences."""

from __future__ import annotations

from typing import Any

import numpy as np

RNG = np.random.default_rng(2)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.standard_normal(shape, np.float32)


def accelerations(lib: Any, position: Any, mass: Any) -> Any:
    """Gravity between all pairs."""
    np = lib.np
    offset = position[None, :, :] - position[:, None, :]
    square = np.sum(offset * offset, axis=2) + 1e-2
    return np.sum(offset * (mass / (square * np.sqrt(square)))[:, :, None], axis=1)


def n_body(lib: Any, position: Any, mass: Any) -> Any:
    return accelerations(lib, position, mass)


def n_body_steps(lib: Any, position: Any, velocity: Any, mass: Any) -> Any:
    """Fifty leapfrog steps of few bodies."""

    def step(n: Any, state: Any) -> Any:
        x, v = state
        v = v + 0.01 * accelerations(lib, x, mass)
        return x + 0.01 * v, v

    return lib.fori(50, step, (position, velocity))[0]


def lennard_jones(lib: Any, position: Any) -> Any:
    """The energy of all pairs."""
    np = lib.np
    offset = position[:, None, :] - position[None, :, :]
    square = np.sum(offset * offset, axis=2) + 1.0
    sixth = 1 / (square * square * square)
    return np.sum(sixth * sixth - sixth)


def lorenz(lib: Any, x: Any, y: Any, z: Any) -> Any:
    """A hundred Runge-Kutta steps of an ensemble."""

    def slope(x: Any, y: Any, z: Any) -> Any:
        return 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z

    def moved(state: Any, by: Any, h: float) -> Any:
        return tuple(a + h * b for a, b in zip(state, by, strict=True))

    def step(n: Any, s: Any) -> Any:
        h = 0.01
        a = slope(*s)
        b = slope(*moved(s, a, h / 2))
        c = slope(*moved(s, b, h / 2))
        d = slope(*moved(s, c, h))
        return tuple(v + h / 6 * (p + 2 * q + 2 * r + t) for v, p, q, r, t in zip(s, a, b, c, d, strict=True))

    return lib.np.stack(lib.fori(100, step, (x, y, z)))


def springs(lib: Any, x: Any, v: Any) -> Any:
    """Two hundred steps of a rope."""
    np = lib.np

    def step(n: Any, state: Any) -> Any:
        x, v = state
        v = 0.999 * v + 0.1 * (np.roll(x, 1) - 2 * x + np.roll(x, -1))
        return x + 0.1 * v, v

    return lib.fori(200, step, (x, v))[0]


def average(lib: Any, xs: Any) -> Any:
    """An exponential moving average of many series."""

    def step(state: Any, x: Any) -> Any:
        state = 0.9 * state + 0.1 * x
        return state, state

    return lib.scan(step, xs[0], xs)[1]


def recurrent(lib: Any, xs: Any, h: Any, w: Any, u: Any) -> Any:
    """A recurrent network over a sequence."""

    def step(h: Any, x: Any) -> Any:
        h = lib.np.tanh(x @ w + h @ u)
        return h, h

    return lib.scan(step, h, xs)[1]


def kalman(lib: Any, measured: Any) -> Any:
    """A filter of position and velocity for many series."""

    def step(state: Any, z: Any) -> Any:
        x, v, pxx, pxv, pvv = state
        x, pxx, pxv, pvv = x + 0.1 * v, pxx + 0.2 * pxv + 0.01 * pvv + 1e-4, pxv + 0.1 * pvv, pvv + 1e-3
        gain_x, gain_v, r = pxx / (pxx + 0.5), pxv / (pxx + 0.5), z - x
        state = x + gain_x * r, v + gain_v * r, (1 - gain_x) * pxx, (1 - gain_x) * pxv, pvv - gain_v * pxv
        return state, state[0]

    zero = measured[0] * 0
    return lib.scan(step, (zero, zero, zero + 1, zero, zero + 1), measured)[1]


def asian_option(lib: Any, normals: Any) -> Any:
    """The mean payoff over paths of the market, step by step."""
    np = lib.np

    def step(n: Any, state: Any) -> Any:
        price, total = state
        price = price * np.exp(0.0001 + 0.02 * normals[n])
        return price, total + price

    start = normals[0] * 0 + 100
    price, total = lib.fori(normals.shape[0], step, (start, start * 0))
    return np.mean(np.maximum(total / normals.shape[0] - 100, 0))


def black_scholes(lib: Any, spot: Any, strike: Any, time: Any) -> Any:
    """Prices of European calls and puts."""
    np = lib.np
    deviation = 0.2 * np.sqrt(time)
    d1 = (np.log(spot / strike) + 0.05 * time) / deviation + 0.5 * deviation
    def cdf(x):
        return 1 / (1 + np.exp(-1.5976 * x - 0.070565 * x * x * x))
    discounted = strike * np.exp(-0.05 * time)
    call = spot * cdf(d1) - discounted * cdf(d1 - deviation)
    return call, call - spot + discounted


def interpolation(lib: Any, x: Any, table: Any) -> Any:
    """Values between those of a table."""
    np = lib.np
    at = x * (table.shape[0] - 1)
    low = np.astype(np.floor(at), np.int32)
    part = at - np.astype(low, np.float32)
    return table[low] * (1 - part) + table[low + 1] * part


def horner(lib: Any, x: Any) -> Any:
    """A polynomial of degree 15."""
    y = x * 0
    for n in range(16):
        y = y * x + 1 / (n + 1)
    return y


PROGRAMS = {
    n_body: [normal(1024, 3), np.abs(normal(1024))],
    n_body_steps: [normal(128, 3), normal(128, 3), np.abs(normal(128))],
    lennard_jones: [normal(1500, 3)],
    lorenz: [normal(1 << 15), normal(1 << 15), normal(1 << 15)],
    springs: [normal(10000), normal(10000)],
    average: [normal(512, 1024)],
    recurrent: [normal(100, 16, 64), normal(16, 128), normal(64, 128) / 8, normal(128, 128) / 12],
    kalman: [normal(256, 4096)],
    asian_option: [normal(64, 1 << 15)],
    black_scholes: [low + high * RNG.random(1 << 19, "f4") for low, high in ((50, 100), (50, 100), (0.5, 1))],
    interpolation: [RNG.random(1 << 19, "f4") * 0.999, normal(1000)],
    horner: [RNG.random(1 << 20, "f4")],
}  # fmt: skip
