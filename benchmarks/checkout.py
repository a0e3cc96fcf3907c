"""A revision of mlc beside the installed one: its sources in a folder from which processes import `mlc`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("dialects", "passes", "frontends", "runtime")


def check_out(side: str, folder: Path) -> Path:
    """Fill `folder` with the packages `mlc` and `benchmarks` of a side: a git revision, or the folder of a source tree.

    Raises ValueError if there is no such revision or folder.
    """
    if Path(side).is_dir():
        for part in ("compiler", "benchmarks", *PACKAGES):
            shutil.copytree(Path(side) / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        archive = subprocess.run(["git", "archive", side], cwd=ROOT, capture_output=True)
        if archive.returncode:
            raise ValueError(f"{side!r} is neither a folder nor a git revision")
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    (folder / "compiler").rename(folder / "mlc")
    for part in PACKAGES:
        (folder / part).rename(folder / "mlc" / part)
    return folder


def environment(folder: Path | None) -> dict[str, str]:
    """The environment of a process that imports `mlc` and `benchmarks` from a folder which `check_out` filled.

    Without a folder it imports those of this process.
    """
    return dict(os.environ) if folder is None else {**os.environ, "PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1"}
