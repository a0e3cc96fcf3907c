"""The digest of mlc's own sources, so that a changed compiler uses no old entry of the cache.

Reading 1,400 files takes longer than all else that a compilation from the cache does. So the digest is remembered by
what the system says of the files: names, sizes, inodes and times of change.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec

from mlc.driver.cache import digest, digest_cache

PACKAGES = ("mlc", "mlc.dialects", "mlc.passes", "mlc.frontends", "mlc.runtime")
SUFFIXES = (".py", ".c", ".h", ".in")

File = tuple[str, str, os.stat_result]
"""The name of a source file within mlc, its path, and its status."""


@cache
def of_sources() -> str:
    """The digest of every source file of the mlc packages."""
    files = sorted(_files(), key=lambda file: file[0])
    stamps = [digest_cache.stamp_of(status) for _, _, status in files]
    listed = digest.of_bytes("\n".join(f"{file[1]} {at}" for file, at in zip(files, stamps, strict=True)).encode())
    latest = [max(times) for times in zip(*(at[-2:] for at in stamps), strict=True)]
    name = f"mlc-{digest.of_bytes(os.path.dirname(files[0][1]).encode())[:16]}"  # one for each installation
    return digest_cache.remembered(name, [int(listed, 16), *latest], lambda: _digest(files))


def _digest(files: Iterable[File]) -> str:
    total = hashlib.blake2b(digest_size=32)
    for name, path, _ in files:
        total.update(f"{name}\0".encode())
        with open(path, "rb") as file:
            total.update(file.read())
    return total.hexdigest()


def _files() -> Iterator[File]:
    for package in PACKAGES:
        spec = find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or []:
            yield from _files_below(folder, package)


def _files_below(folder: str, name: str) -> Iterator[File]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files_below(entry.path, f"{name}/{entry.name}")
            elif entry.name.endswith(SUFFIXES):
                yield f"{name}/{entry.name}", entry.path, entry.stat()
