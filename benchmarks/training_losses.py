"""Whether losses follow torch's: `python -m benchmarks.training_losses [NAME...]`.

Every optimizer, and every network of ``examples/training``, takes 200 steps beside torch from the same weights, data
and random draws. Differences are the largest of a step: absolute, and over the loss. The networks also take a quarter
of the steps on 1, 2 and 4 threads, and again with a checkpoint half way: the bits of the losses must be the same.
"""

from __future__ import annotations

import tempfile
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.training_optimizers import OPTIMIZERS, losses
from benchmarks.training_twins import EXAMPLES, Losses, Twin
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


def row(name: str, found: Losses, expected: Losses) -> list[str]:
    a, b = np.array(found), np.array(expected)
    return [name, f"{b[0]:.4g} → {b[-1]:.4g}", f"{np.abs(a - b).max():.1e}", f"{np.abs(a / b - 1).max():.1e}"]


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Optimizers and examples; all by default.")] = None,
    steps: Annotated[int, typer.Option(help="Steps of each.")] = 200,
) -> None:
    """Compare losses with torch's."""
    table = Table("", "losses", "absolute", "relative", "bits on 1, 2, 4 threads", "bits when resumed")
    for name in names or [*OPTIMIZERS, *EXAMPLES]:
        if name in OPTIMIZERS:
            table.add_row(*row(name, *losses(name, steps, seed=1)), "", "")
            continue
        twin = EXAMPLES[name]()
        bits = same_on_threads(twin, steps // 4), same_when_resumed(twin, steps // 4)
        said = ["" if each is None else "same" if each else "DIFFER" for each in bits]
        table.add_row(*row(name, twin.ours(steps, 2), twin.theirs(steps)), *said)
    Console(width=120).print(table)


if __name__ == "__main__":
    typer.run(main)
