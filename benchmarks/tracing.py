"""The host's side of traced functions: `python -m benchmarks.tracing` prints each figure beside its limit.

Times are the best of several runs, and those of one thread are its processor time, so that other programs count little.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp

X = np.linspace(0, 1, 16, dtype=np.float32)


def best(f: Callable[[], Any], times: int, rounds: int = 15) -> float:
    """Microseconds of one call."""
    found = []
    for _ in range(rounds):
        start = time.thread_time_ns()
        for _ in range(times):
            f()
        found.append(time.thread_time_ns() - start)
    return min(found) / times / 1e3


def eager_operation(count: int = 100) -> float:
    """Microseconds of an operation that is evaluated line by line, in a chain that has been compiled."""

    def chain() -> Any:
        x = y = mnp.asarray(X)
        for _ in range(count // 2):
            x = mnp.sin(x * y)
        return x.numpy()

    for _ in range(3):
        chain()
        time.sleep(4)  # in which it is compiled
    return best(chain, 3) / count


def call_overhead() -> float:
    """Microseconds that a jitted call takes above one of its artifact."""
    f = mlc.jit(lambda x, y: x * y + 1, wait=True)
    f(X, X)
    model = f.lower(X, X).model
    return min(best(lambda: f(X, X), 2000) - best(lambda: model(X, X), 2000) for _ in range(3))


def retrace(count: int = 1000) -> float:
    """Milliseconds to trace a function of so many operations for other shapes."""

    def chain(x: Any) -> Any:
        for _ in range(count // 4):
            x = mnp.sin(x * 2) + 1 - x
        return x

    f, sizes = mlc.jit(chain), iter(range(1, 100))
    return best(lambda: f.lower(mlc.TensorSpec(np.dtype("float32"), (next(sizes),))), 1) / 1e3


def cold() -> dict[str, float]:
    """Seconds of the first call of a function of ten lines, and until it is compiled; nothing of it is cached."""
    x, w, b = (np.random.default_rng(n).normal(size=s).astype("f4") for n, s in enumerate([(32, 64), (64, 16), (16,)]))
    mlc.jit(lambda x: x + 1, wait=True)(x)  # imports the compiler, and compiles the runtime
    f, start = mlc.jit(ten_lines), time.perf_counter()
    f(x, w, b)
    first = time.perf_counter() - start
    assert f.lower(x, w, b).model
    return {"first": first, "compiled": time.perf_counter() - start}


def ten_lines(x: Any, w: Any, b: Any) -> Any:
    hidden = mnp.tanh(x @ w + b)
    centred = hidden - mnp.mean(hidden, axis=0)
    variance = mnp.mean(centred * centred, axis=0)
    normal = centred / mnp.sqrt(variance + 1e-5)
    largest = mnp.max(normal, axis=1, keepdims=True)
    weights = mnp.exp(normal - largest)
    total = mnp.sum(weights, axis=1, keepdims=True)
    mixed = weights / total * hidden
    return mnp.sum(mixed, axis=1)


def cold_process() -> dict[str, float]:
    """``cold`` in a process of its own with an empty cache, the best of three."""
    code = "import json; from benchmarks.tracing import cold; print(json.dumps(cold()))"
    found = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "MLC_CACHE_DIR": folder}
            done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
            found.append(json.loads(done.stdout))
    return min(found, key=lambda each: each["compiled"])


def main() -> None:
    once = cold_process()
    rows = [
        ("an eager operation, compiled", eager_operation(), 20, "us"),
        ("a jitted call above the artifact's", call_overhead(), 2, "us"),
        ("a retrace of 1,000 operations", retrace(), 50, "ms"),
        ("the first call of ten lines", once["first"], 0.7, "s"),
        ("ten lines compiled", once["compiled"], 0.7, "s"),
    ]
    for name, value, limit, unit in rows:
        print(f"{name:36} {value:8.3g} {unit:2}   (at most {limit} {unit})")


if __name__ == "__main__":
    main()
