"""Functions of arrays line by line: ``python -m benchmarks.eager``.

The time of one operation on small arrays, ours and NumPy's in turn, the least of several bursts; and of the first call
on 300 x 300 elements, of which each is made in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mlc.numpy as mnp
from benchmarks.tables import Table

BURSTS, CALLS = 40, 100
SMALL: dict[str, Callable[[Any, Any], Any]] = {
    "x + y": lambda m, x: x + x,
    "exp(x)": lambda m, x: m.exp(x),
    "sum(x)": lambda m, x: m.sum(x),
    "mean(x, axis=1)": lambda m, x: m.mean(x, axis=1),
    "x @ x": lambda m, x: x @ x,
    "x[1]": lambda m, x: x[1],
    "where(x > 0.5, x, 0.0)": lambda m, x: m.where(x > 0.5, x, 0.0),
}
FIRST = ("mnp.mean(x)", "mnp.argmax(x)", "mnp.std(x)", "mnp.sort(x)", "mlc.jit(lambda x: mnp.mean(x**2))(x)")
ONCE = """
import time, numpy as np, mlc, mlc.numpy as mnp
x = mnp.asarray(np.random.default_rng(0).normal(size=(300, 300)).astype(np.float32))
start = time.perf_counter()
np.asarray({call})
print(1e3 * (time.perf_counter() - start))
"""


def burst(f: Callable[[Any, Any], Any], module: Any, x: Any) -> float:
    """Microseconds a call."""
    start = time.perf_counter()
    for _ in range(CALLS):
        f(module, x)
    return (time.perf_counter() - start) * 1e6 / CALLS


def main() -> None:
    """Print both tables."""
    given = np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32)
    ours = mnp.asarray(given)
    rows = []
    for name, f in SMALL.items():
        times = [(burst(f, mnp, ours), burst(f, np, given)) for _ in range(BURSTS)]
        mine, theirs = (min(each[n] for each in times) for n in range(2))
        rows.append([name, f"{mine:.1f}", f"{theirs:.1f}", f"{mine / theirs:.1f}"])
    print(Table("one operation on 8 x 8 floats", ["operation", "us", "NumPy, us", "ratio"], rows).markdown())
    first = [[call, f"{float(_in_process(call)):.0f}"] for call in FIRST]
    print(Table("the first call on 300 x 300 floats", ["call", "ms"], first).markdown())


def _in_process(call: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", ONCE.format(call=call)], capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    main()
