"""A roofline plot: `python -m benchmarks.roofline [MODEL...] -o FILE.svg`, or `--results FILE` of a comparison.

Of models it shows the kernels, profiled in this process, the area of a point its share of the time; of a comparison it
shows each model as a whole, for every engine. What has no multiply-adds has no place on it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import onnx
import typer

from benchmarks import results
from benchmarks.cases import Case, select
from benchmarks.models import random_inputs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RUNS = 10
LABELLED = 24  # names; more than these cover each other


@dataclass(frozen=True)
class Point:
    """Work on the plot: operations a byte, GFLOP/s, and its part of the time of its group."""

    group: str
    name: str
    intensity: float
    gflops: float
    share: float = 0.1


def kernels(case: Case, threads: int) -> Iterator[Point]:
    """The kernels of a model, each with the median time of its launches."""
    import mlc

    path, dims = case.file(), case.dims[0]
    net, inputs = mlc.compile(path, threads=threads), random_inputs(onnx.load(path), 0, dims)
    net.run(inputs)
    profiles = [net.profile(**inputs) for _ in range(RUNS)]
    seconds = np.median([[ns for _, ns in profile] for profile in profiles], axis=0) / 1e9
    for (kernel, _), time in zip(profiles[0], seconds, strict=True):
        if kernel["flops"] and time:
            intensity, gflops = kernel["flops"] / kernel["bytes"], kernel["flops"] / time / 1e9
            yield Point(case.name, kernel["name"], intensity, gflops, time / seconds.sum())


def whole(comparison: results.Comparison) -> Iterator[Point]:
    """Each model of a comparison, for each engine that ran it."""
    for result in comparison.results:
        for engine in result.latency.rounds if result.gflop else ():
            intensity, gflops = result.gflop * 1e9 / result.traffic, result.gflop / result.latency.median(engine)
            yield Point(engine, result.model, intensity, gflops)


def draw(points: list[Point], flops: float, bandwidth: float, file: Path) -> None:
    """Write the plot; the suffix of the file says the format."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel="FLOP / byte of inputs, outputs and weights", ylabel="GFLOP/s")
    _roof(axes, points, flops, bandwidth)
    for group in dict.fromkeys(point.group for point in points):
        members = [point for point in points if point.group == group]
        x, y, areas = zip(*((p.intensity, p.gflops, 20 + 400 * p.share) for p in members), strict=True)
        axes.scatter(x, y, areas, label=group, alpha=0.6)
    labels = {point.name: point for point in reversed(points)}  # the first of those of one name
    for point in labels.values() if len(labels) <= LABELLED else ():
        place = {"xytext": (3, 3), "textcoords": "offset points", "fontsize": 7}
        axes.annotate(point.name, (point.intensity, point.gflops), **place)
    axes.legend()
    figure.savefig(file)


def _roof(axes: Axes, points: list[Point], flops: float, bandwidth: float) -> None:
    ridge, spread = flops / bandwidth, [point.intensity for point in points]
    x = np.array([min([ridge / 10, *spread]), ridge, max([ridge * 10, *spread])])
    label = f"{flops / 1e9:.0f} GFLOP/s, {bandwidth / 1e9:.1f} GB/s, measured"
    axes.plot(x, np.minimum(x * bandwidth, flops) / 1e9, color="black", label=label)


def _cases(names: list[str]) -> list[Case]:
    try:
        return select(names)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Models whose kernels to show.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="FILE.svg or FILE.png.")] = Path("roofline.svg"),
    comparison: Annotated[list[Path] | None, typer.Option("--results", exists=True, help="JSON of compare.")] = None,
    threads: Annotated[int, typer.Option(help="Threads that run the kernels.")] = 2,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the points here too.")] = None,
) -> None:
    """Plot GFLOP/s against arithmetic intensity, under the measured peak and bandwidth."""
    from mlc.tools.peak import measure_peak

    if bool(names) == bool(comparison):
        raise typer.BadParameter("give either models or --results")
    if comparison:
        found = results.load(comparison)
        points, flops, bandwidth = list(whole(found)), found.machine["flops"], found.machine["bandwidth"]
    else:
        peak = measure_peak(threads)
        points, flops, bandwidth = [], peak.flops, peak.bytes
        for case in _cases(names or []):
            points += kernels(case, threads)
    draw(points, flops, bandwidth, output)
    if json_file:
        data = {"flops": flops, "bandwidth": bandwidth, "points": [asdict(point) for point in points]}
        json_file.write_text(json.dumps(data, indent=1))


if __name__ == "__main__":
    typer.run(main)
