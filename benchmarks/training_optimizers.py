"""The optimizers of ``mlc.optim`` beside torch's on a small network, from the same weights and data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mlc
from mlc import nn, optim

LBFGS = {"max_iter": 1, "history_size": 5, "tolerance_grad": 0, "tolerance_change": 0}
RMSPROP = {"momentum": 0.5, "centered": True}


def _torch(name: str, *args: Any, **options: Any) -> Callable[[Any], Any]:
    def made(parameters: Any) -> Any:
        import torch

        return getattr(torch.optim, name)(parameters, *args, **options)

    return made


def _lion(parameters: Any) -> Any:
    """Lion by its formula (Chen et al., 2023), which torch does not have."""
    import torch

    class Lion(torch.optim.Optimizer):
        def step(self, closure: Any = None) -> Any:
            with torch.enable_grad():
                value = closure()
            for p in self.param_groups[0]["params"]:
                mean = self.state[p].setdefault("mean", torch.zeros_like(p))
                with torch.no_grad():
                    p -= self.param_groups[0]["lr"] * torch.sign(0.9 * mean + 0.1 * p.grad)
                self.state[p]["mean"] = 0.99 * mean + 0.01 * p.grad
            return value

    return Lion(parameters, {"lr": 1e-3})


OPTIMIZERS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "sgd": (optim.sgd(0.1, weight_decay=0.01), _torch("SGD", 0.1, weight_decay=0.01)),
    "momentum": (optim.sgd(0.03, 0.9), _torch("SGD", 0.03, 0.9)),
    "nesterov": (optim.sgd(0.03, 0.9, nesterov=True), _torch("SGD", 0.03, 0.9, nesterov=True)),
    "adagrad": (optim.adagrad(0.05, lr_decay=0.01), _torch("Adagrad", 0.05, lr_decay=0.01)),
    "adadelta": (optim.adadelta(), _torch("Adadelta")),
    "rmsprop": (optim.rmsprop(1e-3), _torch("RMSprop", 1e-3)),
    "rmsprop, centered": (optim.rmsprop(1e-3, **RMSPROP), _torch("RMSprop", 1e-3, **RMSPROP)),
    "adam": (optim.adam(3e-3, weight_decay=0.01), _torch("Adam", 3e-3, weight_decay=0.01)),
    "adamw": (optim.adamw(3e-3, weight_decay=0.1), _torch("AdamW", 3e-3, weight_decay=0.1)),
    "nadam": (optim.nadam(), _torch("NAdam")),
    "radam": (optim.radam(3e-3, weight_decay=0.01), _torch("RAdam", 3e-3, weight_decay=0.01)),
    "adafactor": (optim.adafactor(weight_decay=0.1), _torch("Adafactor", weight_decay=0.1)),
    "lion": (optim.lion(1e-3), _lion),
    "lbfgs": (optim.lbfgs(0.1, 5), _torch("LBFGS", 0.1, **LBFGS)),
}


def networks(is_convex: bool) -> tuple[Any, Any]:
    """The same network for mlc and torch."""
    import torch

    ours: Any = nn.Sequential(nn.Linear(4, 8), nn.tanh, nn.Linear(8, 2))
    theirs: Any = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    if is_convex:
        ours, theirs = nn.Linear(4, 2), torch.nn.Linear(4, 2)
    theirs.load_state_dict({name: torch.tensor(value) for name, value in ours.state_dict().items()})
    return ours, theirs


def losses(name: str, steps: int, seed: int | None = None) -> tuple[list[float], list[float]]:
    """Losses of mlc and of torch, in each step; random data, and weights from the generator of ``nn.manual_seed``."""
    import torch

    optimizer, reference = OPTIMIZERS[name]
    random = np.random.default_rng(seed)
    if seed is not None:
        nn.manual_seed(seed)
    x, y = (random.standard_normal((32, n)).astype(np.float32) for n in (4, 2))
    ours, theirs = networks(is_convex=name == "lbfgs")  # elsewhere its steps are chaotic, in float64 as well

    @mlc.jit(wait=True)
    def step(model: Any, state: Any) -> Any:
        value, gradients = mlc.value_and_grad(lambda model: nn.mse_loss(model(x), y))(model)
        updates, state = optimizer.update(gradients, state, model)
        return optim.apply_updates(model, updates), state, value

    their_optimizer = reference(theirs.parameters())
    inputs, targets = (torch.tensor(each, dtype=torch.get_default_dtype()) for each in (x, y))

    def closure() -> Any:
        their_optimizer.zero_grad()
        value = torch.nn.functional.mse_loss(theirs(inputs), targets)
        value.backward()
        return value

    state, expected, found = optimizer.init(ours), [], []
    for _ in range(steps):
        expected.append(their_optimizer.step(closure).item())
        ours, state, value = step(ours, state)
        found.append(float(value))
    return found, expected
