"""``python -m benchmarks.gpu.calibration ROWS.json``: fits the rates of the time of blocks to products on a GPU.

The rows are those of the section "Calibration" of ``python -m benchmarks.gpu --json ROWS.json``, on a machine with a
GPU; this needs none. Prints the estimated and the measured time of each product, tile and number of parts, and the
rates before and after. ``--json`` writes the rates.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.gpu.advance import compiled_by
from benchmarks.gpu.isolation import compiling
from benchmarks.gpu.measurements import KERNEL, on_device, product_model
from mlc import target as targets
from mlc.api import make_options
from mlc.dialects.poly import parse_schedule
from mlc.driver.sources import source_of
from mlc.passes.cost.calibration import FITTED, Sample, calibrate, error
from mlc.passes.cost.nest_time import block_time
from mlc.passes.schedule.gpu.part_numbers import PART, PARTS_SUFFIX, number_of_parts
from mlc.passes.schedule.polyhedral.statement_view import statements_of
from mlc.target import GpuTarget
from mlc.tools.cuda_device import Device
from mlc.tools.tables import console, table
from mlc.tuning.variants import Variants

SIZES = [(64, 4096, 4096), (512, 512, 4096), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096)]
TILES, NUMBERS = 6, 4  # of a product
RUNS = 50
Row = dict[str, Any]


def schedules(variants: Variants) -> Iterator[dict[str, str]]:
    """Tiles of whole sums, then numbers of parts: the schedules of the kernels of a product."""
    for number in dict.fromkeys([1, *variants.numbers(KERNEL)[:NUMBERS]]):
        variants.divide({KERNEL: number})
        chosen = {name: variants.chosen(name) for name in variants.kernels}
        first = KERNEL + PARTS_SUFFIX if number > 1 else KERNEL
        legal = (text for text in variants.candidates(first) if variants.legal(first, text))
        yield from ({**chosen, first: text} for text in islice(legal, TILES if number == 1 else 1))


def measured(device: Any, target: str, element: str) -> Iterator[tuple[str, Callable[[], Row]]]:
    """A row for each product and schedule, as those of a log: the seconds of its kernels by events of the device."""
    for size in SIZES:
        for n in range(TILES + NUMBERS):
            yield f"{'x'.join(map(str, size))}, {n}", partial(_row, device, size, n, target, element)


def _row(device: Device, size: tuple[int, int, int], n: int, target: str, element: str) -> Row:
    m, _, k = size
    a, b = (np.random.default_rng(0).normal(size=shape).astype(element) / 64 for shape in ((m, k), (k, size[1])))
    model = product_model(element, size, b.astype(element))
    with compiling():
        lines = _lines(size, target, element)[n : n + 1]
    if not lines:
        return {"left out": "there are no more schedules"}
    text = "".join(f"{name}: {line}\n" for name, line in lines[0].items())
    with compiled_by(model, {"tile": text}, target) as nets:
        seconds = on_device(device, nets["tile"], {"a": a.astype(element)}, RUNS)
    return {"element": element, "size": list(size), "schedules": lines[0], "seconds": seconds}


@cache
def _lines(size: tuple[int, int, int], target: str, element: str) -> list[dict[str, str]]:
    """The schedules of a product, which take seconds to find, and are the same for all values."""
    model = product_model(element, size, np.zeros(size[:0:-1], element))
    with tempfile.TemporaryDirectory() as folder:
        return list(schedules(Variants(source_of(model), make_options(target), Path(folder))))


def sample_of(row: Row, target: str) -> Sample:
    """The tile of a row of the log. ScheduleError where its text is no schedule."""
    gpu, (m, n, k), element = targets.get(target), row["size"], row["element"]
    assert isinstance(gpu, GpuTarget)
    model = product_model(element, (m, n, k), np.zeros((k, n), element))
    with tempfile.TemporaryDirectory() as folder:
        variants = Variants(source_of(model), make_options(target), Path(folder))
        variants.divide({KERNEL: 1})
        nests = parse_schedule(row["schedules"].get(KERNEL + PARTS_SUFFIX) or row["schedules"][KERNEL])
        band = tuple(item for item in nests[0].band if item.iterator != PART)
        tile = block_time(replace(nests[0], band=band), statements_of(variants.kernels[KERNEL])[0], gpu)
    return Sample(tile, k, m * n, number_of_parts(nests) or 1, row["seconds"])


def main(
    log: Annotated[Path, typer.Argument(help="Rows of `python -m benchmarks.gpu --json`, or a list of such rows.")],
    target: Annotated[str | None, typer.Option(help="What they were compiled for; default: as the file says.")] = None,
    output: Annotated[Path | None, typer.Option("--json", help="Write the fitted rates to this file.")] = None,
) -> None:
    """Fit the rates of the time of blocks to measured products."""
    found = json.loads(log.read_text())
    rows = found if isinstance(found, list) else found.get("Calibration", [])
    target = target or ("cuda:sm_80" if isinstance(found, list) else found["about"]["target"])
    rates = report(rows, target)
    if not rates:
        print("Nothing was measured, so nothing is fitted.")
        sys.exit(1)
    if output is not None:
        output.write_text(json.dumps(rates, indent=1) + "\n")


def report(logged: list[Row], target: str) -> Row:
    """Print estimates beside times, and the rates: those that fit, none without rows."""
    rows = [row for row in logged if row.get("seconds")]
    if not rows:
        return {}
    gpu, samples = targets.get(target), [sample_of(row, target) for row in rows]
    assert isinstance(gpu, GpuTarget)
    found = calibrate(samples, gpu)
    made = table("Products", "product", "tile", ">parts", ">measured ms", ">estimated", ">fitted")
    for row, each in zip(rows, samples, strict=True):
        times = (each.seconds, each.estimated(gpu), each.estimated(found))
        size, tile = "x".join(map(str, row["size"])), f"{each.tile.rows}x{each.tile.columns}"
        made.add_row(size, tile, str(each.parts), *(f"{1e3 * seconds:.4f}" for seconds in times))
    console().print(made)
    rates = {name: getattr(found, name) for name in FITTED}
    made = table("Rates", "rate", ">before", ">fitted")
    for name, rate in rates.items():
        made.add_row(name, f"{getattr(gpu, name):g}", f"{rate:.4g}")
    console().print(made)
    print(
        f"estimates are a factor of {2 ** error(samples, gpu):.2f} off before, {2 ** error(samples, found):.2f} fitted"
    )
    return rates


if __name__ == "__main__":
    typer.run(main)
