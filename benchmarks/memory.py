"""Memory of the calling process, from /proc (getrusage would count that of the parent before exec)."""

from __future__ import annotations

import re
from pathlib import Path


def _status(field: str) -> int:
    match = re.search(rf"^{field}:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert match, f"/proc/self/status has no {field}"
    return int(match[1]) * 1024


def resident_bytes() -> int:
    """The resident memory now."""
    return _status("VmRSS")


def peak_bytes() -> int:
    """The largest resident memory since the process began to run its program."""
    return _status("VmHWM")
