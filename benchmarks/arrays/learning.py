"""Programs of statistics and learning: distances, regressions, networks, derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

RNG = np.random.default_rng(3)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.standard_normal(shape, np.float32)


def k_means(lib: Any, points: Any, centres: Any) -> Any:
    """One iteration of Lloyd's algorithm."""
    np = lib.np
    distance = np.sum(centres * centres, axis=1) - 2 * points @ centres.T
    nearest = np.argmin(distance, axis=1)
    chosen = np.astype(nearest[:, None] == np.arange(centres.shape[0])[None, :], np.float32)
    return (chosen.T @ points) / (np.sum(chosen, axis=0)[:, None] + 1e-6)


def distances(lib: Any, x: Any, y: Any) -> Any:
    """All distances between two sets of points."""
    np = lib.np
    offset = x[:, None, :] - y[None, :, :]
    return np.sqrt(np.sum(offset * offset, axis=2))


def rbf_regression(lib: Any, x: Any, centres: Any, w: Any) -> Any:
    """A weighted sum of Gaussians at each point."""
    np = lib.np
    offset = x[:, None, :] - centres[None, :, :]
    return np.exp(-0.5 * np.sum(offset * offset, axis=2)) @ w


def softmax(lib: Any, x: Any) -> Any:
    np = lib.np
    weights = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)


def softmax_rows(lib: Any, x: Any) -> Any:
    return softmax(lib, x)


def softmax_regression(lib: Any, x: Any, y: Any, w: Any) -> Any:
    """Ten gradient steps."""
    def step(n, w):
        return w - 0.1 * (x.T @ (softmax(lib, x @ w) - y)) / x.shape[0]
    return lib.fori(10, step, w)


def logistic_regression(lib: Any, x: Any, y: Any, w: Any) -> Any:
    """Fifty gradient steps on few columns."""
    np = lib.np
    def step(n, w):
        return w - 0.5 * ((1 / (1 + np.exp(-(x @ w))) - y) @ x) / x.shape[0]
    return lib.fori(50, step, w)


def power_iteration(lib: Any, a: Any, v: Any) -> Any:
    np = lib.np

    def step(n: Any, v: Any) -> Any:
        v = a @ v
        return v / np.sqrt(np.sum(v * v))

    return lib.fori(50, step, v)


def attention(lib: Any, q: Any, k: Any, v: Any) -> Any:
    return softmax(lib, q @ lib.np.matrix_transpose(k) * 0.125) @ v


def normalization(lib: Any, x: Any, scale: Any) -> Any:
    """Layer normalization and GELU."""
    np = lib.np
    centred = x - np.mean(x, axis=1, keepdims=True)
    y = centred / np.sqrt(np.mean(centred * centred, axis=1, keepdims=True) + 1e-5) * scale
    return 0.5 * y * (1 + np.tanh(0.7978846 * (y + 0.044715 * y * y * y)))


def standardized(lib: Any, x: Any) -> Any:
    """The correlations of columns."""
    np = lib.np
    centred = x - np.mean(x, axis=0)
    y = centred / np.sqrt(np.mean(centred * centred, axis=0))
    return y.T @ y / x.shape[0]


def moments(lib: Any, x: Any) -> Any:
    """Mean, variance, skewness and the largest value."""
    np = lib.np
    mean = np.mean(x)
    centred = x - mean
    variance = np.mean(centred * centred)
    return mean, variance, np.mean(centred * centred * centred) / variance**1.5, np.max(np.abs(x))


def ordered(lib: Any, x: Any) -> Any:
    """Sorted rows, trimmed and averaged."""
    return lib.np.mean(lib.np.sort(x, axis=1)[:, 8:-8], axis=1)


def loss(lib: Any, params: Any, x: Any, y: Any) -> Any:
    np = lib.np
    w1, b1, w2, b2 = params
    logits = np.tanh(x @ w1 + b1) @ w2 + b2
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(shifted), axis=1)) - np.sum(shifted * y, axis=1))


def network_gradient(lib: Any, w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    return lib.grad(lambda params: loss(lib, params, x, y))((w1, b1, w2, b2))


def pair_forces(lib: Any, position: Any) -> Any:
    """Forces as the gradient of the energy of all pairs."""
    np = lib.np

    def energy(position: Any) -> Any:
        offset = position[:, None, :] - position[None, :, :]
        return np.sum(np.exp(-np.sum(offset * offset, axis=2)))

    return lib.grad(energy)(position)


def ensemble(lib: Any, w: Any, x: Any, y: Any) -> Any:
    """The gradients of many small regressions."""
    np = lib.np
    def error(w):
        return np.mean((np.tanh(x @ w) - y) ** 2)
    return lib.vmap(lib.grad(error))(w)


def jacobian(lib: Any, x: Any, w: Any) -> Any:
    """The Jacobian of a layer at many points."""
    return lib.vmap(lib.jacfwd(lambda x: lib.np.tanh(w @ x)))(x)


PROGRAMS = {
    k_means: [normal(20000, 16), normal(32, 16)],
    distances: [normal(1000, 3), normal(1000, 3)],
    rbf_regression: [normal(2000, 4), normal(500, 4), normal(500)],
    softmax_rows: [normal(4096, 500)],
    softmax_regression: [normal(4096, 128), np.eye(10, dtype="f4")[RNG.integers(0, 10, 4096)], normal(128, 10)],
    logistic_regression: [normal(2000, 32), np.round(RNG.random(2000, "f4")), normal(32)],
    power_iteration: [normal(512, 512), normal(512)],
    attention: [normal(8, 256, 64), normal(8, 256, 64), normal(8, 256, 64)],
    normalization: [normal(2048, 512), normal(512)],
    standardized: [normal(10000, 100)],
    moments: [normal(1 << 20)],
    ordered: [normal(500, 200)],
    network_gradient: [
        normal(784, 128) / 28, normal(128), normal(128, 10) / 11, normal(10), normal(128, 784),
        np.eye(10, dtype="f4")[RNG.integers(0, 10, 128)],
    ],
    pair_forces: [normal(512, 3)],
    ensemble: [normal(256, 16), normal(200, 16), normal(200)],
    jacobian: [normal(500, 24), normal(24, 24)],
}  # fmt: skip
