"""``python -m benchmarks.gpu``: checks and measures everything on this machine's GPU, in less than nine minutes.

All models are compiled first, by all processors. Rows are measured in processes of their own, with a limit on the time
of each: a kernel that crashes or hangs leaves the others. Prints tables, and writes them as JSON after each row, so
that what was measured is there if the time runs out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.gpu import (
    advance,
    attention,
    bulk_stores,
    checks,
    convolutions,
    float8,
    gradients,
    measurements,
    models,
    parts,
    rows,
    shared_tiles,
    thread_blocks,
)
from benchmarks.gpu.isolation import Row, isolated
from benchmarks.gpu.report import SECONDS, Report, Section
from benchmarks.gpu.shapes import SHAPES
from mlc.tools.cuda_device import Device, NoDevice
from mlc.tools.gpu_peak import copy_rate

LARGE = [(n, n, n) for n in (8192, 4096, 2048, 1024, 512)]
OTHER = [(1, 4096, 4096), (16, 4096, 4096), (128, 3072, 768), (512, 768, 3072), (1000, 1000, 1000)]
SMALL = [(33, 65, 40)]
SMALL8 = [(48, 80, 64)]  # of floats of 8 bits, as torch takes multiples of 16
LONG = ("Model speed", "More models", "Training")  # whose peers compile for long
LONGER = 100  # seconds of a row of them
COMPILE = 0.25  # of the time, at most, to compile models in advance


def sections(target: str, runs: int, quick: bool) -> dict[str, Section]:
    """What is measured, the most telling first."""
    few = {
        "First kernel": lambda device: checks.first_kernel(device, target),
        "Copy": lambda device: iter([("copy", lambda: {"GB/s": round(1e-9 * copy_rate(device), 1)})]),
        "Launches": lambda device: iter([("chain", lambda: measurements.launch_cost(device, target, runs))]),
    }
    return few | (_small(target, runs) if quick else _whole(target, runs))


def _small(target: str, runs: int) -> dict[str, Section]:
    return {
        "Models": lambda device: measurements.correctness(device, target, runs),
        "Products": lambda device: measurements.products(device, target, runs, SMALL, measurements.ELEMENTS),
        "Floats of 8 bits": lambda device: float8.measured(device, target, runs, SMALL8),
        "Attention": lambda device: attention.measured(device, target, runs, ["float16"]),
        "Gradients of attention": lambda device: gradients.measured(device, target, runs, 1),
        "Convolutions": lambda device: convolutions.measured(device, target, runs, 2),
        "Rows": lambda device: rows.measured(device, target, runs, ((64, 1000),)),
        "Parts of sums": lambda device: parts.measured(device, target, runs, parts.SIZES[:1]),
        "Stream-K": lambda device: shared_tiles.measured(device, target, runs, shared_tiles.SMALL),
        "Bulk stores": lambda device: bulk_stores.measured(device, target, runs, bulk_stores.SMALL),
    }


def _whole(target: str, runs: int) -> dict[str, Section]:
    shapes = [size for sizes in SHAPES.values() for size in sizes]
    return {
        "Large products": lambda device: measurements.products(device, target, runs, LARGE[:2], ["bfloat16"]),
        "Models": lambda device: measurements.correctness(device, target, runs),
        "100 products": lambda device: measurements.products(device, target, runs, shapes, ["bfloat16"]),
        "Attention": lambda device: attention.measured(device, target, runs, ["bfloat16"]),
        "Model speed": lambda device: models.models(device, target, runs, models.FIRST),
        "Decoding": lambda device: models.decoding(device, target, runs),
        "Training": lambda _: models.training(target),
        "Floats of 8 bits": lambda device: float8.measured(device, target, runs, float8.SIZES),
        "Convolutions": lambda device: convolutions.measured(device, target, runs, None),
        "Thread blocks": lambda device: thread_blocks.measured(device, target, runs, LARGE[:2]),
        "More products": lambda device: measurements.products(
            device, target, runs, [*LARGE, *OTHER], ["float16", "float32"]
        ),
        "Gradients of attention": lambda device: gradients.measured(device, target, runs, None),
        "More models": lambda device: models.models(device, target, runs, models.REST),
        "Attention of halves": lambda device: attention.measured(device, target, runs, ["float16"]),
        "Rows": lambda device: rows.measured(device, target, runs, rows.SIZES),
        "Parts of sums": lambda device: parts.measured(device, target, runs, parts.SIZES),
        "Stream-K": lambda device: shared_tiles.measured(device, target, runs, shared_tiles.SIZES),
        "Bulk stores": lambda device: bulk_stores.measured(device, target, runs, bulk_stores.SIZES),
    }


def compile_only(target: str, runs: int, quick: bool, share: str | None, seconds: float) -> None:
    """Compile the models of all rows, or of a share of them; exit."""
    if share is not None:
        rows: list[Callable[[], Row]] = [
            measure for section in sections(target, runs, quick).values() for _, measure in section(None)
        ]
        advance.compile_share(rows, share)
    else:
        print(advance.compile_all(_arguments(target, quick), seconds))


def _arguments(target: str, quick: bool) -> list[str]:
    return ["--target", target, *["--quick"] * quick]


def run_only(name: str, target: str, runs: int) -> None:
    """The rows of that name in this process, as a sanitizer or a debugger wants them. SystemExit 1 if one is wrong."""
    device = Device()
    rows = [row for section in sections(target, runs, quick=True).values() for row in section(device)]
    found = [measure() for what, measure in rows if what == name]
    print(*found, sep="\n")
    sys.exit(0 if found and all(row.get("right", True) for row in found) else 1)


def main(
    output: Annotated[Path | None, typer.Option("--json", help="Write the rows to this file.")] = None,
    target: Annotated[str | None, typer.Option(help="What to compile for; default: the device's.")] = None,
    seconds: Annotated[float, typer.Option(help="End after so many seconds.")] = 510.0,
    runs: Annotated[int, typer.Option(min=1, help="Runs of a measurement.")] = 50,
    quick: Annotated[bool, typer.Option("--quick", help="Only small models and products.")] = False,
    only: Annotated[str | None, typer.Option(help="Only the rows of this name, in this process.")] = None,
    compile: Annotated[bool, typer.Option("--compile", help="Only compile for --target; needs no GPU.")] = False,
    share: Annotated[str | None, typer.Option(help="Only compile a share of the rows, as 0/16.", hidden=True)] = None,
) -> None:
    """Check and measure models, launches and matrix products on the GPU."""
    if share is not None or compile:
        compile_only(target or "cuda:sm_90", runs, quick, share, seconds)
        return
    with suppress(Exception):  # once for all rows' processes; it starts no driver
        import_module("torch")
    about = isolated(_about, SECONDS)
    if "failed" in about:
        print(f"no GPU: {about['failed']}. Nothing was measured.")
        sys.exit(2)
    about["target"] = target = target or checks.target_of(about["architecture"])
    if only is not None:
        run_only(only, target, runs)
    report = Report(about, seconds, output)
    print(", ".join(f"{name} {value}" for name, value in about.items()), flush=True)
    about["compiled in advance"] = advance.compile_all(_arguments(target, quick), COMPILE * seconds)
    for name, section in sections(target, runs, quick).items():
        report.add(name, section, LONGER if name in LONG else SECONDS)
    report.add("compute-sanitizer", lambda _: checks.sanitized(target), checks.SECONDS)
    sys.exit(1 if report.failures else 0)


def _about() -> Row:
    try:
        return checks.machine(Device())
    except NoDevice as error:
        return {"failed": str(error)}


if __name__ == "__main__":
    typer.run(main)
