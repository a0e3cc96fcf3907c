"""``python -m benchmarks.gpu``: checks and measures everything on this machine's GPU, in five minutes.

All models are compiled first, by all processors. Rows are measured in processes of their own, with a limit on the time
of each: a kernel that crashes or hangs leaves the others. Prints tables, and writes them as JSON after each row, so
that what was measured is there if the time runs out. ``--smoke`` checks each feature alone, in a minute.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.gpu import advance, checks, sections
from benchmarks.gpu.calibration import report as fitted
from benchmarks.gpu.clocks import clocks
from benchmarks.gpu.examine import examined
from benchmarks.gpu.isolation import Row, isolated
from benchmarks.gpu.report import SECONDS, Report, Section
from mlc.tools.cuda_device import Device, NoDevice

LIMITS = {
    "First kernel": 8.0, "Smoke": 8.0, "Training": 40.0, "More models": 30.0, "Beside torch.compile": 100.0,
}  # fmt: skip
"""Seconds of a row, where not those of others: kernels of smoke rows take no second, compilers of peers many."""
MOST = {"Calibration": 0.15, "Models": 0.15}
"""The part of the time that a section has, where not all."""
COMPILE = 0.25  # of the time, at most, to compile models in advance


def chosen(target: str, runs: int, what: str) -> dict[str, Section]:
    """The sections of ``smoke``, ``calibrate``, ``quick``, or all."""
    if what == "smoke":
        return sections.smoking(target)
    if what == "calibrate":
        return sections.calibrating(target)
    return sections.small(target, runs) if what == "quick" else sections.whole(target, runs)


def named(found: dict[str, Section], names: str | None) -> dict[str, Section]:
    """The sections of these names, divided by commas, in this order. SystemExit for a name that no section has."""
    if names is None:
        return found
    wanted = [name.strip() for name in names.split(",")]
    if unknown := [name for name in wanted if name not in found]:
        sys.exit(f"No section is named {', '.join(unknown)}. There are: {', '.join(found)}")
    return {name: found[name] for name in wanted}


def compile_only(found: dict[str, Section], share: str | None, arguments: list[str], seconds: float) -> None:
    """Compile the models of all rows, or of a share of them; exit."""
    if share is not None:
        rows = [measure for section in found.values() for _, measure in section(None)]
        advance.compile_share(rows, share)
    else:
        print(advance.compile_all(arguments, seconds))


def _arguments(target: str, what: str) -> list[str]:
    return ["--target", target, *[f"--{what}"] * (what != "all")]


def run_only(name: str, target: str, runs: int, what: str) -> None:
    """The rows of that name in this process, as a sanitizer or a debugger wants them. SystemExit 1 if one is wrong."""
    device = Device()
    rows = [row for section in chosen(target, runs, what).values() for row in section(device)]
    found = [measure() for each, measure in rows if each == name]
    print(*found, sep="\n")
    sys.exit(0 if found and all(row.get("right", True) for row in found) else 1)


def measure_named(report: Report, found: dict[str, Section]) -> None:
    """These sections alone; nothing is compiled in advance."""
    report.clocks = clocks
    for name, section in found.items():
        report.add(name, section, LIMITS.get(name, SECONDS))


def measure(report: Report, target: str, runs: int, what: str, seconds: float) -> None:
    """All sections. Models of the smoke rows are compiled and checked before those of others are compiled."""
    report.examine, report.clocks = (lambda name, hung: examined(name, target, hung)), clocks
    about, smoked = report.found["about"], what in ("smoke", "all", "quick")
    if smoked:
        about["smoke compiled"] = advance.compile_all(_arguments(target, "smoke"), COMPILE * seconds)
        for name, section in sections.smoking(target).items():
            report.add(name, section, LIMITS[name])
    report.examine = None
    if what != "smoke":
        about["compiled in advance"] = advance.compile_all(_arguments(target, what), COMPILE * seconds)
    for name, section in chosen(target, runs, what).items():
        if name not in report.found:
            report.add(name, section, LIMITS.get(name, SECONDS), MOST.get(name, 1.0) * seconds)
        if name == "Calibration":
            report.found["rates"] = isolated(lambda: fitted(report.found["Calibration"], target), 60)
            report.write()
    if what in ("all", "quick"):
        report.add("compute-sanitizer", lambda _: checks.sanitized(target), checks.SECONDS)


def main(
    output: Annotated[Path | None, typer.Option("--json", help="Write the rows to this file.")] = None,
    target: Annotated[str | None, typer.Option(help="What to compile for; default: the device's.")] = None,
    minutes: Annotated[float | None, typer.Option(help="End after so many; default: 5, of --smoke 1.5.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs of a measurement.")] = 50,
    smoke: Annotated[bool, typer.Option("--smoke", help="Only each feature alone.")] = False,
    calibrate: Annotated[bool, typer.Option("--calibrate", help="Only the calibration of rates.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Only small models and products.")] = False,
    only: Annotated[str | None, typer.Option(help="Only the rows of this name, in this process.")] = None,
    names: Annotated[
        str | None, typer.Option("--sections", help="Only these, as 'Attention,Models'; nothing is compiled before.")
    ] = None,
    compile: Annotated[bool, typer.Option("--compile", help="Only compile for --target; needs no GPU.")] = False,
    share: Annotated[str | None, typer.Option(help="Only compile a share of the rows, as 0/16.", hidden=True)] = None,
) -> None:
    """Check and measure models, launches and matrix products on the GPU."""
    what = "smoke" if smoke else "calibrate" if calibrate else "quick" if quick else "all"
    seconds = 60 * (minutes or (1.5 if smoke else 5.0))
    if share is not None or compile:
        target = target or "cuda:sm_90"
        arguments = [*_arguments(target, what), *(["--sections", names] if names else [])]
        compile_only(named(chosen(target, runs, what), names), share, arguments, seconds)
        return
    with suppress(Exception):  # once for all rows' processes; it starts no driver
        import_module("torch")
    report = Report(about := isolated(_about, SECONDS), seconds, output)
    report.write()
    if "failed" in about:
        print(f"no GPU: {about['failed']}. Nothing was measured.")
        sys.exit(2)
    about["target"] = target = target or checks.target_of(about["architecture"])
    if only is not None:
        run_only(only, target, runs, what if smoke else "quick")
    print(", ".join(f"{name} {value}" for name, value in about.items()), flush=True)
    if names is not None:
        measure_named(report, named(chosen(target, runs, what), names))
    else:
        measure(report, target, runs, what, seconds)
    sys.exit(1 if report.failures else 0)


def _about() -> Row:
    try:
        return checks.machine(Device()) | clocks()
    except NoDevice as error:
        return {"failed": str(error)}


if __name__ == "__main__":
    typer.run(main)
