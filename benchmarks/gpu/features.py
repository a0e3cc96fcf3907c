"""Which features the schedules of a row's kernels have; rows by one that hung twice are left out.

The process that measures writes them where the one that waits for it reads them after a hang: in shared memory.
"""

from __future__ import annotations

import json
import mmap
import re
from collections import Counter
from collections.abc import Callable, Iterable

from benchmarks.gpu.isolation import Row

WORD = re.compile(r"copy=\w+|cluster=\w+|pingpong|persist|raster|streamk|mma=\w+|store=\w+|warps=[48]x1")
HUNG = "it took longer"
TWICE = 2


class LeftOut(Exception):
    """A model has a feature that has hung twice."""


class Features:
    """Of the rows of one run. Made before the processes of rows, which share ``_written`` with this one."""

    def __init__(self) -> None:
        self._written = mmap.mmap(-1, 1 << 14)
        self._proven = set[str]()
        self._hung = Counter[frozenset[str]]()
        self.clear()

    def clear(self) -> None:
        """In a row's process, before the row."""
        self._write(set())

    def use(self, schedules: Iterable[str]) -> None:
        """In a row's process, before it runs kernels of these schedules. LeftOut where one has hung twice."""
        self._write(found := self.current() | {word for text in schedules for word in WORD.findall(text)})
        for suspect, times in self._hung.items():
            if times >= TWICE and suspect <= found:
                raise LeftOut(f"kernels with {' '.join(sorted(suspect))} have hung twice")

    def current(self) -> set[str]:
        """What the row in progress, or the last one, has."""
        return set(json.loads(self._written[:].rstrip(b"\0") or b"[]"))

    def measured(self, measure: Callable[[], Row]) -> Row:
        """A row with its features; in the row's process."""
        self.clear()
        try:
            row = measure()
        except LeftOut as why:
            return {"left out": str(why)}
        return row | {"features": sorted(self.current())} if self.current() else row

    def judge(self, row: Row) -> None:
        """In the waiting process, after a row: its features are proven, or those that are not are suspects, or
        all of them together."""
        if row.get("right"):
            self._proven.update(proven := row.get("features", ()))
            for word in proven:
                self._hung.pop(frozenset([word]), None)
        elif str(row.get("failed", "")).startswith(HUNG) and (found := self.current()):
            self._hung.update([frozenset([word]) for word in found - self._proven] or [frozenset(found)])

    def _write(self, found: set[str]) -> None:
        self._written[:] = json.dumps(sorted(found)).encode().ljust(len(self._written), b"\0")


FEATURES = Features()
