"""Hashes of files (in parallel, in bounded memory) and of mlc's own sources."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
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


@cache
def of_sources() -> str:
    """The digest of every source file of the mlc packages, so that a changed compiler uses no old cache entry."""
    total = hashlib.blake2b(digest_size=32)
    for package in ("mlc", "mlc.dialects", "mlc.passes", "mlc.frontends", "mlc.runtime"):
        spec = find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or []:
            for file in _source_files(Path(folder)):
                total.update(f"{package}/{file.relative_to(folder)}\0".encode())
                total.update(file.read_bytes())
    return total.hexdigest()


def _source_files(folder: Path) -> list[Path]:
    return sorted(p for suffix in ("py", "c", "h", "in") for p in folder.rglob(f"*.{suffix}"))
