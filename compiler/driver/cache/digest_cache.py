"""A cache of the digests of large files, valid until a file changes.

A file is known by its inode, size, and the times of its last change: that of the inode no program can set back. So a
model of 400 MB costs a compilation that finds its artifact no half second of hashing.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
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
    before = stamp_of(path.stat())
    if before[2] < LARGE:
        return digest.of_file(path)
    name = f"{before[0]:x}-{before[1]:x}"
    return remembered(name, before, lambda: digest.of_file(path), lambda: stamp_of(path.stat()) == before)


def remembered(name: str, stamp: Stamp, make: Callable[[], str], unchanged: Callable[[], bool] = lambda: True) -> str:
    """The digest that was noted under ``name`` for this stamp, else that of ``make``; it is noted if the stamp is old
    enough to be trusted, and what it is of ``unchanged`` meanwhile.
    """
    root = environment().cache_dir
    if root is None:
        return make()
    note = root / FOLDER / f"{name}.json"
    known = _read(note)
    if known is not None and known[0] == stamp:
        return known[1]
    found = make()
    if unchanged() and _settled(stamp):
        _write(note, stamp, found)
    return found


def stamp_of(status: os.stat_result) -> Stamp:
    """What tells a file and its last change: device, inode, size, and the times of change of contents and inode."""
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _settled(stamp: Stamp) -> bool:
    tick = TICK if stamp[-1] % 1_000_000 else COARSE  # whole milliseconds: a file system with coarse time stamps
    return time.time_ns() - max(stamp[-2:]) > tick


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
        with suppress(OSError):  # the cache may lie below a file
            new.unlink()
