"""Compares random cases of onnxruntime's own operators with it: `python test/fuzz/fuzz_contrib.py --count 100`.

Each row of `contrib_rows_*.py` gets as many seeds. A line says what differs, with row and seed; `refused` is what mlc
does not take, `no reference` what onnxruntime itself does not.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).parents[2]))  # for benchmarks

from contrib import load
from contrib_agree import NO_REFERENCE, REFUSED, Key, compiled, interpreted
from isolate import judged
from sanitized import SANITIZERS, restart
from scratch import scratch

SECONDS = 300.0  # for some cases, the C compiler included
TOGETHER = 12  # cases of one model


def main(
    count: Annotated[int, typer.Option(help="Seeds of each row.")] = 10,
    seed: Annotated[int, typer.Option(help="The first one.")] = 0,
    only: Annotated[str, typer.Option(help="Rows whose names contain this, separated by commas.")] = "",
    interpret: Annotated[bool, typer.Option("--interpret", help="Interpret in place of compiling.")] = False,
    sanitize: Annotated[bool, typer.Option("--sanitize", help="Build with the address sanitizer and others.")] = False,
) -> None:
    """Compare random cases with onnxruntime; exit code 1 if one differs or is refused."""
    if sanitize:
        restart()
    names = [n for n in load() if not only or any(part in n for part in only.split(","))]
    keys = [(name, seed + n) for name in names for n in range(count)]
    seen: Counter[str] = Counter()
    with scratch():
        for name, s, problem in _interpreted(keys) if interpret else _compiled(keys, SANITIZERS if sanitize else ""):
            print(f"seed {s}: {problem}", flush=True)
            seen[next((kind for kind in (NO_REFERENCE, REFUSED) if f"{name}: {kind}" in problem), "wrong")] += 1
    wrong = seen["wrong"] + seen[REFUSED]
    print(f"{len(keys) - seen.total()} of {len(keys)} cases agree, {dict(seen) or 'none differs'}")
    raise typer.Exit(bool(wrong))


def _interpreted(keys: list[Key]) -> Iterator[tuple[str, int, str]]:
    for n, problem in judged(range(len(keys)), lambda n: interpreted(*keys[n]), SECONDS):
        yield from [(*keys[n], problem)] if problem else []


def _compiled(keys: list[Key], sanitize: str) -> Iterator[tuple[str, int, str]]:
    parts = [keys[n : n + TOGETHER] for n in range(0, len(keys), TOGETHER)]
    for n, problem in judged(range(len(parts)), partial(_lines, parts, sanitize), SECONDS):
        if problem and not problem.startswith(MARK):  # a crash, or an error for all of them
            yield from _alone(parts[n], sanitize)
        else:
            yield from (_line(line) for line in problem.splitlines())


def _alone(keys: list[Key], sanitize: str) -> Iterator[tuple[str, int, str]]:
    for n, problem in judged(range(len(keys)), partial(_lines, [[key] for key in keys], sanitize), SECONDS):
        text = _line(problem)[2] if problem.startswith(MARK) else f"{keys[n][0]}: {problem}"
        yield from [(*keys[n], text)] if problem else []


MARK = "\t"


def _lines(parts: list[list[Key]], sanitize: str, n: int) -> str:
    found = compiled(parts[n], 1 + n % 3, sanitize)
    return "\n".join(f"{MARK}{name}{MARK}{seed}{MARK}{problem}" for (name, seed), problem in found.items())


def _line(line: str) -> tuple[str, int, str]:
    _, name, seed, problem = line.split(MARK, 3)
    return name, int(seed), problem


if __name__ == "__main__":
    typer.run(main)
