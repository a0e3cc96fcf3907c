"""Steps that are not a trainer's: private gradients, two networks against each other, Gauss–Newton."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

import mlc
from benchmarks.training_twins.twin import Losses, Twin, numbers, tensor
from examples.training import adversarial, private, second_order
from mlc import nn, optim, train
from mlc.numpy import random


def of_private() -> Twin:
    """The largest norm of a sample's gradient in each step, which is what the example follows."""

    def theirs(steps: int) -> Losses:
        import torch
        from torch import nn as T

        nn.manual_seed(0)
        ours = nn.Sequential(nn.Linear(2, 16), nn.tanh, nn.Linear(16, 2))
        net = T.Sequential(T.Linear(2, 16), T.Tanh(), T.Linear(16, 2))
        net.load_state_dict(numbers(ours.state_dict()))
        optimizer, found = torch.optim.SGD(net.parameters(), 0.5, 0.9), []
        batches = train.ArrayData(private.data(2000, 1), private.BATCH)(0)
        shapes = [tuple(p.shape) for p in net.parameters()]
        draws = mlc.jit(lambda key: [random.normal(random.fold_in(key, n), s) for n, s in enumerate(shapes)], wait=True)

        def one(parameters: Any, x: Any, label: Any) -> Any:
            return T.functional.cross_entropy(torch.func.functional_call(net, parameters, (x[None],)), label[None])

        for n, (x, labels) in enumerate(islice(batches, steps)):
            parameters = {name: p.detach() for name, p in net.named_parameters()}
            each = torch.func.vmap(torch.func.grad(one), (None, 0, 0))
            gradients = each(parameters, tensor(x), tensor(labels))
            norms = sum(g.flatten(1).square().sum(1) for g in gradients.values()).sqrt()
            factor = (private.CLIP / norms).clamp(max=1)
            noise = draws(random.fold_in(random.key(0), n))
            for (name, p), drawn in zip(net.named_parameters(), noise, strict=True):
                hidden = tensor(drawn.numpy()) * private.NOISE * private.CLIP
                p.grad = (torch.tensordot(factor, gradients[name], 1) + hidden) / len(x)
            optimizer.step()
            found.append(norms.max().item())
        return found

    return Twin(lambda steps, threads: private.trained(steps, threads)[1], theirs)


def of_adversarial() -> Twin:
    def theirs(steps: int) -> Losses:
        import torch
        from torch import nn as T

        def perceptron(state: dict[str, Any], inputs: int, outputs: int) -> Any:
            act = lambda: T.LeakyReLU(0.2)  # noqa: E731
            net = T.Sequential(T.Linear(inputs, 48), act(), T.Linear(48, 48), act(), T.Linear(48, outputs))
            net.load_state_dict(numbers(state))
            return net

        nn.manual_seed(0)
        made = adversarial.perceptron(adversarial.NOISE, 2), adversarial.perceptron(2, 1)
        g, d = (perceptron(m.state_dict(), *s) for m, s in zip(made, ((adversarial.NOISE, 2), (2, 1)), strict=True))
        of_g, of_d = (torch.optim.Adam(net.parameters(), 1e-3, (0.5, 0.9)) for net in (g, d))
        shape = adversarial.BATCH, adversarial.NOISE

        @mlc.jit(wait=True)
        def draws(key: Any) -> Any:
            noises = (random.normal(random.fold_in(key, n), shape) for n in (1, 2))
            return adversarial.ring(random.fold_in(key, 0)), *noises

        def loss(n: int) -> Any:
            real, first, second = (tensor(x.numpy()) for x in draws(random.fold_in(random.key(1), n)))
            value = T.functional.softplus(-d(real)).mean() + T.functional.softplus(d(g(first).detach())).mean()
            for optimizer, each in ((of_d, value), (of_g, None)):
                optimizer.zero_grad()
                (T.functional.softplus(-d(g(second))).mean() if each is None else each).backward()
                optimizer.step()
            return value.item()

        return [loss(n) for n in range(steps)]

    return Twin(lambda steps, threads: [of_d for of_d, _ in adversarial.trained(steps, threads)[1]], theirs)


def of_second_order() -> Twin:
    """Gauss–Newton, beside the same formula in float64 with a solver of dense matrices (torch)."""
    damping = 1e-2

    def ours(steps: int, threads: int) -> Losses:
        newton = optim.gauss_newton(second_order.predict, nn.mse_loss, damping=damping, iterations=60)
        return second_order.losses(newton, steps, has_batch=True, threads=threads)

    def theirs(steps: int) -> Losses:
        import torch

        nn.manual_seed(0)
        state = nn.Sequential(nn.Linear(1, 16), nn.tanh, nn.Linear(16, 1)).state_dict()
        x, y = torch.tensor(second_order.X).double(), torch.tensor(second_order.Y).double()
        shapes = [v.shape for v in state.values()]
        vector, found = torch.cat([torch.tensor(v).double().flatten() for v in state.values()]), []

        def predict(vector: Any) -> Any:
            sizes = [int(np.prod(s)) for s in shapes]
            w, b, v, c = (p.reshape(s) for p, s in zip(vector.split(sizes), shapes, strict=True))
            return (torch.tanh(x @ w.T + b) @ v.T + c)[:, 0]

        for _ in range(steps):
            jacobian, error = torch.func.jacrev(predict)(vector), predict(vector) - y
            found.append(error.square().mean().item())
            matrix = 2 / len(y) * jacobian.T @ jacobian + damping * torch.eye(len(vector)).double()
            vector = vector - torch.linalg.solve(matrix, 2 / len(y) * jacobian.T @ error)
        return found

    return Twin(ours, theirs)
