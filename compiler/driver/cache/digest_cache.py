"""A cache of the digests of large files, valid until a file changes.

A file is known by its inode, size, and the times of its last change: that of the inode no program can set back. So a
model of 400 MB costs a compilation that finds its artifact no half second of hashing.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from mlc.driver.cache import digest
from mlc.driver.cache.ownership import make_private, problem
from mlc.options import environment

FOLDER = "digests"
LARGE = 16 << 20  # bytes; hashing a smaller file takes no longer than a lookup
TICK, COARSE = 100_000_000, 3_000_000_000  # ns within which two changes of a file can have equal time stamps

Stamp = list[int]


def of_file(path: Path) -> str:
    """``digest.of_file``, which raises the same OSErrors."""
    before = _stamp(path)
    note = _note(before)
    if note is None:
        return digest.of_file(path)
    known = _read(note)
    if known is not None and known[0] == before:
        return known[1]
    found = digest.of_file(path)
    if _stamp(path) == before and _settled(before):
        _write(note, before, found)
    return found


def _stamp(path: Path) -> Stamp:
    status = path.stat()
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _settled(stamp: Stamp) -> bool:
    tick = TICK if stamp[-1] % 1_000_000 else COARSE  # whole milliseconds: a file system with coarse time stamps
    return time.time_ns() - max(stamp[-2:]) > tick


def _note(stamp: Stamp) -> Path | None:
    """The path where the digest of a large file is kept; None without a cache."""
    root = environment().cache_dir
    return root / FOLDER / f"{stamp[0]:x}-{stamp[1]:x}.json" if root and stamp[2] >= LARGE else None


def _read(note: Path) -> tuple[Stamp, str] | None:
    try:
        if problem(note.parent) or problem(note):
            return None  # others can write it
        content = json.loads(note.read_text())
        return content["stamp"], str(content["digest"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write(note: Path, stamp: Stamp, found: str) -> None:
    """Write by a rename; a cache that cannot be written is skipped."""
    new = note.with_name(f".{note.name}.{os.getpid()}")
    try:
        make_private(note.parent)
        new.write_text(json.dumps({"stamp": stamp, "digest": found}))
        new.chmod(0o600)
        new.replace(note)
    except OSError:
        new.unlink(missing_ok=True)
