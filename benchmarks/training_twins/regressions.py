"""Small networks that a trainer fits: a linear regression, images of digits and the heat equation."""

from __future__ import annotations

from typing import Any

from benchmarks.training_twins.twin import Losses, Twin, numbers, of_trainer, torch_losses
from examples.training import digits, heat, regression
from mlc import nn, optim, train


def of_regression() -> Twin:
    def model() -> Any:
        nn.manual_seed(0)
        return nn.Linear(10, 1)

    def make(threads: int) -> tuple[train.Trainer, Any]:
        decay = {"weight_decay": 2 * regression.DECAY, "decays": lambda name, _: name == "weight"}
        optimizer = optim.sgd(0.05, 0.9, **decay)
        return train.Trainer(model(), optimizer, regression.loss, threads=threads), [regression.data()]

    def theirs(steps: int) -> Losses:
        import torch

        linear = torch.nn.Linear(10, 1)
        linear.load_state_dict(numbers(model().state_dict()))
        decayed = {"params": [linear.weight], "weight_decay": 2 * regression.DECAY}
        optimizer = torch.optim.SGD([decayed, {"params": [linear.bias]}], 0.05, 0.9)
        loss = lambda x, y: torch.nn.functional.mse_loss(linear(x)[:, 0], y)  # noqa: E731
        return torch_losses(steps, [regression.data()] * steps, optimizer, loss)

    return of_trainer(make, theirs)


def of_digits() -> Twin:
    """Without dropout, whose draws differ."""

    def network() -> Any:
        model = digits.network()
        for layer in model:
            if isinstance(layer, nn.Dropout):
                layer.p = 0.0
        return model

    data = train.ArrayData(digits.images(2000, seed=1), 64)

    def make(threads: int) -> tuple[train.Trainer, Any]:
        return train.Trainer(network(), optim.adamw(1e-3), digits.loss, threads=threads), data

    def theirs(steps: int) -> Losses:
        import torch
        from torch import nn as T

        part = lambda c, f: (T.Conv2d(c, f, 3, padding=1), T.BatchNorm2d(f), T.ReLU(), T.MaxPool2d(2))  # noqa: E731
        size = 32 * (digits.SIZE // 4) ** 2
        model = T.Sequential(*part(1, 16), *part(16, 32), T.Flatten(), T.Identity(), T.Linear(size, 10))
        model.load_state_dict(numbers(network().state_dict()))
        loss = lambda x, y: T.functional.cross_entropy(model(x), y)  # noqa: E731
        return torch_losses(steps, data(0), torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=1e-2), loss)

    return of_trainer(make, theirs)


def of_heat() -> Twin:
    def model() -> Any:
        nn.manual_seed(0)
        return nn.Sequential(nn.Linear(2, 24), nn.tanh, nn.Linear(24, 24), nn.tanh, nn.Linear(24, 1))

    def make(threads: int) -> tuple[train.Trainer, Any]:
        return train.Trainer(model(), optim.adam(1e-3), heat.loss, threads=threads), heat.points

    def theirs(steps: int) -> Losses:
        import torch
        from torch import nn as T

        net = T.Sequential(T.Linear(2, 24), T.Tanh(), T.Linear(24, 24), T.Tanh(), T.Linear(24, 1))
        net.load_state_dict(numbers(model().state_dict()))

        def slope(y: Any, x: Any) -> Any:
            return torch.autograd.grad(y.sum(), x, create_graph=True)[0]

        def loss(x: Any, t: Any) -> Any:
            x, t = x.requires_grad_(), t.requires_grad_()
            found = net(torch.stack([x, t], 1))[:, 0]
            u = torch.sin(torch.pi * x) + t * x * (1 - x) * found
            return (slope(u, t) - heat.DIFFUSIVITY * slope(slope(u, x), x)).square().mean()

        return torch_losses(steps, heat.points(0), torch.optim.Adam(net.parameters(), 1e-3), loss)

    return of_trainer(make, theirs)
