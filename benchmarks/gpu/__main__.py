"""``python -m benchmarks.gpu``: checks and measures everything on this machine's GPU, in less than nine minutes.

Prints tables, and writes them as JSON after each row, so that what was measured is there if the time runs out.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.gpu import attention, measurements, parts
from mlc.tools.cuda_device import Device, NoDevice
from mlc.tools.tables import console, table

LARGE = [(n, n, n) for n in (512, 1024, 2048, 4096, 8192)]
OTHER = [(1, 4096, 4096), (16, 4096, 4096), (128, 3072, 768), (512, 768, 3072), (1000, 1000, 1000)]
SMALL = [(33, 65, 40)]


class Report:
    """The rows so far; each is written as soon as it is there."""

    def __init__(self, device: Device, target: str, seconds: float, path: Path | None) -> None:
        self.end, self.path = time.monotonic() + seconds, path
        about = {"device": device.name, "architecture": device.architecture, "CUDA": device.version, "target": target}
        self.found: dict[str, Any] = {"about": about}

    def add(self, section: str, rows: Iterator[tuple[str, Callable[[], dict[str, Any]]]]) -> None:
        """Measure the rows of a section until the time is over, and print its table."""
        made: list[dict[str, Any]] = self.found.setdefault(section, [])
        for name, measure in rows:
            if time.monotonic() > self.end:
                made.append({"what": name, "left out": "no time was left"})
                continue
            try:
                made.append(measure())
            except Exception as error:  # a row that fails leaves the others
                made.append({"what": name, "failed": f"{type(error).__name__}: {error}"[:300]})
            self.write()
        self.write()
        self.show(section)

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


def main(
    output: Annotated[Path | None, typer.Option("--json", help="Write the rows to this file.")] = None,
    target: Annotated[str, typer.Option(help="What to compile for.")] = "cuda",
    seconds: Annotated[float, typer.Option(help="Start no measurement after so many seconds.")] = 500.0,
    runs: Annotated[int, typer.Option(min=1, help="Runs of a measurement.")] = 50,
    quick: Annotated[bool, typer.Option("--quick", help="Only small matrix products.")] = False,
) -> None:
    """Check and measure models, launches and matrix products on the GPU."""
    try:
        device = Device()
    except NoDevice as error:
        print(f"no GPU: {error}. Nothing was measured.")
        sys.exit(2)
    report = Report(device, target, seconds, output)
    print(", ".join(f"{name} {value}" for name, value in report.found["about"].items()))
    report.add("Models", measurements.correctness(device, target, runs))
    report.add("Launches", iter([("chain", lambda: measurements.launch_cost(device, target, runs))]))
    sizes = SMALL if quick else [*LARGE, *OTHER]
    report.add("Products", measurements.products(device, target, runs, sizes))
    report.add("Thread blocks", measurements.thread_blocks(device, target, runs, [] if quick else LARGE[-2:]))
    report.add("Parts of sums", parts.measured(device, target, runs, parts.SIZES[: 1 if quick else None]))
    report.add("Attention", attention.measured(device, target, runs, ["float16"] if quick else ["float16", "bfloat16"]))
    sys.exit(1 if report.failures else 0)


if __name__ == "__main__":
    typer.run(main)
