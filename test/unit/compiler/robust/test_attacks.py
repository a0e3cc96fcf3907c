"""Attacks beside formulas of linear classifiers, and the constraints that they keep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn, robust
from mlc.errors import InputError

W = np.array([[1.0, -2.0, 0.5], [0.3, 1.0, -1.0]], np.float32)


def linear(x: Any) -> Any:
    return mnp.asarray(x) @ W.T


def margin_loss(scores: Any, labels: Any) -> Any:
    """The score of the other class of two less that of the label."""
    own = mnp.where(labels == 0, scores[:, 0], scores[:, 1])
    return mnp.sum(mnp.sum(scores, axis=1) - 2 * own)


def test_fgsm_is_the_sign_of_the_gradient() -> None:
    x, y = np.random.default_rng().standard_normal((4, 3)).astype(np.float32), np.array([0, 1, 0, 1])
    found = mlc.jit(lambda x: robust.fgsm(linear, x, y, 0.1, loss=margin_loss))(x)
    ascent = np.where(y == 0, 1, -1)[:, None] * np.sign(W[1] - W[0])
    np.testing.assert_allclose(found, x + 0.1 * ascent, rtol=1e-6)
    aimed = robust.fgsm(linear, x, y, 0.1, loss=margin_loss, targeted=True, clip=(-1, 1))
    np.testing.assert_allclose(aimed, np.clip(x - 0.1 * ascent, -1, 1), rtol=1e-6)


def test_pgd_on_a_linear_classifier_reaches_the_best_point() -> None:
    x, y = np.random.default_rng().standard_normal((4, 3)).astype(np.float32), np.array([0, 1, 0, 1])
    slope = np.where(y == 0, 1, -1)[:, None] * (W[1] - W[0])
    box = mlc.jit(lambda x: robust.pgd(linear, x, y, 0.2, loss=margin_loss))(x)
    np.testing.assert_allclose(box, x + 0.2 * np.sign(slope), rtol=1e-5, atol=1e-6)
    ball = mlc.jit(lambda x: robust.pgd(linear, x, y, 0.2, norm="l2", loss=margin_loss))(x)
    unit = slope / np.linalg.norm(slope, axis=1, keepdims=True)
    np.testing.assert_allclose(ball, x + 0.2 * unit, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_pgd_from_a_random_point_stays_near_and_raises_the_loss(norm: str) -> None:
    nn.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)).eval()
    x = np.random.default_rng().uniform(0, 1, (5, 1, 6, 6)).astype(np.float32)
    y = np.asarray(mnp.argmax(model(x), axis=1))
    attack = mlc.jit(lambda x, key: robust.pgd(model, x, y, 0.3, norm=norm, key=key, clip=(0, 1), steps=8))
    found = np.asarray(attack(x, mnp.random.key(1)))
    change = (found - x).reshape(5, -1)
    size = np.abs(change).max(1) if norm == "linf" else np.linalg.norm(change, axis=1)
    assert np.all(size <= 0.3 + 1e-5) and np.all((found >= 0) & (found <= 1))
    assert float(nn.cross_entropy(model(found), y)) > float(nn.cross_entropy(model(x), y))


def test_what_is_refused() -> None:
    x, y = np.zeros((1, 3), np.float32), np.array([0])
    with pytest.raises(InputError, match="no norm 'l1'"):
        robust.pgd(linear, x, y, 0.1, norm="l1")
    with pytest.raises(InputError, match="0 steps"):
        robust.pgd(linear, x, y, 0.1, steps=0)
