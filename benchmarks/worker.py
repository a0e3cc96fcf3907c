"""A process that holds one loaded model and times it when told to: `python -m benchmarks.worker JOB`.

JOB is JSON. The worker says when it is ready; then it reads lines, the seconds of a burst of calls, and answers each by
the median. It imports nothing but the engine and NumPy, so that its memory is the engine's.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engines import ENGINES, Arrays, Run
from benchmarks.memory import resident_bytes

MIN_CALLS = 3


def burst(run: Run, inputs: Arrays, seconds: float) -> list[float]:
    """The duration of each call, in seconds, of calls one after another for at least `seconds` and `MIN_CALLS`."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < MIN_CALLS or time.perf_counter() < end:
        start = time.perf_counter()
        run(inputs)
        times.append(time.perf_counter() - start)
    return times


def main(job: dict[str, Any]) -> None:
    """Load, warm up, and serve bursts until the input ends."""
    os.sched_setaffinity(0, job["cpus"])
    run = ENGINES[job["engine"]](Path(job["file"]), len(job["cpus"]))
    inputs = dict(np.load(job["inputs"]))
    burst(run, inputs, job["warmup"])
    print(json.dumps({"ready": True, "resident": resident_bytes()}), flush=True)
    for line in sys.stdin:
        times = sorted(burst(run, inputs, float(line)))
        print(json.dumps({"seconds": times[len(times) // 2], "calls": len(times)}), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
