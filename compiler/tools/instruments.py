"""Instruments around each pass: IR dumps, times and op counts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlc.driver.artifact.output_files import output_error, write_bytes
from mlc.driver.instrument import Instrument
from mlc.tools.tables import table

if TYPE_CHECKING:
    from rich.table import Table
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Region


class DumpIR(Instrument):
    """Writes the module after each pass to ``<folder>/NNN-<pass>.mlir``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise output_error(folder, error) from error

    def after(self, name: str, module: ModuleOp | None, weights: Any) -> None:
        if module is not None:
            write_bytes(self.folder / f"{self.count:03d}-{name}.mlir", (str(module) + "\n").encode())
            self.count += 1


@dataclass(frozen=True)
class Step:
    """One pass that ran: seconds, and the number of operations before and after it."""

    name: str
    seconds: float
    ops_before: int
    ops_after: int

    @property
    def stage(self) -> str:
        return self.name.split(".")[0]


class Timer(Instrument):
    """Collects a ``Step`` for each pass; counting operations is not in the time."""

    reads_ir = False

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._module: ModuleOp | None = None
        self._ops = 0  # of the module
        self._start = 0.0

    def before(self, name: str, module: ModuleOp | None, weights: Any) -> None:
        if module is not self._module:
            self._module, self._ops = module, _count(module)
        self._start = time.perf_counter()

    def after(self, name: str, module: ModuleOp | None, weights: Any) -> None:
        seconds = time.perf_counter() - self._start
        before, self._module, self._ops = self._ops, module, _count(module)
        self.steps.append(Step(name, seconds, before, self._ops))

    def stages(self) -> dict[str, float]:
        """Seconds a stage, in order."""
        totals: dict[str, float] = {}
        for step in self.steps:
            totals[step.stage] = totals.get(step.stage, 0.0) + step.seconds
        return totals

    def report(self) -> Table:
        """A row a pass: time, share, operations and how their number changed."""
        total = sum(step.seconds for step in self.steps) or 1.0
        rows = table("Time by pass", "pass", ">ms", ">share", ">ops", ">change")
        for step in self.steps:
            change = step.ops_after - step.ops_before
            share = f"{step.seconds / total:.1%}"
            rows.add_row(
                step.name, f"{1e3 * step.seconds:.1f}", share, str(step.ops_after), f"{change:+d}" if change else ""
            )
        rows.add_row("total", f"{1e3 * total:.1f}", "", "", "", end_section=True)
        return rows


def _count(module: ModuleOp | None) -> int:
    """The operations of a module: without a generator for each, which took a tenth of the time of all passes."""
    return 0 if module is None else 1 + sum(_count_inside(region) for region in module.regions)


def _count_inside(region: Region) -> int:
    count = 0
    for block in region.blocks:
        op = block.first_op
        while op is not None:
            count += 1 + sum(map(_count_inside, op.regions)) if op.regions else 1
            op = op.next_op
    return count
