"""mlc tune: measure schedules for the kernels of a model, and keep the faster ones for compilations to come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlc.cli.arrays import gather_inputs
from mlc.cli.common import Dims, Numerics, Seed, SourcePath, Target, Threads, parse_dims
from mlc.cli.functions import is_function, source_named
from mlc.tools.plain_output import unfiltered
from mlc.tools.tables import console, table

if TYPE_CHECKING:
    from mlc.tuning.tuner import Tuning


def command(
    model: SourcePath,
    budget: Annotated[float, typer.Option(min=0.0, help="How long the search may take.", metavar="SECONDS")] = 60.0,
    threads: Threads = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Also write them to a file for 'mlc compile --schedule'.")
    ] = None,
    dim: Dims = [],  # noqa: B006 - typer reads the default, nothing changes it
    at: Annotated[
        list[str],
        typer.Option("--at", help="Size of a symbolic dimension in the measured runs [default: 1].", metavar="NAME=N"),
    ] = [],  # noqa: B006
    input: Annotated[
        list[str],
        typer.Option(
            "--input",
            "-i",
            help="The array of an input, or FILE.npz with all of them; of a function, the type of a parameter.",
            metavar="NAME=FILE|TYPE[SHAPE]",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    random: Seed = 0,
    target: Target = "cpu",
    numerics: Numerics = "default",
    cc: Annotated[
        str | None, typer.Option(help="The C compiler [default: as for 'mlc compile'].", show_default=False)
    ] = None,
) -> None:
    """Measure schedules for a model's kernels and keep the faster ones: every later compilation uses them.

    Ctrl-C ends it early and keeps what was found.

    \b
    mlc tune resnet.onnx --budget 300           # then: mlc compile resnet.onnx
    mlc tune bert.onnx --dim batch=1 --at seq=128 --threads 4
    mlc tune heat.py:step -i u=f32[points] -i d=f32[] --at points=4096
    mlc tune resnet.onnx --target x86-64-v3 -o resnet.schedules
    mlc compile resnet.onnx --target x86-64-v3 --schedule resnet.schedules
    """
    from mlc.api import make_options
    from mlc.tuning.store import Store, destination
    from mlc.tuning.tuner import Tuner

    types, files = (input, []) if is_function(model) else ([], input)
    source, dims = source_named(model, types, parse_dims(dim))
    options = make_options(target, threads, dims, numerics, cc=cc, tuned=False)
    store = destination(options, Store.default(), output is not None)
    sizes = parse_dims(at, "--at")
    with progress(budget) as watch:
        tuner = Tuner(source, options, budget, lambda n: gather_inputs(n, files, random, sizes), watch)
        found = tuner.run(store)
    _report(found, output)


@contextmanager
def progress(seconds: float) -> Iterator[Callable[[Tuning], None]]:
    """A progress bar on stderr with the elapsed time and the results so far; none if stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    start = time.monotonic()
    columns = BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}")
    shown = Console(file=unfiltered(sys.stderr), stderr=True)
    with Progress(*columns, console=shown, disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task("compiling", total=seconds)
        yield lambda found: bar.update(task, completed=time.monotonic() - start, description=status(found))


def status(found: Tuning) -> str:
    """``measuring candidate 3 of contract_4, 38% of the time, and 18 others: 7 faster, 8.1% saved``."""
    if not found.kernels:
        return found.step
    saved = sum(kernel.share * kernel.gain for kernel in found.kernels)
    slowest = max(found.kernels, key=lambda kernel: kernel.share)
    where = f"{slowest.name}, {slowest.share:.0%} of the time, and {len(found.kernels) - 1} others"
    return f"{found.step} candidate {found.rounds + 1} of {where}: {len(found.tuned)} faster, {saved:.1%} saved"


def _report(found: Tuning, output: Path | None) -> None:
    """Print the result, and write it to the file. Exit status 130 after Ctrl-C, as elsewhere."""
    from mlc.driver.artifact.output_files import write_bytes

    rows = table("Kernels", "kernel", ">share", ">tried", ">saved", "schedule")
    measured = [kernel for kernel in found.kernels if kernel.tried]
    for k in measured:
        rows.add_row(k.name, f"{k.share:.1%}", str(k.tried), f"{k.gain:.1%}" if k.best else "", k.schedule)
    console().print(rows)
    if output is not None:
        write_bytes(output, found.text().encode())
    _report_sums(found)
    saved = f"{found.gain:.1%} of the time saved" if found.gain > 0 else "no time saved in the model as a whole"
    confirmed = saved if found.gain else "not confirmed by a last comparison"
    print(f"{len(found.tuned)} of {len(measured)} kernels are faster" + f", {confirmed}" * bool(found.tuned))
    if found.interrupted:
        raise typer.Exit(130)


def _report_sums(found: Tuning) -> None:
    """Print the numbers of parts of sums, where any was measured."""
    if not found.sums:
        return
    rows = table("Parts of sums", "kernel", ">estimated", ">tried", ">fastest", ">saved")
    for each in found.sums:
        saved = f"{each.gain:.1%}" if each.best else ""
        rows.add_row(each.name, str(each.estimated), str(each.tried), str(each.best or each.estimated), saved)
    console().print(rows)
