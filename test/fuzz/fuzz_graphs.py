"""Compiles random graphs and compares them with onnxruntime: `python test/fuzz/fuzz_graphs.py --count 10000`.

`--kind networks` grows networks of layers (`networks.py`) in place of graphs of single operators, `--kind sizes` graphs
whose inputs have open sizes and whose values have sizes that follow from these (`sized.py`), at four sizes each.

Stops at nothing: each mismatch, crash or refusal is a line with its seed, and the model is written to `--folder`. A few
graphs are compiled together as one model, which takes a third of the time; where something is wrong with one of these,
each graph is looked at alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import SystemRandom
from typing import Annotated

import onnx
import typer
from agree import KINDS, UNKNOWN, differences
from grow_sized import sized_model
from isolate import judged
from rich.progress import track
from sanitized import SANITIZERS, restart
from scratch import scratch
from size_agree import size_differences

SECONDS = 300.0  # for one graph, or a few together, the C compiler included
EVERY = 200  # graphs, after which a log gets a line
Finding = tuple[int, str]  # a seed, and what is wrong


def findings(seeds: range, together: int, size: int, sanitize: str, kind: str) -> Iterator[list[Finding]]:
    """What is wrong with graphs, for ``together`` of them after the other."""
    parts = [seeds[n : n + together] for n in range(0, len(seeds), together)]
    several = judged(range(len(parts)), lambda n: _differences(parts[n], size, sanitize, kind), SECONDS)
    for part, problem in several:
        alone = problem and not all(line.startswith(UNKNOWN) for line in problem.splitlines())
        found = list(_alone(parts[part], size, sanitize, kind)) if alone else []
        unknown = [(parts[part][0], line) for line in problem.splitlines() if line.startswith(UNKNOWN)]
        yield found or ([(parts[part][0], f"with the {together - 1} after it: {problem}")] if alone else unknown)


def _alone(seeds: range, size: int, sanitize: str, kind: str) -> Iterator[Finding]:
    for seed, problem in judged(seeds, lambda seed: _differences([seed], size, sanitize, kind), SECONDS):
        yield from ((seed, line) for line in problem.splitlines())


def _differences(seeds: Sequence[int], size: int, sanitize: str, kind: str) -> str:
    return size_differences(seeds, size, sanitize) if kind == "sizes" else differences(seeds, size, sanitize, kind)


def main(
    count: Annotated[int, typer.Option(help="Graphs to grow.")] = 100,
    seed: Annotated[int | None, typer.Option(help="Of the first graph; random by default.")] = None,
    size: Annotated[int, typer.Option(help="Nodes of a graph, about.")] = 8,
    together: Annotated[int, typer.Option(help="Graphs that are compiled as one model.")] = 16,
    kind: Annotated[str, typer.Option(help="graphs, networks, or sizes.")] = "graphs",
    folder: Annotated[Path, typer.Option(help="Where models that fail are written.")] = Path("fuzz"),
    sanitize: Annotated[bool, typer.Option("--sanitize", help="Build with the address sanitizer and others.")] = False,
) -> None:
    """Compare random graphs with onnxruntime; exit code 1 if one differs."""
    if sanitize:
        restart()
    first = SystemRandom().getrandbits(31) if seed is None else seed
    seeds, failed, unknown, done = range(first, first + count), set[int](), set[int](), 0
    with scratch():
        several = findings(seeds, together, size, SANITIZERS if sanitize else "", kind)
        for found in track(several, f"seeds from {first}", -(-count // together)):
            for each, problem in found:
                print(f"seed {each}: {problem}", flush=True)
                if problem.startswith(UNKNOWN):
                    unknown.add(each)
                else:
                    failed.add(each)
                    _keep(each, size, kind, folder)
            done += together
            if done % EVERY < together:
                print(f"{done} graphs: {len(failed)} wrong, {len(unknown - failed)} without a reference", flush=True)
    print(f"{count - len(failed | unknown)} of {count} graphs agree, {len(unknown - failed)} have no reference")
    raise typer.Exit(bool(failed))


def _keep(seed: int, size: int, kind: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(Exception):  # a graph that does not grow is a finding too
        onnx.save((KINDS | {"sizes": sized_model})[kind](seed, size), folder / f"{seed}.onnx")


if __name__ == "__main__":
    typer.run(main)
