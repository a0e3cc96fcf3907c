"""The command that compares programs: those whose names begin as it says, each with what is wrong."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable

LONGEST = 700  # characters of what is wrong


def run(description: str | None, programs: Iterable[str], problem: Callable[[str, int], str]) -> int:
    """Print what ``problem(name, seed)`` returns or raises, and how many programs have none; return 1 if any has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    names = [n for n in programs if not given.names or n.startswith(tuple(given.names))]
    failed, start = 0, time.process_time()
    for name in names:
        try:
            what = problem(name, given.seed)
        except Exception as error:
            what = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        failed += bool(what)
        if what:
            print(f"{name}: {what[:LONGEST]}", flush=True)
    print(f"{len(names) - failed} of {len(names)} programs agree, {time.process_time() - start:.1f} CPU s")
    return int(failed > 0)
