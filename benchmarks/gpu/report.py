"""The rows of ``python -m benchmarks.gpu``: measured section by section, shown as tables, written as they come."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.gpu.features import FEATURES, HUNG
from benchmarks.gpu.isolation import LATE, Row, in_one_process
from mlc.tools.cuda_device import Device
from mlc.tools.tables import console, table

SECONDS = 15  # of a row, without the compilation of its models
HIDDEN = ("features", "schedules", "memory MHz", "°C", "held down")  # columns that are in the file alone
NAMING = {"product", "model", "element"}  # columns that name a row as ``what`` does
EXAMINED, EXAMINATION = 3, 60  # rows of a run at most; seconds that must be left for one
RATIO = "speed of torch"
Rows = Iterator[tuple[str, Callable[[], Row]]]
Section = Callable[[Any], Rows]
"""The rows of a section, which are measured on the device that it is given; their names need none."""


class Report:
    """The rows so far; each is written as soon as it is there."""

    def __init__(self, about: Row, seconds: float, path: Path | None) -> None:
        self.end, self.path = time.monotonic() + seconds, path
        self.found: dict[str, Any] = {"about": about}
        self.examine: Callable[[str, bool], Row] | None = None  # of the name of a row, and whether it has hung
        self.clocks: Callable[[], Row] = dict
        self._examined = 0

    def add(self, name: str, section: Section, limit: float = SECONDS, most: float = math.inf) -> None:
        """Measure the rows of a section until its time, ``most`` seconds, or the whole time is over; print its table.

        Rows share a process, up to one that fails.
        """
        names, made = [what for what, _ in section(None)], self.found.setdefault(name, [])
        end = min(self.end, time.monotonic() + most)
        while len(made) < len(names):
            for row in self._rows(section, len(made), limit, end):
                made.append({"what": names[len(made)], **row})
                FEATURES.judge(row)
                self._examine(made[-1], names[len(made) - 1])
                self.write()
        if made:
            self.show(name)

    def _rows(self, section: Section, first: int, limit: float, end: float) -> Iterator[Row]:
        if time.monotonic() >= end:
            return iter([{"left out": LATE}])

        def measures() -> Iterator[Callable[[], Row]]:
            for _, measure in islice(section(Device()), first, None):
                yield lambda measure=measure: {**FEATURES.measured(measure), **self.clocks()}  # type: ignore[misc]

        return in_one_process(measures, limit, end)

    def _examine(self, row: Row, name: str) -> None:
        """What has failed is examined where ``examine`` is there, and time is left."""
        wrong, left = is_wrong(row), self.end - time.monotonic()
        if wrong and self.examine is not None and self._examined < EXAMINED and left > EXAMINATION:
            self._examined += 1
            self.write()
            row.update(self.examine(name, HUNG in str(row.get("failed"))))

    def write(self) -> None:
        """Whole or not at all: a run that is cut off leaves the file as it was."""
        if self.path is not None:
            partial = self.path.with_name(f".{self.path.name}.partial")
            partial.write_text(json.dumps(self.found, indent=1))
            os.replace(partial, self.path)

    def show(self, section: str) -> None:
        rows = self.found[section]
        names = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in HIDDEN]
        if all(row.keys() & NAMING and not row.keys() & {"failed", "left out"} for row in rows):
            names.remove("what")
        made = table(section, *names)
        for row in rows:
            made.add_row(*(_text(row.get(name, "")) for name in names))
        console().print(made)
        if len(ratios := [row[RATIO] for row in rows if row.get(RATIO)]) > 1:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"{section}: {mean:.3f} of torch's speed, the geometric mean of {len(ratios)}", flush=True)

    @property
    def failures(self) -> int:
        rows = (row for section in self.found.values() if isinstance(section, list) for row in section)
        return sum(map(is_wrong, rows))


def is_wrong(row: Row) -> bool:
    return ("failed" in row and row["failed"] != LATE) or row.get("right") is False


def _text(value: Any) -> str:
    return f"{value:.2e}" if isinstance(value, float) and 0 < abs(value) < 1e-3 else "" if value is None else str(value)
