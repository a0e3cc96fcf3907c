"""Optimizers and schedules against torch's, from the same weights and data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn, optim
from mlc.tracing import interpretable

torch = pytest.importorskip("torch")
O = torch.optim  # noqa: E741
STEPS = 200
LBFGS = {"max_iter": 1, "history_size": 5, "tolerance_grad": 0, "tolerance_change": 0}
CASES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "sgd": (optim.sgd(0.1, weight_decay=0.01), lambda ps: O.SGD(ps, 0.1, weight_decay=0.01)),
    "momentum": (optim.sgd(0.03, 0.9), lambda ps: O.SGD(ps, 0.03, 0.9)),
    "nesterov": (optim.sgd(0.03, 0.9, nesterov=True), lambda ps: O.SGD(ps, 0.03, 0.9, nesterov=True)),
    "adagrad": (optim.adagrad(0.05, lr_decay=0.01), lambda ps: O.Adagrad(ps, 0.05, lr_decay=0.01)),
    "adadelta": (optim.adadelta(), lambda ps: O.Adadelta(ps)),
    "rmsprop": (optim.rmsprop(1e-3), lambda ps: O.RMSprop(ps, 1e-3)),
    "rmsprop, centered": (
        optim.rmsprop(1e-3, momentum=0.5, centered=True), lambda ps: O.RMSprop(ps, 1e-3, momentum=0.5, centered=True)),
    "adam": (optim.adam(3e-3, weight_decay=0.01), lambda ps: O.Adam(ps, 3e-3, weight_decay=0.01)),
    "adamw": (optim.adamw(3e-3, weight_decay=0.1), lambda ps: O.AdamW(ps, 3e-3, weight_decay=0.1)),
    "nadam": (optim.nadam(), lambda ps: O.NAdam(ps)),
    "lbfgs": (optim.lbfgs(0.1, 5), lambda ps: O.LBFGS(ps, 0.1, **LBFGS)),
}  # fmt: skip


def networks(is_convex: bool) -> tuple[Any, Any]:
    ours: Any = nn.Sequential(nn.Linear(4, 8), nn.tanh, nn.Linear(8, 2))
    theirs: Any = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    if is_convex:
        ours, theirs = nn.Linear(4, 2), torch.nn.Linear(4, 2)
    theirs.load_state_dict({name: torch.tensor(value) for name, value in ours.state_dict().items()})
    return ours, theirs


@pytest.mark.parametrize("name", CASES)
def test_losses_follow_torch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpretable, "LIMIT", -1)
    optimizer, reference = CASES[name]
    random = np.random.default_rng()
    x, y = (random.standard_normal((32, n)).astype(np.float32) for n in (4, 2))
    ours, theirs = networks(is_convex=name == "lbfgs")  # elsewhere its steps are chaotic, in float64 as well

    def loss(model: Any) -> Any:
        return nn.mse_loss(model(x), y)

    @mlc.jit
    def step(model: Any, state: Any) -> Any:
        value, gradients = mlc.value_and_grad(loss)(model)
        updates, state = optimizer.update(gradients, state, model)
        return optim.apply_updates(model, updates), state, value

    their_optimizer = reference(theirs.parameters())
    inputs, targets = torch.from_numpy(x), torch.from_numpy(y)

    def closure() -> Any:
        their_optimizer.zero_grad()
        value = torch.nn.functional.mse_loss(theirs(inputs), targets)
        value.backward()
        return value

    state, expected, found = optimizer.init(ours), [], []
    for _ in range(STEPS):
        expected.append(their_optimizer.step(closure).item())
        ours, state, value = step(ours, state)
        found.append(float(value))
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
