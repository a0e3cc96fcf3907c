"""Planted faults: patches of one slip each, with a header that says what slips and which tests see it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SEEN_BY = "Seen by: "


@dataclass(frozen=True)
class Fault:
    """A patch; ``files``: what it changes; ``tests``: files, folders or pytest's ids of those that should see it."""

    path: Path
    files: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        """Stage and fault: ``fuse/reach-through-older-groups``."""
        return self.path.relative_to(HERE).with_suffix("").as_posix()

    def nearby(self) -> list[str]:
        """The lit and unit tests of the folders that the patch changes, those of the innermost folder first."""
        folders = [f"test/{kind}/{folder}" for file in self.files for folder in list(Path(file).parents)[:-1]
                   for kind in ("filecheck", "unit")]  # fmt: skip
        return [folder for folder in dict.fromkeys(folders) if (HERE.parents[1] / folder).is_dir()]


def read(path: Path) -> Fault:
    """The fault that a patch describes."""
    header, _, diff = path.read_text().partition("\n--- ")
    tests = [line.removeprefix(SEEN_BY).split() for line in header.splitlines() if line.startswith(SEEN_BY)]
    files = re.findall(r"^\+\+\+ b/(\S+)", diff, re.M)
    return Fault(path, tuple(files), tuple(test for line in tests for test in line))


def faults(wanted: list[str]) -> list[Fault]:
    """Those whose name contains one of ``wanted``, or all."""
    found = [read(path) for path in sorted(HERE.glob("*/*.patch"))]
    return [fault for fault in found if not wanted or any(each in fault.name for each in wanted)]
