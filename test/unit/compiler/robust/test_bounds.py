"""Bounds hold for random inputs of the box, and are those of formulas where these are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn, robust
from mlc.errors import InputError

Known = np.ndarray[Any, Any]


def box(*shape: int) -> tuple[Known, Known]:
    rng = np.random.default_rng()
    low = rng.uniform(-2, 2, shape).astype(np.float32)
    return low, low + rng.uniform(0, 1, shape).astype(np.float32)


def test_a_linear_layer_beside_its_formula() -> None:
    rng = np.random.default_rng()
    w, b = rng.standard_normal((4, 3)).astype(np.float32), rng.standard_normal(4).astype(np.float32)
    low, high = box(2, 3)
    found = robust.interval_bounds(lambda x: x @ w.T + b, low, high)
    plus, minus = np.maximum(w, 0).astype(np.float64), np.minimum(w, 0).astype(np.float64)
    np.testing.assert_allclose(found[0], low @ plus.T + high @ minus.T + b, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found[1], high @ plus.T + low @ minus.T + b, rtol=1e-6, atol=1e-6)


def conv_net() -> Callable[[Any], Any]:
    nn.manual_seed(1)
    first = (nn.Conv2d(1, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2))
    rest = (nn.Conv2d(3, 4, 3, stride=2), nn.GELU(), nn.AvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))
    return nn.Sequential(*first, *rest).eval()


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "elementwise": (lambda x: mnp.tanh(x) - x**2 * mnp.abs(x) + mnp.exp(-x) / (2 + mnp.sin(x)), (3, 4)),
    "choices": (lambda x: mnp.where(x > 0.3, x * x, mnp.minimum(x, -x)), (3, 4)),
    "powers": (lambda x: x**3 + mnp.sqrt(mnp.abs(x) + 1) + 1 / (1 + x**4), (3, 4)),
    "reductions": (lambda x: mnp.max(x, axis=0) + mnp.sum(x, axis=0) - mnp.min(x, axis=1)[:3], (3, 3)),
    "moves": (lambda x: mnp.concat([x[::-1], mnp.pad(x.T[:3], ((0, 0), (1, 0)))[:, :4]], axis=0), (3, 4)),
    "softmax": (lambda x: nn.softmax(x @ mnp.ones((4, 4)), axis=-1), (3, 4)),
    "normalization": (lambda x: nn.rms_norm(x, epsilon=0.1), (3, 4)),
    "two that vary": (lambda x: x @ x.T, (3, 4)),
    "convolutions": (conv_net(), (2, 1, 6, 6)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_point_of_the_box_is_outside(name: str) -> None:
    f, shape = FUNCTIONS[name]
    low, high = box(*shape)
    least, most = robust.interval_bounds(f, low, high)
    assert np.all(np.isfinite(least)) and np.all(least <= most)
    for share in (*np.random.default_rng().uniform(0, 1, (20, *shape)), np.zeros(shape), np.ones(shape)):
        y = np.asarray(f((low + (high - low) * share).astype(np.float32)))
        tolerance = 1e-5 * np.maximum(1, np.abs(y))
        assert np.all(y >= least - tolerance) and np.all(y <= most + tolerance)


@pytest.mark.parametrize("name", ["elementwise", "choices", "convolutions"])
def test_a_box_of_one_point_has_the_value(name: str) -> None:
    f, shape = FUNCTIONS[name]
    x, _ = box(*shape)
    least, most = robust.interval_bounds(f, x, x)
    np.testing.assert_allclose(least, np.asarray(f(x)), rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(most, least, rtol=1e-9, atol=1e-12)


def test_certified_examples_of_a_linear_classifier() -> None:
    """The difference of two scores changes by ``ε |w0 - w1|₁`` at most, of intervals by the sum of both."""
    w = np.array([[1.0, 2.0], [-1.0, 0.5]], np.float32)
    x = np.array([[1.0, 1.0], [0.05, 0.0], [-1.0, -1.0]], np.float32)
    y = np.array([0, 0, 1])
    f = lambda x: x @ w.T  # noqa: E731
    gaps = np.array([3.5, 0.1, 3.5])
    for epsilon in (0.01, 0.1, 0.4, 1.0):
        assert robust.certified(f, x, y, epsilon).tolist() == (gaps > epsilon * (3 + 1.5)).tolist()


def test_no_attack_succeeds_on_a_certified_example() -> None:
    nn.manual_seed(2)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).eval()
    x = np.random.default_rng().uniform(-1, 1, (40, 4)).astype(np.float32)
    y = np.asarray(mnp.argmax(model(x), axis=1))
    safe = robust.certified(model, x, y, 0.3)
    assert 0 < safe.sum() < 40
    attacked = robust.pgd(model, x, y, 0.3, key=mnp.random.key(0))
    assert np.all(np.asarray(mnp.argmax(model(attacked), axis=1))[safe] == y[safe])


def test_what_is_refused() -> None:
    low, high = box(3)
    with pytest.raises(InputError, match="none"):
        robust.interval_bounds(lambda x: x, high + 1, low)
    with pytest.raises(InputError, match="No interval is known of graph.argsort"):
        robust.interval_bounds(lambda x: mnp.sort(x), low, high)
    with pytest.raises(InputError, match="this one has 2"):
        robust.interval_bounds(lambda x: (x, x), low, high)
    assert mlc.robust is robust
