"""Whether losses follow torch's: `python -m benchmarks.training_losses [NAME...]`.

Every optimizer, and every network of ``examples/training``, takes 200 steps beside torch from the same weights, data
and random draws. Differences are the largest of a step: absolute, and over the loss. Those from torch in float64, ours
and torch's own in float32, say what rounding alone makes of the losses. The networks also take a quarter of the steps
on 1, 2 and 4 threads, and again with a checkpoint half way: the bits of the losses must be the same.
"""

from __future__ import annotations

import tempfile
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.training_optimizers import OPTIMIZERS, losses
from benchmarks.training_twins import EXAMPLES, Losses, Twin, in_float64
from mlc import train

THREADS = (1, 2, 4)


def same_on_threads(twin: Twin, steps: int) -> bool:
    """Whether the losses have the same bits on any number of threads."""
    first, *others = (twin.ours(steps, threads) for threads in THREADS)
    return all(each == first for each in others)


def same_when_resumed(twin: Twin, steps: int) -> bool | None:
    """Whether a run that goes on from a checkpoint has the bits of one that does not end; None without a trainer."""
    if twin.trainer is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        for end in (steps // 2, steps):
            trainer, data = twin.trainer(2)
            trainer.fit(data, end, checkpoints=train.Checkpoints(folder), progress=False)
    return [m["loss"] for _, m in trainer.history] == twin.ours(steps, 2)[steps // 2 :]


def row(name: str, found: Losses, expected: Losses, exact: Losses) -> list[str]:
    ours, theirs, reference = map(np.array, (found, expected, exact))
    relative = [f"{np.abs(a / b - 1).max():.1e}" for a, b in ((ours, theirs), (ours, reference), (theirs, reference))]
    return [name, f"{theirs[0]:.4g} → {theirs[-1]:.4g}", f"{np.abs(ours - theirs).max():.1e}", *relative]


def of_optimizer(name: str, steps: int) -> list[str]:
    found, expected = losses(name, steps, seed=1)
    with in_float64():
        _, exact = losses(name, steps, seed=1)
    return row(name, found, expected, exact)


def of_example(name: str, steps: int) -> list[str]:
    twin = EXAMPLES[name]()
    bits = same_on_threads(twin, steps // 4), same_when_resumed(twin, steps // 4)
    said = ["" if each is None else "same" if each else "DIFFER" for each in bits]
    expected = twin.theirs(steps)
    with in_float64():
        exact = twin.theirs(steps)
    return [*row(name, twin.ours(steps, 2), expected, exact), *said]


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Optimizers and examples; all by default.")] = None,
    steps: Annotated[int, typer.Option(help="Steps of each.")] = 200,
) -> None:
    """Compare losses with torch's."""
    known = [*OPTIMIZERS, *EXAMPLES]
    if unknown := [name for name in names or () if name not in known]:
        raise typer.BadParameter(f"{', '.join(unknown)}; known are {', '.join(known)}")
    columns = ("absolute", "relative", "from float64", "torch's", "1, 2, 4 threads", "resumed")
    table = Table("", "losses", *columns)
    for name in names or known:
        table.add_row(*(of_optimizer if name in OPTIMIZERS else of_example)(name, steps))
    Console(width=120).print(table)


if __name__ == "__main__":
    typer.run(main)
