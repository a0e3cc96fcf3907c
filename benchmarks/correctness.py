"""Compare compiled models with onnxruntime on fresh random inputs: `python -m benchmarks.correctness [MODEL...]`.

Each also runs on several numbers of threads, which must not change a bit.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import onnx
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import mlc
from benchmarks.cases import Case, select
from benchmarks.engines import Arrays, Run, onnxruntime
from benchmarks.float64 import float64
from benchmarks.models import random_inputs
from benchmarks.thread_counts import COUNTS, ThreadCounts
from mlc.options import Numerics

Reference = Literal["onnxruntime", "float64"]
REFERENCES: dict[Reference, Callable[[Path, int], Run]] = {"onnxruntime": onnxruntime, "float64": float64}
TOLERANCES: dict[Numerics, float] = {"strict": 1e-5, "default": 5e-5}  # of the largest absolute value of the reference


@dataclass(frozen=True)
class Row:
    """One output of one run with its largest error and largest reference value, or a message instead of them.

    `differs` are the numbers of threads with which it has other bits.
    """

    model: str
    numerics: Numerics
    dims: dict[str, int]
    output: str = ""
    shape: tuple[int, ...] = ()
    error: float = 0.0
    largest: float = 0.0
    message: str = ""
    differs: tuple[int, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the error is within the tolerance, with the same bits on all numbers of threads."""
        return not self.message and not self.differs and self.error <= TOLERANCES[self.numerics] * self.largest

    @property
    def ratio(self) -> float:
        """The error relative to the largest reference value."""
        return self.error / self.largest if self.largest else self.error


def compare(name: str, numerics: Numerics, dims: dict[str, int], ours: Arrays, reference: Arrays) -> Iterator[Row]:
    """A row for each output of the reference."""
    for output, expected in reference.items():
        actual, shape = ours[output], expected.shape
        if message := _mismatch(actual, expected):
            yield Row(name, numerics, dims, output, shape, message=message)
        else:
            error = float(np.abs(np.subtract(actual, expected, dtype=np.float64)).max(initial=0))
            yield Row(name, numerics, dims, output, shape, error, float(np.abs(expected).max(initial=0)))


def _mismatch(actual: np.ndarray, expected: np.ndarray) -> str:
    if (actual.shape, actual.dtype) != (expected.shape, expected.dtype):
        return f"{actual.dtype} {actual.shape} instead of {expected.dtype} {expected.shape}"
    return "" if np.isfinite(actual).all() else "has values that are not finite"


def check(
    case: Case, numerics: Numerics, seed: int, threads: int, target: str = "cpu", against: Reference = "onnxruntime"
) -> Iterator[Row]:
    """Compile a case and run it at each of its sizes."""
    path = case.file()
    proto, reference = onnx.load(path), REFERENCES[against](path, threads)
    try:
        net = mlc.compile(path, target, threads, numerics=numerics)
        with net, ThreadCounts(net.path) as counts:
            for dims in case.dims:
                inputs = random_inputs(proto, seed, dims)
                ours = net.run(inputs)
                differing = counts.differing(inputs, ours)
                for row in compare(case.name, numerics, dims, ours, reference(inputs)):
                    yield replace(row, differs=differing[row.output])
    except mlc.MlcError as error:
        yield Row(case.name, numerics, {}, message=str(error).splitlines()[0])


def _cells(row: Row) -> list[str]:
    verdict = "[green]pass[/]" if row.passed else "[red]FAIL[/]"
    dims = ", ".join(f"{name}={size}" for name, size in row.dims.items())
    if row.message:
        return [row.model, row.numerics, dims, escape(f"{row.output} {row.message}"), "", "", "", "", verdict]
    numbers = [f"{row.largest:.3g}", f"{row.error:.2e}", f"{row.ratio:.1e}", _bits(row)]
    return [row.model, row.numerics, dims, escape(f"{row.output} {list(row.shape)}"), *numbers, verdict]


def _bits(row: Row) -> str:
    return f"[red]other with {', '.join(map(str, row.differs))}[/]" if row.differs else "same"


def _table(rows: list[Row], seed: int, against: Reference) -> Table:
    bounds = ", ".join(f"{numerics} {bound:g}" for numerics, bound in TOLERANCES.items())
    table = Table(title=f"mlc against {against}, seed {seed}; tolerance of max|ref|: {bounds}")
    for heading in ("model", "numerics", "dims", "output"):
        table.add_column(heading, overflow="fold")
    for heading in ("max|ref|", "max|err|", "ratio", f"bits on {', '.join(map(str, COUNTS))} threads", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _save(rows: list[Row], seed: int, file: Path) -> None:
    entries = [asdict(row) | {"passed": row.passed} for row in rows]
    file.write_text(json.dumps({"seed": seed, "rows": entries}, indent=1))


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Models, `op_*` means a prefix; all whole ones.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the inputs; fresh by default.")] = None,
    threads: Annotated[int, typer.Option(help="Threads of each engine.")] = 2,
    target: Annotated[str, typer.Option(help="CPU to compile for, `x86-64-v3`; `cpu` is this machine's.")] = "cpu",
    reference: Annotated[Reference, typer.Option(help="`float64` is the onnx package's, slow.")] = "onnxruntime",
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the rows here too.")] = None,
) -> None:
    """Compile each model, compare it with a reference, and print a table; exit with 1 if one fails."""
    try:
        cases = select(names or [])
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    seed = secrets.randbits(32) if seed is None else seed
    console = Console()
    rows: list[Row] = []
    with console.status("") as status:
        for case in cases:
            for numerics in TOLERANCES:
                status.update(f"{case.name}, {numerics}")
                rows += check(case, numerics, seed, threads, target, reference)
            if json_file:  # after each, for what takes long may end early
                _save(rows, seed, json_file)
    console.print(_table(rows, seed, reference))
    raise typer.Exit(not all(row.passed for row in rows))


if __name__ == "__main__":
    typer.run(main)
