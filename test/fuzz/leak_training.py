"""Trains for very many steps, and prints the resident memory on the way.

    python test/fuzz/leak_training.py --steps 100000

The trainer's network has running statistics, dropout and a state of Adam; batches come from shuffled arrays. Memory
may grow until the history of the metrics is full; a growth of over a MiB after that is an error.
"""

from __future__ import annotations

import argparse
import gc
import time
from pathlib import Path

from kill_training import data, trainer

from mlc.train.trainer import KEPT


def resident() -> float:
    """MiB of this process in memory."""
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--most", type=float, default=1.0, help="MiB of growth with a full history")
    given = parser.parse_args()
    run, batches, start = trainer(), data(), time.monotonic()
    marks: list[tuple[int, float]] = []
    for step in (given.steps * n // 10 for n in range(1, 11)):
        run.fit(batches, step, progress=False)
        gc.collect()
        marks.append((step, resident()))
        print(f"{step} steps: {marks[-1][1]:.1f} MiB, {time.monotonic() - start:.0f} s", flush=True)
    settled = [mebibytes for step, mebibytes in marks if step >= 2 * KEPT]
    grown = settled[-1] - settled[0] if settled else 0.0
    assert grown <= given.most, f"{grown:.1f} MiB more than when the history was full"


if __name__ == "__main__":
    main()
