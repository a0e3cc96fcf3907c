"""Hashes of bytes and files, in parallel and in bounded memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CHUNK = 16 << 20
WORKERS = min(4, os.cpu_count() or 1)


def of_bytes(data: bytes) -> str:
    """Hex digest of a two-level BLAKE2b tree over 16 MiB chunks; hashlib lets the chunks run in parallel."""
    view = memoryview(data)
    return _tree(lambda start: view[start : start + CHUNK], len(view))


def of_file(path: Path) -> str:
    """``of_bytes`` of a file's contents, read a chunk at a time."""
    with path.open("rb") as file:
        handle = file.fileno()
        return _tree(lambda start: os.pread(handle, CHUNK, start), os.fstat(handle).st_size)


def _tree(chunk: Callable[[int], bytes | memoryview], length: int) -> str:
    def leaf(start: int) -> bytes:
        return hashlib.blake2b(chunk(start), digest_size=32).digest()

    starts = range(0, length, CHUNK)
    if len(starts) < 2:
        leaves = [leaf(start) for start in starts]
    else:
        with ThreadPoolExecutor(WORKERS) as pool:
            leaves = list(pool.map(leaf, starts))
    return hashlib.blake2b(b"".join(leaves), digest_size=32, person=b"mlc-tree").hexdigest()
