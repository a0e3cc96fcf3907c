"""``python -m benchmarks.gpu.calibration``: fits the rates of the time of blocks to products measured on this GPU.

Prints the estimated and the measured time of each product, tile and number of parts, and the rates before and after.
``--log`` keeps what was measured, as JSON, and takes it again where there is no GPU; ``--json`` writes the rates.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import mlc
from benchmarks.gpu.checks import target_of
from benchmarks.gpu.measurements import KERNEL, product_model
from mlc import target as targets
from mlc.api import make_options
from mlc.dialects.poly import parse_schedule
from mlc.driver.artifact.output_files import write_bytes
from mlc.driver.sources import source_of
from mlc.errors import MlcError
from mlc.passes.schedule.gpu.block_time import block_time
from mlc.passes.schedule.gpu.part_numbers import PART, PARTS_SUFFIX, number_of_parts
from mlc.passes.schedule.polyhedral.statement_view import statements_of
from mlc.target import GpuTarget
from mlc.target.calibration import FITTED, Sample, calibrate, error
from mlc.tools.cuda_device import Device, NoDevice
from mlc.tools.tables import console, table
from mlc.tuning.measure import MODEL, sample
from mlc.tuning.variants import Variants

SIZES = [(64, 4096, 4096), (512, 512, 4096), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096)]
TILES, NUMBERS = 6, 4  # of a product
Row = dict[str, Any]


def schedules(variants: Variants) -> Iterator[dict[str, str]]:
    """Tiles of whole sums, then numbers of parts: the schedules of the kernels of a product."""
    for number in dict.fromkeys([1, *variants.numbers(KERNEL)[:NUMBERS]]):
        variants.divide({KERNEL: number})
        chosen = {name: variants.chosen(name) for name in variants.kernels}
        first = KERNEL + PARTS_SUFFIX if number > 1 else KERNEL
        legal = (text for text in variants.candidates(first) if variants.legal(first, text))
        yield from ({**chosen, first: text} for text in islice(legal, TILES if number == 1 else 1))


def measured(target: str, element: str) -> Iterator[Row]:
    """The log: a row for each product and schedule, with the seconds of its kernels by events of the device."""
    for m, n, k in SIZES:
        a, b = (np.random.default_rng(0).normal(size=shape).astype(element) / 64 for shape in ((m, k), (k, n)))
        model = product_model(element, (m, n, k), b.astype(element))
        with tempfile.TemporaryDirectory() as folder:
            variants = Variants(source_of(model), make_options(target), Path(folder))
            for lines in schedules(variants):
                file = Path(folder) / "schedule"
                file.write_text("".join(f"{name}: {text}\n" for name, text in lines.items()))
                try:
                    with mlc.compile(model, target=target, schedule=str(file)) as net:
                        seconds = sample(net, {"a": a.astype(element)}, 0.05)[MODEL] / 1e9
                except MlcError as error:
                    print(f"{m}x{n}x{k}, {lines[next(iter(lines))]}: {error}", flush=True)
                    continue
                yield {"element": element, "size": [m, n, k], "schedules": lines, "seconds": seconds}


def logged(rows: Iterator[Row], log: Path | None, seconds: float) -> list[Row]:
    """The rows that are measured in so many seconds; the log has each as soon as it is there."""
    end, found = time.monotonic() + seconds, []
    for row in rows:
        found.append(row)
        if log is not None:
            write_bytes(log, json.dumps(found, indent=1).encode())
        if time.monotonic() > end:
            print(f"the time is over: {len(found)} products and schedules were measured")
            break
    return found


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
    target: Annotated[
        str | None, typer.Option(help="What to compile for; default: the device's, for a log cuda:sm_80.")
    ] = None,
    element: Annotated[str, typer.Option(help="float16 or float32.")] = "float16",
    log: Annotated[
        Path | None, typer.Option(help="Keep the measured times here, or take those that are there.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--json", help="Write the fitted rates to this file.")] = None,
    seconds: Annotated[float, typer.Option(help="Measure so long at most.")] = 480.0,
) -> None:
    """Fit the rates of the time of blocks to measured products."""
    if log is not None and log.exists():
        target, rows = target or "cuda:sm_80", json.loads(log.read_text())
    else:
        try:
            target = target or target_of(Device().architecture)
        except NoDevice as why:
            print(f"no GPU: {why} Give --log FILE with times of another machine.")
            sys.exit(2)
        rows = logged(measured(target, element), log, seconds)
    if not rows:
        print("Nothing was measured, so nothing is fitted.")
        sys.exit(1)
    report(rows, target, output)


def report(rows: list[Row], target: str, output: Path | None) -> None:
    """Print estimates beside times and the rates; write these."""
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
    if output is not None:
        output.write_text(json.dumps(rates, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
