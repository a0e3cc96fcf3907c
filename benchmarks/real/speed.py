"""The latency of a compiled model beside onnxruntime's, in turn, on one and on two threads."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.limits import HERE
from benchmarks.measure import in_turn
from benchmarks.real.checking import SEED
from benchmarks.real.inputs import inputs
from benchmarks.real.table import Real
from benchmarks.results import OURS, Latencies
from benchmarks.workers import Unavailable, Worker

THREADS = (1, 2)
PATIENCE = 120.0


def speeds(model: Real, file: Path, artifact: Path, rounds: int, seconds: float) -> dict[str, Any]:
    """`milliseconds` of ours at the model's first size and `ratios`, by the number of threads.

    A ratio is the median over the rounds of onnxruntime's time over ours; `beside` says why there is none.
    """
    result: dict[str, Any] = {"milliseconds": {}, "ratios": {}}
    with tempfile.TemporaryDirectory() as folder:
        arrays = Path(folder) / "inputs.npz"
        np.savez(arrays, allow_pickle=False, **_storable(inputs(file, model.inputs, model.sizes[0], SEED)))
        for threads in THREADS:
            try:
                found = _alternately({OURS: artifact, "onnxruntime": file}, arrays, threads, rounds, seconds)
            except Unavailable as error:
                return {**result, "beside": str(error)}
            result["milliseconds"][str(threads)] = found.median(OURS) * 1e3
            result["ratios"][str(threads)] = found.ratios("onnxruntime")[1]
    return result


def _storable(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Words as strings of one width, which a file can hold without pickling."""
    return {name: array.astype(str) if array.dtype == object else array for name, array in arrays.items()}


def _alternately(files: dict[str, Path], arrays: Path, threads: int, rounds: int, seconds: float) -> Latencies:
    """Bursts of each engine on the same CPUs; outputs were compared before, within the model's own tolerance.

    Raises Unavailable where an engine does not run the model.
    """
    result = Latencies()
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    with ExitStack() as stack:
        workers = {}
        for engine, file in files.items():
            job = {"engine": engine, "file": str(file), "inputs": str(arrays), "outputs": f"{arrays}.{engine}.npz"}
            job |= {"cpus": cpus, "warmup": seconds, "target": HERE}
            workers[engine] = stack.enter_context(Worker(job, PATIENCE))
        in_turn(workers, result, rounds, seconds)
    if result.failures:
        raise Unavailable("; ".join(f"{engine}: {reason}" for engine, reason in result.failures.items()))
    return result
