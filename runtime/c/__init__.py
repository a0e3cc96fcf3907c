"""The C sources of the runtime, compiled into every artifact."""

from __future__ import annotations

from pathlib import Path

INCLUDE_DIR = Path(__file__).parent


def sources() -> list[Path]:
    """Every C file of the runtime, sorted; compile them with ``-I INCLUDE_DIR`` and without ``-march``."""
    return sorted(INCLUDE_DIR.glob("*.c"))
