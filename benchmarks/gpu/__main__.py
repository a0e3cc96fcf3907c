"""``python -m benchmarks.gpu``: checks and measures everything on this machine's GPU, in less than nine minutes.

Each row is measured in a process of its own, with a limit on its time: a kernel that crashes or hangs leaves the
others. Prints tables, and writes them as JSON after each row, so that what was measured is there if the time runs out.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.gpu import attention, checks, convolutions, float8, gradients, measurements, parts, thread_blocks
from benchmarks.gpu.isolation import Row, isolated
from mlc.tools.cuda_device import Device, NoDevice
from mlc.tools.tables import console, table

LARGE = [(n, n, n) for n in (512, 1024, 2048, 4096, 8192)]
OTHER = [(1, 4096, 4096), (16, 4096, 4096), (128, 3072, 768), (512, 768, 3072), (1000, 1000, 1000)]
SMALL = [(33, 65, 40)]
SMALL8 = [(48, 80, 64)]  # of floats of 8 bits, as torch takes multiples of 16


SECONDS = 60  # of a row
Rows = Iterator[tuple[str, Callable[[], Row]]]
Section = Callable[[Any], Rows]
"""The rows of a section, which are measured on the device that it is given; their names need none."""


class Report:
    """The rows so far; each is written as soon as it is there."""

    def __init__(self, about: Row, seconds: float, path: Path | None) -> None:
        self.end, self.path = time.monotonic() + seconds, path
        self.found: dict[str, Any] = {"about": about}

    def add(self, name: str, section: Section, limit: int = SECONDS) -> None:
        """Measure the rows of a section until the time is over, and print its table."""
        made: list[Row] = self.found.setdefault(name, [])
        for number, (what, _) in enumerate(section(None)):
            left = int(self.end - time.monotonic())
            row = isolated(_row(section, number), min(limit, left)) if left > 0 else {"left out": "no time was left"}
            made.append(row if "failed" not in row and left > 0 else {"what": what, **row})
            self.write()
        if made:
            self.show(name)

    def write(self) -> None:
        if self.path is not None:
            self.path.write_text(json.dumps(self.found, indent=1))

    def show(self, section: str) -> None:
        rows = self.found[section]
        names = list(dict.fromkeys(name for row in rows for name in row))
        made = table(section, *names)
        for row in rows:
            made.add_row(*(_text(row.get(name, "")) for name in names))
        console().print(made)

    @property
    def failures(self) -> int:
        rows = (row for section in self.found.values() if isinstance(section, list) for row in section)
        return sum("failed" in row or row.get("right") is False for row in rows)


def _text(value: Any) -> str:
    return f"{value:.2e}" if isinstance(value, float) and 0 < abs(value) < 1e-3 else "" if value is None else str(value)


def _row(section: Section, number: int) -> Callable[[], Row]:
    return lambda: next(islice(section(Device()), number, None))[1]()


def sections(target: str, runs: int, quick: bool) -> dict[str, Section]:
    """What is measured, the most telling first."""
    sizes, elements = (SMALL, ["float16"]) if quick else ([*LARGE, *OTHER], ["float16", "bfloat16"])
    return {
        "First kernel": lambda device: checks.first_kernel(device, target),
        "Models": lambda device: measurements.correctness(device, target, runs),
        "Launches": lambda device: iter([("chain", lambda: measurements.launch_cost(device, target, runs))]),
        "Products": lambda device: measurements.products(device, target, runs, sizes),
        "Floats of 8 bits": lambda device: float8.measured(device, target, runs, SMALL8 if quick else float8.SIZES),
        "Attention": lambda device: attention.measured(device, target, runs, elements),
        "Gradients of attention": lambda device: gradients.measured(device, target, runs, 1 if quick else None),
        "Convolutions": lambda device: convolutions.measured(device, target, runs, 2 if quick else None),
        "Thread blocks": lambda device: thread_blocks.measured(device, target, runs, [] if quick else LARGE[-2:]),
        "Parts of sums": lambda device: parts.measured(device, target, runs, parts.SIZES[: 1 if quick else None]),
    }


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
    quick: Annotated[bool, typer.Option("--quick", help="Only small matrix products.")] = False,
    only: Annotated[str | None, typer.Option(help="Only the rows of this name, in this process.")] = None,
) -> None:
    """Check and measure models, launches and matrix products on the GPU."""
    about = isolated(_about, SECONDS)
    if "failed" in about:
        print(f"no GPU: {about['failed']}. Nothing was measured.")
        sys.exit(2)
    about["target"] = target = target or checks.target_of(about["architecture"])
    if only is not None:
        run_only(only, target, runs)
    report = Report(about, seconds, output)
    print(", ".join(f"{name} {value}" for name, value in about.items()), flush=True)
    for name, section in sections(target, runs, quick).items():
        report.add(name, section)
    report.add("compute-sanitizer", lambda _: checks.sanitized(target), checks.SECONDS)
    sys.exit(1 if report.failures else 0)


def _about() -> Row:
    try:
        return checks.machine(Device())
    except NoDevice as error:
        return {"failed": str(error)}


if __name__ == "__main__":
    typer.run(main)
