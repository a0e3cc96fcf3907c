"""Private gradients beside a loop over examples in NumPy; ε beside a closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import privacy
from mlc.errors import InputError


def loss(parameters: Any, x: Any, y: Any) -> Any:
    """The square of the error of a linear model."""
    return (mnp.sum(parameters["w"] * x) + parameters["b"] - y) ** 2


def drawn(count: int) -> tuple[dict[str, Any], Any, Any]:
    rng = np.random.default_rng()
    parameters = {"w": rng.standard_normal(3), "b": np.float64(0.3)}
    return parameters, rng.standard_normal((count, 3)), rng.standard_normal(count)


def reference(parameters: Any, xs: Any, ys: Any, clip: float) -> dict[str, Any]:
    total = {"w": np.zeros(3), "b": 0.0}
    for x, y in zip(xs, ys, strict=True):
        error = 2 * (parameters["w"] @ x + parameters["b"] - y)
        length = np.sqrt(error**2 * (x @ x + 1))
        factor = min(1, clip / length)
        total = {"w": total["w"] + factor * error * x, "b": total["b"] + factor * error}
    return {name: value / len(xs) for name, value in total.items()}


def test_each_example_is_clipped() -> None:
    parameters, xs, ys = drawn(6)
    private = privacy.private_value_and_grad(loss, clip=1.5, noise_multiplier=0.0)
    value, found = mlc.jit(lambda p, x, y, key: private(p, x, y, key=key))(parameters, xs, ys, mnp.random.key(0))
    wanted = reference(parameters, xs, ys, 1.5)
    np.testing.assert_allclose(value, np.mean((xs @ parameters["w"] + 0.3 - ys) ** 2), rtol=1e-12)
    for name in wanted:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-10)


def test_one_example_moves_the_sum_by_clip_at_most() -> None:
    parameters, xs, ys = drawn(6)
    private = privacy.private_value_and_grad(loss, clip=0.5, noise_multiplier=0.0, expected=1)
    sums = [private(parameters, xs[:n], ys[:n] * 100, key=mnp.random.key(0))[1] for n in (5, 6)]
    change = sum(float(np.sum((np.asarray(sums[0][name]) - np.asarray(sums[1][name])) ** 2)) for name in ("w", "b"))
    assert change**0.5 <= 0.5 + 1e-9


def test_noise_has_its_deviation() -> None:
    zeros = {"w": np.zeros((4, 50_000)), "b": np.zeros((4,))}
    found = privacy.noisy_sum(zeros, clip=2.0, noise_multiplier=0.7, key=mnp.random.key(3))
    assert abs(np.std(np.asarray(found["w"])) - 1.4) < 0.02 and abs(np.mean(np.asarray(found["w"]))) < 0.03
    other = privacy.noisy_sum(zeros, clip=2.0, noise_multiplier=0.7, key=mnp.random.key(4))
    assert np.any(np.asarray(other["w"]) != np.asarray(found["w"]))


def test_what_is_refused() -> None:
    parameters, xs, ys = drawn(2)
    with pytest.raises(InputError, match="clip=0"):
        privacy.private_value_and_grad(loss, clip=0, noise_multiplier=1)
    with pytest.raises(InputError, match="Give key="):
        privacy.private_value_and_grad(loss, clip=1, noise_multiplier=1)(parameters, xs, ys)
    with pytest.raises(InputError, match="no accountant"):
        privacy.epsilon(1.0, 0.1, 10, 1e-5, accountant="moments")


def delta_of(epsilon: float, noise: float, steps: int) -> float:
    """Of Gaussian mechanisms on all examples, in closed form (Balle and Wang, 2018)."""
    m = steps**0.5 / noise
    below = lambda x: 0.5 * math.erfc(-x / 2**0.5)  # noqa: E731
    return below(m / 2 - epsilon / m) - math.exp(epsilon) * below(-m / 2 - epsilon / m)


def test_what_training_spends() -> None:
    """On all examples in each step beside a closed form; on few of them less."""
    pytest.importorskip("dp_accounting")
    spent = privacy.epsilon(4.0, 1.0, 9, 1e-5)
    np.testing.assert_allclose(delta_of(spent, 4.0, 9), 1e-5, rtol=1e-2)
    assert spent < privacy.epsilon(4.0, 1.0, 9, 1e-5, accountant="rdp") < 1.3 * spent
    assert privacy.epsilon(4.0, 0.1, 9, 1e-5) < 0.3 * spent
    needed = privacy.noise_for(1.0, 0.01, 100, 1e-5, accountant="rdp")
    assert 0.99 < privacy.epsilon(needed, 0.01, 100, 1e-5, accountant="rdp") <= 1.0
