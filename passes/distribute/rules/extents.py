"""Extents that are known when a program is partitioned: only these are divided."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike


def static(extent: DimLike) -> int:
    """Return an extent that is an integer; rules make no strategies for others."""
    assert isinstance(extent, int), extent
    return extent
