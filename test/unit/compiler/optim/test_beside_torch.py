"""Optimizers and schedules against torch's, from the same weights and data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from benchmarks.training_optimizers import OPTIMIZERS, losses
from mlc import optim

torch = pytest.importorskip("torch")
O = torch.optim  # noqa: E741


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_losses_follow_torch(name: str) -> None:
    found, expected = losses(name, 200)
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    assert expected[-1] < 0.97 * expected[0]


def lr_of(make: Callable[[Any], Any], lr: float) -> list[float]:
    optimizer = O.SGD([torch.zeros(1, requires_grad=True)], lr)
    scheduler, found = make(optimizer), []
    for _ in range(20):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


SCHEDULES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "step_decay": (optim.step_decay(0.5, 3, 0.7), lambda o: O.lr_scheduler.StepLR(o, 3, 0.7)),
    "exponential": (optim.exponential(0.5, 0.9), lambda o: O.lr_scheduler.ExponentialLR(o, 0.9)),
    "cosine": (optim.cosine(0.5, 20, 0.1), lambda o: O.lr_scheduler.CosineAnnealingLR(o, 20, 0.1)),
    "linear": (optim.linear(0.25, 0.5, 8), lambda o: O.lr_scheduler.LinearLR(o, 0.5, 1.0, 8)),
    "one_cycle": (optim.one_cycle(0.5, 21), lambda o: O.lr_scheduler.OneCycleLR(o, 0.5, 21)),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name: str) -> None:
    ours, theirs = SCHEDULES[name]
    found = np.asarray(mlc.vmap(ours)(mnp.arange(20)))
    np.testing.assert_allclose(found, lr_of(theirs, 0.5), rtol=1e-5, atol=1e-8)
