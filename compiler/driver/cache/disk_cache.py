"""A content-addressed cache on disk: objects of the C compiler, and whole artifacts.

An entry is a folder ``<root>/<kind>/<key[:2]>/<key>`` with files and a ``manifest.json`` that holds their checksums. It
appears by one rename, so a reader sees all of it or nothing. Its folders are for this user alone, and what others could
have written is not loaded. The cache is never needed: one that is read-only, full or damaged makes compilation slower,
with one warning.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mlc.driver.cache import digest_cache
from mlc.driver.cache.manifest import KINDS, MANIFEST, Manifest, read_manifest, write_manifest
from mlc.driver.cache.ownership import OTHERS_WRITE, make_private, problem, problem_of_root
from mlc.options import environment

LEDGER = "added"  # a file that grows by a byte a BLOCK of new entries: listing them all each time costs too much
BLOCK = 4096
SLACK = 8  # the cache is listed once 1/SLACK of its limit was added, and then left with that much room


@dataclass(frozen=True)
class Entry:
    """One entry: its folder, its bytes on disk and when it was last used (seconds since the epoch)."""

    kind: str
    path: Path
    bytes: int
    used: float
    about: dict[str, Any]


class Cache:
    """The cache under ``root``; with ``root`` None it is always empty."""

    def __init__(self, root: Path | None, limit: int = 10 << 30) -> None:
        self.root = root
        self.limit = limit
        self._warned = False

    @classmethod
    def default(cls) -> Cache:
        """The cache that the environment names."""
        here = environment()
        if here.homeless:
            _say_homeless()
        return cls(here.cache_dir, here.cache_bytes)

    def get(self, kind: str, key: str) -> Path | None:
        """The folder of an intact entry, marked as used now; a damaged one, or one that others could have written, is
        removed and counts as absent."""
        if self.root is None:
            return None
        folder = self._folder(kind, key)
        if not folder.exists() or not self._is_ours(kind, folder):
            return None
        if (why := _damage(kind, folder)) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            self._warn(f"entry {key[:12]} {why} and was dropped")
            return None
        _touch(folder / MANIFEST)
        return folder

    def _is_ours(self, kind: str, folder: Path) -> bool:
        """Whether no other user can replace an entry or a folder above it."""
        assert self.root is not None
        above = (self.root / kind, folder.parent)
        try:
            why = problem_of_root(self.root) or next(filter(None, map(problem, filter(Path.exists, above))), None)
        except OSError as error:
            why = str(error)
        if why:
            self._warn(why)
        return not why

    def put(self, kind: str, key: str, files: Mapping[str, Path]) -> None:
        """Copy ``files`` (name -> path) into a new entry."""
        with self.stage(kind, key) as folder:
            try:
                for name, source in files.items():
                    shutil.copyfile(source, folder / name)
            except OSError as error:
                self._warn(str(error))
            else:
                self.commit(folder, kind, key)

    @contextmanager
    def stage(self, kind: str, key: str) -> Iterator[Path]:
        """A folder to fill and then to ``commit``, deleted at the end; outside the cache if that is not writable."""
        with tempfile.TemporaryDirectory(
            prefix=".new-", dir=self._parent(kind, key), ignore_cleanup_errors=True
        ) as new:
            yield Path(new)

    def commit(self, staged: Path, kind: str, key: str, about: Mapping[str, Any] | None = None) -> Path | None:
        """Publish a staged folder as an entry, and return the entry's folder; None if the cache rejects it."""
        if self.root is None or not staged.is_relative_to(self.root):
            return None
        folder = self._folder(kind, key)
        try:
            size = _seal(staged, about or {})
            if size > self.limit - self.limit // SLACK:
                return None  # it would be pruned immediately
            _rename(staged, folder)
            self._count(size)
        except OSError as error:
            self._warn(str(error))
            return None
        return folder

    def _count(self, size: int) -> None:
        """Record that ``size`` bytes were added; prune if many were added."""
        ledger = self.root / LEDGER  # type: ignore[operator]
        with ledger.open("ab") as file:
            file.write(b"." * -(-size // BLOCK))
            added = file.tell() * BLOCK
        if added > self.limit // SLACK:
            ledger.unlink(missing_ok=True)
            self.prune(self.limit - self.limit // SLACK)

    def _parent(self, kind: str, key: str) -> Path | None:
        """The folder for an entry, created if needed; None if it is not writable."""
        if self.root is None:
            return None
        parent = self._folder(kind, key).parent
        if not self._is_ours(kind, parent / key):
            return None
        try:
            make_private(parent)
            tempfile.TemporaryFile(dir=parent).close()  # a real write: root passes every access check
        except OSError as error:
            self._warn(str(error))
            return None
        return parent

    def entries(self) -> Iterator[Entry]:
        """Every entry, in no order. Damaged ones are skipped."""
        for kind, folder, manifest in self._folders():
            with suppress(OSError):  # another process may have removed it
                if manifest is not None:
                    used = (folder / MANIFEST).stat().st_mtime
                    yield Entry(kind, folder, manifest.bytes, used, manifest.about)

    def _folders(self) -> Iterator[tuple[str, Path, Manifest | None]]:
        """Kind, folder and manifest of every entry; without one it is damaged."""
        for kind in KINDS if self.root else ():
            for folder in (self.root / kind).glob("??/[!.]*"):  # type: ignore[operator]
                yield kind, folder, read_manifest(kind, folder)

    def prune(self, limit: int | None = None) -> int:
        """Remove damaged entries, then the ones used longest ago, until at most ``limit`` bytes are left. Returns the
        bytes removed.
        """
        for _, folder, manifest in self._folders():
            if manifest is None:
                shutil.rmtree(folder, ignore_errors=True)
        limit = self.limit if limit is None else limit
        entries = sorted(self.entries(), key=lambda entry: entry.used)
        total = sum(entry.bytes for entry in entries)
        freed = 0
        for entry in entries:
            if total - freed <= limit:
                break
            shutil.rmtree(entry.path, ignore_errors=True)
            freed += entry.bytes
        return freed

    def clear(self) -> int:
        """Remove every entry and return the bytes removed."""
        freed = self.prune(-1)
        for kind in (*KINDS, digest_cache.FOLDER) if self.root else ():
            shutil.rmtree(self.root / kind, ignore_errors=True)  # type: ignore[operator]
        return freed

    def _folder(self, kind: str, key: str) -> Path:
        assert self.root is not None
        return self.root / kind / key[:2] / key

    def _warn(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(f"The compile cache {self.root} cannot be used fully: {reason}", RuntimeWarning, stacklevel=3)


@cache
def _say_homeless() -> None:
    """Say, once a process, that there is no folder for the cache."""
    text = "There is no home folder ($HOME), so nothing is cached; set MLC_CACHE_DIR to a folder of your own"
    warnings.warn(text, stacklevel=3)


def _damage(kind: str, folder: Path) -> str | None:
    """The reason why an entry cannot be used; None for an intact one."""
    manifest = read_manifest(kind, folder)
    if manifest is None:
        return "is damaged"
    try:
        if any(map(problem, [folder, folder / MANIFEST, *(folder / name for name in manifest.files)])):
            return "could have been written by others"
    except OSError:
        return "is damaged"
    return None if manifest.matches(folder) else "is damaged"


def _seal(folder: Path, about: Mapping[str, Any]) -> int:
    """Write the manifest of a filled folder and return the folder's bytes. Whatever the umask, only this user may write
    to it.
    """
    size = write_manifest(folder, about).bytes
    for path in folder.iterdir():
        path.chmod(path.stat().st_mode & 0o777 & ~OTHERS_WRITE)
    return size


def _rename(staged: Path, folder: Path) -> None:
    """Publish ``staged`` as ``folder``; if another process was first, its equal entry is kept."""
    try:
        os.rename(staged, folder)
    except OSError:
        if not folder.exists():
            raise


def _touch(path: Path) -> None:
    """Record a use; a read-only cache cannot, and need not."""
    try:
        os.utime(path)
    except OSError:
        return
