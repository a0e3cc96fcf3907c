"""Measurements in processes of their own: latencies of several engines in turn, and the cost of compiling."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

PAUSE = 0.05  # seconds, in which the threads of the engine before stop spinning


class Worker:
    """A `benchmarks.worker` process; it idles between bursts."""

    def __init__(self, engine: str, file: Path, inputs: Path, cpus: Sequence[int], warmup: float) -> None:
        job = {"engine": engine, "file": str(file), "inputs": str(inputs), "cpus": list(cpus), "warmup": warmup}
        self._job = job
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", json.dumps(job)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.resident = self._answer()["resident"]

    def burst(self, seconds: float) -> float:
        """The median seconds of a call over a burst."""
        assert self._process.stdin
        print(seconds, file=self._process.stdin, flush=True)
        return self._answer()["seconds"]

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a worker ended with code {self._process.wait()}: {self._job}")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@dataclass
class Latencies:
    """Seconds of each engine, one value a round, and the resident bytes of its process; mlc comes first."""

    rounds: dict[str, list[float]] = field(default_factory=dict)
    resident: dict[str, int] = field(default_factory=dict)

    def median(self, engine: str) -> float:
        """The median seconds of a call."""
        return float(np.median(self.rounds[engine]))

    def ratios(self, peer: str) -> tuple[float, float, float]:
        """The peer's time over mlc's: quartile, median and quartile of the rounds; above 1 mlc is faster."""
        low, middle, high = np.percentile(np.divide(self.rounds[peer], self.rounds["mlc"]), [25, 50, 75])
        return float(low), float(middle), float(high)


def latencies(
    files: Mapping[str, Path], inputs: Path, cpus: Sequence[int], rounds: int, seconds: float
) -> Latencies:
    """Time each engine on its file, in turn, `rounds` times for a burst of `seconds`, all on the same CPUs."""
    result = Latencies()
    with ExitStack() as stack:
        workers = {}
        for engine, file in files.items():
            workers[engine] = stack.enter_context(Worker(engine, file, inputs, cpus, warmup=seconds))
            result.resident[engine] = workers[engine].resident
        for _ in range(rounds):
            for engine, worker in workers.items():
                time.sleep(PAUSE)
                result.rounds.setdefault(engine, []).append(worker.burst(seconds))
    return result


def compile_cost(
    model: Path, output: Path, threads: int, dims: Mapping[str, int], cache: Path
) -> dict[str, float]:
    """Compile in a fresh process whose cache is the folder `cache`; see `benchmarks.compile_cost.cost`."""
    job = {"onnx": str(model), "file": str(output), "threads": threads, "dims": dict(dims)}
    command = [sys.executable, "-m", "benchmarks.compile_cost", json.dumps(job)]
    environment = {**os.environ, "MLC_CACHE_DIR": str(cache)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"compiling {model} failed: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout.splitlines()[-1])
