"""Times of array programs on two threads: `python -m benchmarks.arrays [PROGRAM…] [--rounds N]`.

Each program is compiled by JAX and by mlc, and run line by line by NumPy; results are compared, then all are timed
alternately. Prints microseconds, the ratios, and their geometric means.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.arrays import fields, learning, particles
from benchmarks.arrays.libraries import LIBRARIES, NumPy

PROGRAMS: dict[Callable[..., Any], list[Any]] = {**fields.PROGRAMS, **particles.PROGRAMS, **learning.PROGRAMS}
PAUSE = 0.02  # seconds, in which the threads of the library before stop spinning
SANE = 1e-4  # of the largest value, on average: what is chaotic differs by more here and there
Times = dict[str, float]


def measured(f: Callable[..., Any], arrays: list[Any], rounds: int, seconds: float) -> tuple[Times, dict[str, str]]:
    """The best microseconds of each library, and why others have none."""
    runs, failures, results = {}, {}, {}
    for library in LIBRARIES:
        try:
            run = library().compiled(f, arrays)
            results[library.name] = [np.asarray(x) for x in flat(run())]
            runs[library.name] = run
        except Exception as error:
            failures[library.name] = f"{type(error).__name__}: {error}".splitlines()[0][:100]
    failures |= wrong(results)
    return {name: min(bursts) for name, bursts in in_turn(runs, rounds, seconds).items()}, failures


def in_turn(
    runs: Mapping[str, Callable[[], Any]], rounds: int, seconds: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """The microseconds of a call in each of several bursts."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            time.sleep(PAUSE)
            run()
            best, end = math.inf, time.perf_counter() + seconds
            while time.perf_counter() < end:
                start = clock()
                run()
                best = min(best, clock() - start)
            found[name].append(best * 1e6)
    return found


def flat(result: Any) -> list[Any]:
    return [y for x in result for y in flat(x)] if isinstance(result, tuple | list) else [result]


def wrong(results: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """Libraries whose results are not the first one's."""
    first = next(iter(results.values()), [])
    found = {}
    for name, given in results.items():
        for a, b in zip(given, first, strict=True):
            scale = np.abs(b).max(initial=1e-30)
            if a.shape != b.shape or not np.abs(a - b).mean() <= SANE * scale:
                found[name] = f"other results, on average by {np.abs(a - b).mean() / scale:.2g} of the largest"
    return found


def mean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arrays", description=__doc__)
    parser.add_argument("programs", nargs="*", help="names of programs; all of them by default")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each burst")
    options = parser.parse_args()
    chosen = {f: xs for f, xs in PROGRAMS.items() if not options.programs or f.__name__ in options.programs}
    names = [library.name for library in LIBRARIES]
    print("program".ljust(20), *(f"{name:>10}" for name in names), "  mlc over NumPy, JAX", flush=True)
    ratios: dict[str, list[float]] = {NumPy.name: [], "jax": []}
    for f, arrays in chosen.items():
        times, failures = measured(f, arrays, options.rounds, options.seconds)
        row = {peer: times[peer] / times["mlc"] for peer in ratios if {peer, "mlc"} <= times.keys() - failures.keys()}
        for peer, ratio in row.items():
            ratios[peer].append(ratio)
        shown = [f"{times[name]:10.1f}" if name in times else " " * 10 for name in names]
        print(f.__name__.ljust(20), *shown, *(f"{row[p]:8.2f}" if p in row else " " * 8 for p in ratios), end="")
        print("   ", "; ".join(f"{name}: {why}" for name, why in failures.items()), flush=True)
    for peer, found in ratios.items():
        if found:
            print(f"geometric mean over {peer} ({len(found)} programs): {mean(found):.2f}, least {min(found):.2f}")


if __name__ == "__main__":
    main()
