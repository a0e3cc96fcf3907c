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

from benchmarks.gpu.isolation import Row, in_one_process
from mlc.tools.cuda_device import Device
from mlc.tools.tables import console, table

SECONDS = 60  # of a row
RATIO = "speed of torch"
Rows = Iterator[tuple[str, Callable[[], Row]]]
Section = Callable[[Any], Rows]
"""The rows of a section, which are measured on the device that it is given; their names need none."""


class Report:
    """The rows so far; each is written as soon as it is there."""

    def __init__(self, about: Row, seconds: float, path: Path | None) -> None:
        self.end, self.path = time.monotonic() + seconds, path
        self.found: dict[str, Any] = {"about": about}

    def add(self, name: str, section: Section, limit: float = SECONDS) -> None:
        """Measure the rows of a section until the time is over, and print its table.

        Rows share a process, up to one that fails.
        """
        names, made = [what for what, _ in section(None)], self.found.setdefault(name, [])
        while len(made) < len(names):
            for row in self._rows(section, len(made), limit):
                made.append({"what": names[len(made)], **row} if row.keys() & {"failed", "left out"} else row)
                self.write()
        if made:
            self.show(name)

    def _rows(self, section: Section, first: int, limit: float) -> Iterator[Row]:
        if time.monotonic() >= self.end:
            return iter([{"left out": "no time was left"}])
        return in_one_process(lambda: (m for _, m in islice(section(Device()), first, None)), limit, self.end)

    def write(self) -> None:
        """Whole or not at all: a run that is cut off leaves the file as it was."""
        if self.path is not None:
            partial = self.path.with_name(f".{self.path.name}.partial")
            partial.write_text(json.dumps(self.found, indent=1))
            os.replace(partial, self.path)

    def show(self, section: str) -> None:
        rows = self.found[section]
        names = list(dict.fromkeys(name for row in rows for name in row))
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
        return sum("failed" in row or row.get("right") is False for row in rows)


def _text(value: Any) -> str:
    return f"{value:.2e}" if isinstance(value, float) and 0 < abs(value) < 1e-3 else "" if value is None else str(value)
