"""Optimizers, wrappers and second-order methods against formulas in NumPy, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn, optim
from mlc.errors import InputError

Vector = np.ndarray[Any, Any]


def run(optimizer: Any, p: Vector, gradients: list[Vector]) -> tuple[Vector, Any]:
    """Parameters after a step for each gradient, as a tree of two arrays."""
    tree: Any = {"bias": p[:2], "weight": p[2:]}
    state = optimizer.init(tree)
    for g in gradients:
        updates, state = optimizer.update({"bias": g[:2], "weight": g[2:]}, state, tree)
        tree = optim.apply_updates(tree, updates)
    return np.concatenate([tree["bias"], tree["weight"]]), state


@pytest.fixture
def p() -> Vector:
    return np.random.default_rng().standard_normal(5)


@pytest.fixture
def gradients() -> list[Vector]:
    return list(np.random.default_rng().standard_normal((6, 5)))


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_sgd_with_momentum(p: Vector, gradients: list[Vector]) -> None:
    expected, trace = p, np.zeros(5)
    for g in gradients:
        g = g + 0.2 * expected
        trace = 0.9 * trace + g
        expected = expected - 0.1 * (g + 0.9 * trace)
    close(run(optim.sgd(0.1, 0.9, nesterov=True, weight_decay=0.2), p, gradients)[0], expected)


@pytest.mark.parametrize("decays", [None, lambda name, _: name == "weight"])
def test_adamw(p: Vector, gradients: list[Vector], decays: Any) -> None:
    expected, m, v = p, np.zeros(5), np.zeros(5)
    decay = 0.1 * (np.array([0, 0, 1, 1, 1]) if decays else np.ones(5))
    for t, g in enumerate(gradients, 1):
        m, v = 0.8 * m + 0.2 * g, 0.95 * v + 0.05 * g * g
        step = m / (1 - 0.8**t) / (np.sqrt(v / (1 - 0.95**t)) + 1e-8)
        expected = expected - 0.01 * (step + decay * expected)
    found, _ = run(optim.adamw(0.01, (0.8, 0.95), weight_decay=0.1, decays=decays), p, gradients)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_lion(p: Vector, gradients: list[Vector]) -> None:
    expected, m = p, np.zeros(5)
    for g in gradients:
        expected = expected - 0.01 * (np.sign(0.9 * m + 0.1 * g) + 0.3 * expected)
        m = 0.99 * m + 0.01 * g
    close(run(optim.lion(0.01, weight_decay=0.3), p, gradients)[0], expected)


def test_clipping(p: Vector, gradients: list[Vector]) -> None:
    norm = np.linalg.norm(gradients[0])
    close(run(optim.chain(optim.clip_by_global_norm(0.5), optim.scale(2.0)), p, gradients[:1])[0],
          p + gradients[0] / norm)  # fmt: skip
    close(run(optim.clip_by_value(0.3), p, gradients[:1])[0], p + np.clip(gradients[0], -0.3, 0.3))
    close(run(optim.clip_by_global_norm(100.0), p, gradients[:1])[0], p + gradients[0])


def test_accumulation(p: Vector, gradients: list[Vector]) -> None:
    found, state = run(optim.accumulate(optim.adam(0.1), 3), p, gradients)
    means = [np.mean(gradients[n : n + 3], axis=0) for n in (0, 3)]
    close(found, run(optim.adam(0.1), p, means)[0])
    assert int(state.step) == 6
    close(run(optim.accumulate(optim.adam(0.1), 3), p, gradients[:2])[0], p)


def test_average_of_parameters(p: Vector, gradients: list[Vector]) -> None:
    found, state = run(optim.ema(optim.sgd(0.1), 0.7), p, gradients)
    expected, average = p, p
    for g in gradients:
        expected = expected - 0.1 * g
        average = 0.7 * average + 0.3 * expected
    close(found, expected)
    close(np.concatenate([state.average["bias"], state.average["weight"]]), average)


def test_loss_scaling_leaves_out_what_is_not_finite(p: Vector, gradients: list[Vector]) -> None:
    optimizer = optim.loss_scaling(optim.adam(0.1), initial=8.0, period=2)
    scales = (8, 8, 16, 8, 8)
    given = [scale * g for scale, g in zip(scales, gradients, strict=False)]
    given[2] = np.array([np.inf, 0, np.nan, 1, 1])
    found, state = run(optimizer, p, given)
    close(found, run(optim.adam(0.1), p, [gradients[n] for n in (0, 1, 3, 4)])[0])
    assert float(state.scale) == 16 and int(state.finite) == 0


def test_weights_in_bfloat16_have_gradients_in_float32() -> None:
    x = np.random.default_rng().standard_normal((4, 3)).astype(np.float32)
    model = nn.Linear(3, 2)

    def loss(model: Any) -> Any:
        y = optim.cast(model, "bfloat16")(mnp.astype(mnp.asarray(x), "bfloat16"))
        return mnp.sum(mnp.astype(y, mnp.float32))

    gradient = mlc.grad(loss)(model)
    assert gradient.weight.dtype == np.float32
    np.testing.assert_allclose(gradient.weight, np.tile(x.sum(0), (2, 1)), rtol=0.02, atol=0.02)
    assert optim.cast({"n": np.arange(3)}, "bfloat16")["n"].dtype == np.int64


def test_conjugate_gradients_solve() -> None:
    random = np.random.default_rng()
    root = random.standard_normal((6, 6))
    matrix, b = root @ root.T + np.eye(6), random.standard_normal(6)
    found = optim.conjugate_gradients(lambda v: mnp.asarray(matrix) @ v, mnp.asarray(b), 12)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, b), rtol=1e-6, atol=1e-8)


def test_gauss_newton() -> None:
    random = np.random.default_rng()
    x, target, w = random.standard_normal((7, 3)), random.standard_normal(7), random.standard_normal(3)
    predict = lambda p, x: mnp.tanh(x @ p)  # noqa: E731
    optimizer = optim.gauss_newton(predict, nn.mse_loss, damping=0.01, iterations=12)
    gradient = mlc.grad(lambda p: nn.mse_loss(predict(p, x), target))(w)
    updates, _ = optimizer.update(gradient, optimizer.init(w), w, (x, target))
    y = np.tanh(x @ w)
    jacobian = (1 - y * y)[:, None] * x
    curvature = jacobian.T @ jacobian * 2 / 7 + 0.01 * np.eye(3)
    np.testing.assert_allclose(updates, np.linalg.solve(curvature, -jacobian.T @ (y - target) * 2 / 7), rtol=1e-6)
    with pytest.raises(InputError, match="needs a batch"):
        optimizer.update(gradient, (), w)


def test_lbfgs_minimizes_a_quadratic() -> None:
    random = np.random.default_rng()
    matrix = np.diag([1.0, 10.0, 100.0])
    center, w = random.standard_normal(3), np.zeros(3)
    optimizer = optim.lbfgs(history_size=3)
    state = optimizer.init(w)
    for _ in range(30):
        updates, state = mlc.tree_map(np.asarray, optimizer.update(matrix @ (w - center), state, w))
        w = w + updates
    np.testing.assert_allclose(w, center, atol=1e-4)


def test_schedules() -> None:
    rate = optim.warmup_cosine(1.0, 4, 12, 0.2)
    found = [float(rate(n)) for n in range(14)]
    np.testing.assert_allclose(found[:5], [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(found[5:], 0.6 + 0.4 * np.cos(np.pi * np.minimum(np.arange(1, 10), 8) / 8), rtol=1e-5)
    assert optim.constant(0.3)(mnp.asarray(7)) == 0.3
    with pytest.raises(InputError, match="2 schedules have 2 ends"):
        optim.joined([rate, rate], [1, 2])
    with pytest.raises(InputError, match="0 steps"):
        optim.cosine(1.0, 0)


@pytest.mark.parametrize("rate", [-0.1, float("nan"), "0.1"])
def test_refused_rates(rate: Any) -> None:
    with pytest.raises(InputError, match="A learning rate of"):
        optim.sgd(rate)


@pytest.mark.parametrize("make", [optim.adam, optim.adamw, optim.nadam, optim.lion])
def test_refused_decays(make: Any) -> None:
    for betas in ((1.0, 0.9), (0.9, -0.1)):
        with pytest.raises(InputError, match=r"The decays \(betas\) are"):
            make(1e-3, betas)


def test_a_rate_may_be_traced(p: Vector, gradients: list[Vector]) -> None:
    found = mlc.jit(lambda rate: optim.sgd(rate).update(mnp.asarray(gradients[0]), ((),))[0], wait=False)
    close(found(np.float64(0.5)), -0.5 * gradients[0])


def test_a_rate_follows_the_steps(p: Vector, gradients: list[Vector]) -> None:
    found, _ = run(optim.sgd(optim.exponential(0.1, 0.5)), p, gradients)
    np.testing.assert_allclose(found, p - sum(0.1 * 0.5**n * g for n, g in enumerate(gradients)), rtol=1e-5)
