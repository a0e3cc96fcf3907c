"""One rank of a job fails at a random step: it is killed, stopped, raises, ends, or runs another program.

    python test/fuzz/kill_ranks.py --count 100 [--seed N]     # needs pip install 'mlc[mpi]'

Checked: the job ends with an error, within the limit of a wait and the time of its start; the error names the rank, but
for a killed one, whose job the launcher ends.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from mlc.cli.ranks import mpiexec

LIMIT = 5.0  # seconds that a rank waits
START = 25.0  # seconds in which a job of this size starts on a busy machine
PROGRAM = """
import os, signal, sys
import numpy as np
import mlc
from mlc import comm

how, which, last, size = sys.argv[1], *map(int, sys.argv[2:])
rank = comm.current().rank
factor = 2 + (how == "other" and rank == which)
f = mlc.jit(lambda x: comm.all_reduce(comm.all_reduce(x * factor, "max") + x), wait=True, threads=1)
x = np.ones(size, np.float32)
for step in range(last + 100):
    f(x)
    if step == last and rank == which:
        if how == "raise":
            raise ValueError("planted")
        if how in ("kill", "stop"):
            os.kill(os.getpid(), signal.SIGKILL if how == "kill" else signal.SIGSTOP)
        if how == "end":
            sys.exit(0)
"""


def check(random: np.random.Generator, program: Path) -> str:
    """How a rank failed; AssertionError where the job did not end, or without naming the rank."""
    how = str(random.choice(["kill", "stop", "raise", "end", "other"]))
    ranks, size = int(random.integers(2, 4)), int(random.choice([10, 3000, 300_000]))
    which, last = int(random.integers(ranks)), int(random.integers(60))
    command = [mpiexec(), "-n", str(ranks), sys.executable, str(program), how, *map(str, (which, last, size))]
    begin = time.monotonic()
    environment = {**os.environ, "MLC_COMM_LIMIT": str(LIMIT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment)
    took, text = time.monotonic() - begin, done.stdout + done.stderr
    assert done.returncode != 0 and took < START + LIMIT, (command, done.returncode, took, text)
    named = {
        "raise": f"[rank {which} of {ranks}] ValueError: planted" in text,
        "other": "runs another program than rank" in text,
        "kill": True,
    }
    assert named.get(how, f"from rank {which}" in text or f"rank {which} failed" in text), (command, text)
    return how


def tried(random: np.random.Generator, program: Path) -> tuple[str, str]:
    """How a rank failed, and what was wrong with the end of the job; nothing where it was right."""
    try:
        return check(random, program), ""
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return "wrong", str(error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    random, begin = np.random.default_rng(given.seed), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        program.write_text(PROGRAM)
        results = [tried(random, program) for _ in range(given.count)]
    found, wrong = Counter(how for how, _ in results), [why for _, why in results if why]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    shown = ", ".join(f"{count} {how}" for how, count in sorted(found.items()))
    said = f"{len(wrong)} jobs did not end or name the rank" if wrong else "every job ended and named the rank"
    print(f"{given.count} faults in {time.monotonic() - begin:.0f} s: {shown}; {said}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
