"""Real models beside onnxruntime: ``python -m benchmarks.real [MODEL…] [--check] [--json FILE] [-o PAGE]``.

Each is compiled as it is shipped and compared with onnxruntime at every size of the table; without ``--check`` it is
timed too, on one and on two threads, in turn. ``--json`` keeps the results and goes on where it ended; ``-o`` writes
the page.
"""

from __future__ import annotations

import json
import os
import tempfile
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.machine import cpu_model, revision
from benchmarks.real.checking import checked
from benchmarks.real.files import file_of
from benchmarks.real.packages import Unavailable
from benchmarks.real.page import page
from benchmarks.real.speed import speeds
from benchmarks.real.table import Real, models


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Models, `abc*` for a prefix, `kind:trees`; all.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only compile and compare; no times.")] = False,
    small: Annotated[bool, typer.Option("--small", help="Only those that the test suite runs.")] = False,
    rounds: Annotated[int, typer.Option(help="Bursts of each engine.")] = 5,
    seconds: Annotated[float, typer.Option(help="Of a burst.")] = 0.2,
    patience: Annotated[float, typer.Option(help="Seconds for compiling and comparing one model.")] = 600,
    json_file: Annotated[Path | None, typer.Option("--json", help="Keep results here, and go on with them.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the page.")] = None,
) -> None:
    """Compile, compare and time real models; exit with 1 if one is not right."""
    try:
        chosen = [model for model in models(names or []) if model.small or not small]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    found: dict[str, Any] = json.loads(json_file.read_text()) if json_file and json_file.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for model in chosen:
            result = found.get(model.name)
            if result is None or not check and "ratios" not in result and result["status"] == "right":
                found[model.name] = result = measured(model, Path(folder), check, rounds, seconds, patience)
                print(line(model.name, result), flush=True)
            if json_file:
                json_file.write_text(json.dumps(found, indent=1))
    if output:
        output.write_text(page(chosen, found, _machine()))
    raise typer.Exit(any(found[model.name]["status"] not in ("right", "unavailable") for model in chosen))


def measured(model: Real, folder: Path, check: bool, rounds: int, seconds: float, patience: float) -> dict[str, Any]:
    """What `checked` says of a model, and `ratios`: onnxruntime's time over ours on one and on two threads."""
    try:
        file = file_of(model)
    except Unavailable as error:
        return {"status": "unavailable", "errors": [str(error)]}
    result = checked(model, file, folder, patience)
    if result["status"] == "right" and not check:
        result |= speeds(model, file, folder / f"{model.name}.so", rounds, seconds)
    return result


def _machine() -> str:
    peer = version("onnxruntime")
    return f"{date.today()}, {cpu_model()}, {os.cpu_count()} CPUs, onnxruntime {peer}, revision {revision()}."


def line(name: str, result: dict[str, Any]) -> str:
    """One result as a line."""
    cost = f"{result['seconds']:6.1f} CPU s  {result['worst']:.1e}  " if "worst" in result else ""
    ratios = "".join(f"{ratio:.2f}× " for ratio in result.get("ratios", {}).values())
    return f"{name:28} {result['status']:11} {cost}{ratios}{'; '.join(result['errors'][:2])}"


if __name__ == "__main__":
    typer.run(main)
