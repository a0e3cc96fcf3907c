"""Compilations of one source, one at a time: the ranks of a job on one host, or threads, begin the same one at once.

The first compiles, and the others find its artifact in the cache. A lock file serves threads and processes alike, and
the system releases the lock of a process that ends in any way.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from mlc.driver.cache.disk_cache import Cache
from mlc.driver.cache.ownership import make_private, problem

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

FOLDER = "locks"
PATIENCE, PAUSE = 60.0, 0.02  # seconds; who has waited as long compiles beside a process that is stopped or slow
_held = threading.local()


@contextmanager
def one_at_a_time(cache: Cache, key: str) -> Iterator[bool]:
    """Whether another thread or process has compiled ``key`` while this one waited. Without a cache that can be
    written, and within another such compilation (two that wait for each other would not end), nothing waits.
    """
    file = None if getattr(_held, "lock", False) else _opened(cache, key)
    if file is None:
        yield False
        return
    with file:
        waited = _locked(file)
        _held.lock = True
        try:
            yield waited
        finally:
            _held.lock = False
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)


def _opened(cache: Cache, key: str) -> IO[bytes] | None:
    """One of 256 files, so that they need not be removed."""
    if cache.root is None or fcntl is None:
        return None
    folder = cache.root / FOLDER
    try:
        make_private(folder)
        return None if problem(folder) else open(folder / key[:2], "ab", opener=_without_links)
    except OSError:
        return None  # the cache warns where it is written


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _locked(file: IO[bytes]) -> bool:
    """Take the lock, and say whether another had it; go on without one after ``PATIENCE``, or where files have none."""
    end, waited = time.monotonic() + PATIENCE, False
    while time.monotonic() < end:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waited = True
            time.sleep(PAUSE)
        except OSError:
            break
        else:
            break
    return waited
