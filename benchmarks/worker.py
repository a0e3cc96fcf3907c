"""A process with one loaded model, which it times on request: `python -m benchmarks.worker JOB`.

JOB is JSON. The worker runs the model once and saves the outputs, says when it is ready, or why it cannot be; then it
reads lines, the seconds of a burst of calls, and answers each by the median. It imports nothing but the engine and
NumPy, so that its memory is the engine's. What an engine prints goes to the standard error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from benchmarks import limits
from benchmarks.engines import ENGINES, Arrays, Run
from benchmarks.memory import resident_bytes

MIN_CALLS = 3
LONGEST = 4  # bursts' lengths that these calls may take


def burst(run: Run, inputs: Arrays, seconds: float) -> list[float]:
    """The duration of each call, in seconds, of calls one after another for at least `seconds` and `MIN_CALLS`.

    A call that alone takes several times as long is enough.
    """
    times: list[float] = []
    begin = end = time.perf_counter()
    while not times or end - begin < (seconds if len(times) >= MIN_CALLS else LONGEST * seconds):
        start = time.perf_counter()
        run(inputs)
        end = time.perf_counter()
        times.append(end - start)
    return times


def load(job: dict[str, Any], inputs: Arrays) -> tuple[Run, float]:
    """The loaded model, and the seconds until its first outputs, which are saved."""
    start = time.perf_counter()
    engine = job["engine"]
    run = ENGINES[engine](Path(job["file"]), len(job["cpus"]), **limits.options(engine, job["target"]))
    outputs = run(inputs)
    seconds = time.perf_counter() - start
    np.savez(job["outputs"], allow_pickle=False, **{name: _storable(value) for name, value in outputs.items()})
    return run, seconds


def _storable(value: object) -> np.ndarray:
    """Words and sequences of maps as strings of one width, which a file holds without pickling."""
    array = np.asarray(value)
    return array.astype(str) if array.dtype == object else array


def serve(job: dict[str, Any], answers: TextIO) -> None:
    """Load, warm up, and serve bursts until the input ends."""
    inputs = dict(np.load(job["inputs"]))
    run, seconds = load(job, inputs)
    burst(run, inputs, job["warmup"])
    print(json.dumps({"loading": seconds, "resident": resident_bytes()}), file=answers, flush=True)
    for line in sys.stdin:
        times = sorted(burst(run, inputs, float(line)))
        print(json.dumps({"seconds": times[len(times) // 2], "calls": len(times)}), file=answers, flush=True)


def main(job: dict[str, Any]) -> None:
    """Serve; an exception of the engine's is an answer too."""
    os.sched_setaffinity(0, job["cpus"])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        serve(job, answers)
    except Exception as error:  # whatever a peer raises
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answers, flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
