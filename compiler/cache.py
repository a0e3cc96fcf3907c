"""A content-addressed cache on disk: objects of the C compiler, and whole artifacts.

An entry is a folder ``<root>/<kind>/<key[:2]>/<key>`` with files and a ``manifest.json`` that holds their checksums. It
appears by one rename, so a reader sees all of it or nothing. The cache is never needed: one that is read-only, full or
damaged makes compilation slower, with one warning.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlc import stamps
from mlc.options import environment

MANIFEST = "manifest.json"
KINDS = ("artifacts", "objects", "models")
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
    """The cache under ``root``; with ``root`` None nothing is ever found or kept."""

    def __init__(self, root: Path | None, limit: int = 10 << 30) -> None:
        self.root = root
        self.limit = limit
        self._warned = False

    @classmethod
    def default(cls) -> Cache:
        """The cache that the environment names."""
        here = environment()
        return cls(here.cache_dir, here.cache_bytes)

    def get(self, kind: str, key: str) -> Path | None:
        """The folder of an intact entry, marked as used now; a damaged one is removed and counts as absent."""
        if self.root is None:
            return None
        folder = self._folder(kind, key)
        if not folder.exists():
            return None
        manifest = _manifest(folder)
        if manifest is None or not _intact(folder, manifest):
            shutil.rmtree(folder, ignore_errors=True)
            self._warn(f"entry {key[:12]} is damaged and was dropped")
            return None
        _touch(folder / MANIFEST)
        return folder

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
        """A folder to fill, then to ``commit``, gone at the end; outside the cache where that cannot be written."""
        with tempfile.TemporaryDirectory(
            prefix=".new-", dir=self._parent(kind, key), ignore_cleanup_errors=True
        ) as new:
            yield Path(new)

    def commit(self, staged: Path, kind: str, key: str, about: Mapping[str, Any] | None = None) -> Path | None:
        """Publish a staged folder as an entry, whose folder is returned; None if the cache does not take it."""
        if self.root is None or not staged.is_relative_to(self.root):
            return None
        folder = self._folder(kind, key)
        try:
            size = _seal(staged, dict(about or {}))
            if size > self.limit - self.limit // SLACK:
                return None  # it would be pruned at once
            _rename(staged, folder)
            self._count(size)
        except OSError as error:
            self._warn(str(error))
            return None
        return folder

    def _count(self, size: int) -> None:
        """Record that ``size`` bytes were added; prune if they are many."""
        ledger = self.root / LEDGER  # type: ignore[operator]
        with ledger.open("ab") as file:
            file.write(b"." * -(-size // BLOCK))
            added = file.tell() * BLOCK
        if added > self.limit // SLACK:
            ledger.unlink(missing_ok=True)
            self.prune(self.limit - self.limit // SLACK)

    def _parent(self, kind: str, key: str) -> Path | None:
        """The folder that an entry goes into, made if need be; None if there is none that can be written."""
        if self.root is None:
            return None
        parent = self._folder(kind, key).parent
        try:
            parent.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=parent).close()  # asks the file system itself: root passes every access check
        except OSError as error:
            self._warn(str(error))
            return None
        return parent

    def entries(self) -> Iterator[Entry]:
        """Every entry, in no order. Folders without a readable manifest are skipped."""
        for kind in KINDS if self.root else ():
            for manifest in (self.root / kind).glob(f"??/[!.]*/{MANIFEST}"):  # type: ignore[operator]
                if (content := _manifest(manifest.parent)) is not None:
                    sizes = sum(file["bytes"] for file in content["files"].values())
                    yield Entry(kind, manifest.parent, sizes, manifest.stat().st_mtime, content["about"])

    def prune(self, limit: int | None = None) -> int:
        """Remove the entries used longest ago until at most ``limit`` bytes are left; the bytes removed."""
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
        """Remove every entry; the bytes removed."""
        freed = self.prune(-1)
        for kind in (*KINDS, stamps.FOLDER) if self.root else ():
            shutil.rmtree(self.root / kind, ignore_errors=True)  # type: ignore[operator]
        return freed

    def _folder(self, kind: str, key: str) -> Path:
        assert self.root is not None
        return self.root / kind / key[:2] / key

    def _warn(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(f"The compile cache {self.root} cannot be used fully: {reason}", RuntimeWarning, stacklevel=3)


def _seal(folder: Path, about: dict[str, Any]) -> int:
    """Write the manifest of a filled folder; the bytes in it."""
    sizes = {file.name: file.stat().st_size for file in sorted(folder.iterdir())}
    files = {name: {"bytes": size, "digest": stamps.of_file(folder / name)} for name, size in sizes.items()}
    (folder / MANIFEST).write_text(json.dumps({"about": about, "files": files}, indent=1, sort_keys=True))
    folder.chmod(0o755)  # mkdtemp's 0700 would keep a shared cache from being shared
    return sum(sizes.values())


def _rename(staged: Path, folder: Path) -> None:
    """Publish ``staged`` as ``folder``; when another process was first, its equal entry stays."""
    try:
        os.rename(staged, folder)
    except OSError:
        if not folder.exists():
            raise


def _manifest(folder: Path) -> dict[str, Any] | None:
    try:
        content = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and {"files", "about"} <= content.keys() else None


def _intact(folder: Path, manifest: dict[str, Any]) -> bool:
    try:
        return all(stamps.of_file(folder / name) == file["digest"] for name, file in manifest["files"].items())
    except OSError:
        return False


def _touch(path: Path) -> None:
    """Record a use; a read-only cache cannot, and need not."""
    try:
        os.utime(path)
    except OSError:
        return
