"""Measurements in processes of their own: latencies of several engines alternately, and the cost of compiling."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from benchmarks import checkout
from benchmarks.limits import HERE
from benchmarks.results import Latencies
from benchmarks.workers import Unavailable, Worker

PAUSE = 0.05  # seconds, in which the threads of the engine before stop spinning
SANE = 1e-3  # of the largest value: more than rounding, so the peer computes something else


def latencies(
    files: Mapping[str, Path], inputs: Path, cpus: Sequence[int], rounds: int, seconds: float, patience: float = 600,
    target: str = HERE, roots: Mapping[str, Path] | None = None,
) -> Latencies:  # fmt: skip
    """Time each engine on its file, alternately, `rounds` times for a burst of `seconds`, all on the same CPUs.

    `mlc@fixed` is mlc under a name of its own, for two artifacts in one run. An engine in `roots` imports mlc from that
    folder, see `benchmarks.checkout`.

    Peers are kept to the instructions of `target` where they can be, see `benchmarks.limits`.
    An engine that cannot run the model, answers nothing for `patience` seconds, or gives other outputs than onnxruntime
    (without it, than the first engine), is left out with a reason.
    """
    result = Latencies()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        workers: dict[str, Worker] = {}
        for engine, file in files.items():
            outputs = str(folder / f"{engine}.npz")
            job = {"engine": engine.partition("@")[0], "file": str(file), "inputs": str(inputs), "outputs": outputs}
            with _failure(engine, workers, result):
                job |= {"cpus": list(cpus), "warmup": seconds, "target": target}
                worker = Worker(job, patience, (roots or {}).get(engine))
                workers[engine] = stack.enter_context(worker)
                result.resident[engine], result.loading[engine] = worker.resident, worker.loading
        _check(workers, result, folder)
        result.same_bits = _same_bits([folder / f"{engine}.npz" for engine in workers])
        in_turn(workers, result, rounds, seconds)
    return result


@contextmanager
def _failure(engine: str, workers: dict[str, Worker], result: Latencies) -> Iterator[None]:
    """Leave an engine out if it is found to be unavailable."""
    try:
        yield
    except Unavailable as error:
        result.failures[engine] = str(error)
        for found in (workers, result.rounds, result.resident, result.loading):
            found.pop(engine, None)


def _check(workers: dict[str, Worker], result: Latencies, folder: Path) -> None:
    reference = "onnxruntime" if "onnxruntime" in workers else next(iter(workers), "")
    for engine in list(workers):
        with _failure(engine, workers, result):
            _compare(np.load(folder / f"{engine}.npz"), np.load(folder / f"{reference}.npz"), reference)


def _compare(actual: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], reference: str) -> None:
    """Raise Unavailable where outputs differ by far more than rounding."""
    for name, y in expected.items():
        x, scale = actual.get(name), np.abs(y).max(initial=0)
        if x is None or x.shape != y.shape or not np.allclose(x, y, rtol=0, atol=SANE * scale):
            raise Unavailable(f"its output {name} is not {reference}'s")


def _same_bits(files: Sequence[Path]) -> bool:
    """Whether the outputs in all files have the same bits."""
    first, *others = [{name: array.tobytes() for name, array in np.load(file).items()} for file in files] or [{}]
    return all(other == first for other in others)


def in_turn(workers: dict[str, Worker], result: Latencies, rounds: int, seconds: float) -> None:
    """Add a burst of each engine to `result`, A B A B ..., `rounds` times; one that fails is left out from then on."""
    for _ in range(rounds):
        for engine, worker in list(workers.items()):
            time.sleep(PAUSE)
            with _failure(engine, workers, result):
                result.rounds.setdefault(engine, []).append(worker.burst(seconds))


def compile_cost(
    model: Path, output: Path, threads: int, dims: Mapping[str, int], cache: Path, target: str = HERE,
    root: Path | None = None, cc: str | None = None,
) -> dict[str, float]:  # fmt: skip
    """Compile in a fresh process whose cache is the folder `cache`; see `benchmarks.compile_cost.cost`.

    The process imports mlc from the folder `root` where there is one; `cc` is the C compiler's command.
    """
    job = {"onnx": str(model), "file": str(output), "threads": threads, "dims": dict(dims), "target": target}
    command = [sys.executable, "-m", "benchmarks.compile_cost", json.dumps(job)]
    environment = {**checkout.environment(root), "MLC_CACHE_DIR": str(cache), **({"CC": cc} if cc else {})}
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"compiling {model} failed: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout.splitlines()[-1])
