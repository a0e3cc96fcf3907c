"""Runs the onnx package's node tests as code built with sanitizers: `python test/fuzz/sanitize_nodes.py`.

Results are compared as in test/conformance; an access outside of a buffer or undefined behaviour ends the case.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from isolate import judged
from rich.progress import track
from sanitized import SANITIZERS, restart
from scratch import scratch

sys.path.append(str(Path(__file__).parents[1] / "conformance"))

from cases import as_array, assert_same, expected_failure, small_cases  # noqa: E402

from mlc.frontends.onnx.backend import MlcBackend  # noqa: E402


def problem(name: str) -> str:
    """What is wrong with a case; empty where nothing is."""
    case = small_cases()[name]
    net = MlcBackend.prepare(case.model, sanitize=SANITIZERS, threads=2)
    for inputs, outputs in case.data_sets:
        results = net.run([as_array(value) for value in inputs])
        for actual, wanted in zip(results, outputs, strict=True):
            try:
                assert_same(actual, as_array(wanted), case.rtol, case.atol)
            except AssertionError as error:
                return f"wrong: {str(error)[:200]}"
    return ""


def main(
    first: Annotated[int, typer.Option(help="Number of the first case.")] = 0,
    step: Annotated[int, typer.Option(help="Every how many-th case runs.")] = 1,
) -> None:
    """Exit code 1 if a case fails."""
    restart()
    names = [name for name in small_cases() if expected_failure(name, "compiled") is None][first::step]
    found = 0
    with scratch():
        for n, text in track(judged(range(len(names)), lambda n: problem(names[n]), 300), "nodes", len(names)):
            if text:
                found += 1
                print(f"{names[n]}: {text}", flush=True)
    print(f"{len(names) - found} of {len(names)} cases are right")
    raise typer.Exit(bool(found))


if __name__ == "__main__":
    typer.run(main)
