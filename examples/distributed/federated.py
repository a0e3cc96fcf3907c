"""Federated averaging: each rank trains on digits of its own, and only parameters are averaged, once a round.

    mpiexec -n 2 python -m examples.distributed.federated
    python -m examples.distributed.federated --steps 10        # ten rounds, one client

Source: McMahan et al., "Communication-Efficient Learning of Deep Networks from Decentralized Data", 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mlc
from examples.training.arguments import chosen_steps
from examples.training.digits import SIZE, accuracy, images
from mlc import comm, nn, optim

LOCAL, BATCH = 10, 32  # steps of a client in a round, and images of a step


def network() -> nn.Sequential:
    return nn.Sequential(nn.Flatten(), nn.Linear(SIZE * SIZE, 64), nn.relu, nn.Linear(64, 10))


def averaged(tree: Any) -> Any:
    """The mean over all ranks of each array."""
    return comm.all_reduce(tree, "mean")


def trained(rounds: int) -> Any:
    """The model that all clients have after some rounds."""
    rank = comm.current().rank
    x, labels = images(2000, seed=100 + rank)  # those of this client, which nobody else sees
    nn.manual_seed(0)
    model, optimizer = network(), optim.sgd(0.05, momentum=0.9)
    parameters, rest = nn.partition(model)

    @mlc.jit
    def step(parameters: Any, rest: Any, state: Any, x: Any, labels: Any) -> Any:
        of = lambda p: nn.cross_entropy(nn.combine(p, rest)(x), labels)  # noqa: E731
        value, gradients = mlc.value_and_grad(of)(parameters)
        updates, state = optimizer.update(gradients, state, parameters)
        return optim.apply_updates(parameters, updates), state, value

    draw, mean = np.random.default_rng(rank), mlc.jit(averaged, wait=True)
    for _ in range(rounds):
        state = optimizer.init(parameters)
        for _ in range(LOCAL):
            at = draw.integers(len(x), size=BATCH)
            parameters, state, value = step(parameters, rest, state, x[at], labels[at])
        parameters = mean(parameters)
    print(f"rank {rank}: last loss {float(value):.4f}")
    return nn.combine(parameters, rest)


if __name__ == "__main__":
    model = trained(chosen_steps(__doc__, 20))
    if comm.current().rank == 0:
        print(f"{accuracy(model):.1%} of the test images are read by the mean of all clients")
