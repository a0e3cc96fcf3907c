"""The training loop beside torch's: `python -m benchmarks.training_loop [NETWORK...]`.

A step is a batch from shuffled arrays, loss, gradient, and an update by Adam: `mlc.train.Trainer.fit` and a loop of
eager torch, in turn in one process on the same threads, from the same weights. A ratio is the median over the rounds;
over 1, mlc is faster. The losses of the first steps are compared, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

import mlc.numpy as mnp
from mlc import nn, optim, train

Pair = tuple[Any, Any, tuple[int, ...]]
"""Our network, torch's, and the shape of a sample; each gives scores of ten classes."""
RATE, SAMPLES, BATCH = 1e-3, 2048, 64


def mlp() -> Pair:
    """784-256-256-10."""
    import torch

    sizes = ((784, 256), (256, 256), (256, 10))
    ours = [nn.Linear(*size) for size in sizes]
    theirs = [torch.nn.Linear(*size) for size in sizes]
    between = torch.nn.ReLU
    return (
        nn.Sequential(ours[0], nn.relu, ours[1], nn.relu, ours[2]),
        torch.nn.Sequential(theirs[0], between(), theirs[1], between(), theirs[2]),
        (784,),
    )


def cnn() -> Pair:
    """Two convolutions with batch normalization on images of 28 x 28."""
    from torch import nn as T

    pool = lambda x: nn.max_pool(x, 2)  # noqa: E731
    ours = nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm(16), nn.relu, pool),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm(32), nn.relu, pool, nn.Flatten(), nn.Linear(1568, 10)),
    )
    theirs = T.Sequential(
        *(T.Conv2d(1, 16, 3, padding=1), T.BatchNorm2d(16), T.ReLU(), T.MaxPool2d(2)),
        *(T.Conv2d(16, 32, 3, padding=1), T.BatchNorm2d(32), T.ReLU(), T.MaxPool2d(2), T.Flatten(), T.Linear(1568, 10)),
    )
    return ours, theirs, (1, 28, 28)


def lstm() -> Pair:
    """An LSTM of 128 units over 28 rows of 28 elements."""
    from torch import nn as T

    class Ours(nn.Module):
        layer: nn.LSTM
        head: nn.Linear

        def __call__(self, x: Any) -> Any:
            return self.head(mnp.moveaxis(self.layer(x)[0], 1, 0)[-1])

    class Theirs(T.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.head = T.LSTM(28, 128, batch_first=True), T.Linear(128, 10)

        def forward(self, x: Any) -> Any:
            return self.head(self.layer(x)[0][:, -1])

    return Ours(nn.LSTM(28, 128, batch_first=True), nn.Linear(128, 10)), Theirs(), (28, 28)


NETWORKS: dict[str, Callable[[], Pair]] = {"mlp": mlp, "cnn": cnn, "lstm": lstm}


def torch_loop(model: Any, data: train.ArrayData) -> Callable[[int], list[float]]:
    """A function that takes some steps, and gives their losses."""
    import torch

    optimizer, batches = torch.optim.Adam(model.parameters(), RATE), data(0)

    def steps(count: int) -> list[float]:
        losses = []
        for x, labels in islice(batches, count):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(torch.from_numpy(x)), torch.from_numpy(labels))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    return steps


def our_loop(model: Any, data: train.ArrayData, threads: int) -> Callable[[int], list[float]]:
    loss = lambda model, x, labels: nn.cross_entropy(model(x), labels)  # noqa: E731
    trainer = train.Trainer(model, optim.adam(RATE), loss, threads=threads)

    def steps(count: int) -> list[float]:
        trainer.fit(data, trainer.step + count, progress=False)
        return [metrics["loss"] for _, metrics in trainer.history[-count:]]

    return steps


def measured(name: str, rounds: int, steps: int, threads: int) -> tuple[float, float, float, float]:
    """Milliseconds a step of mlc and torch, the ratio, and the largest difference of the first losses."""
    import torch

    torch.set_num_threads(threads)
    ours, theirs, shape = NETWORKS[name]()
    theirs.load_state_dict({key: torch.tensor(value) for key, value in ours.state_dict().items()})
    random = np.random.default_rng(0)
    x = random.standard_normal((SAMPLES, *shape)).astype(np.float32)
    data = train.ArrayData((x, random.integers(0, 10, SAMPLES)), BATCH)
    loops = our_loop(ours, data, threads), torch_loop(theirs, data)
    first = [np.array(loop(5)) for loop in loops]
    times = np.array([[_milliseconds(loop, steps) for loop in loops] for _ in range(rounds)])
    ratio = float(np.median(times[:, 1] / times[:, 0]))
    return *np.median(times, axis=0), ratio, float(np.abs(first[0] / first[1] - 1).max())  # type: ignore[return-value]


def _milliseconds(loop: Callable[[int], list[float]], steps: int) -> float:
    start = time.perf_counter()
    loop(steps)
    return (time.perf_counter() - start) / steps * 1e3


def main(
    networks: Annotated[list[str] | None, typer.Argument(help=f"of {', '.join(NETWORKS)}; all by default")] = None,
    rounds: int = 9,
    steps: int = 30,
    threads: int = 2,
) -> None:
    """Prints milliseconds a step, and the ratio."""
    table = Table("network", "mlc [ms]", "torch [ms]", "torch / mlc", "first losses differ")
    for name in networks or NETWORKS:
        ours, theirs, ratio, difference = measured(name, rounds, steps, threads)
        table.add_row(name, f"{ours:.3f}", f"{theirs:.3f}", f"{ratio:.2f}", f"{difference:.0e}")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
