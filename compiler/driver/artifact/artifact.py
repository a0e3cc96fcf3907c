"""A compiled model on disk: ``<stem>.so`` (or ``.a``, ``.o``), ``<stem>.h`` and, unless these have them,
``<stem>.weights``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import mlc
from mlc.driver.artifact.output_files import TemporaryFolder, staged
from mlc.driver.artifact.package_files import package_files
from mlc.driver.cache import digest_cache
from mlc.runtime.sealed import seal
from mlc.runtime.weights import INDEX


@dataclass(frozen=True)
class Artifact:
    """The files of one compiled model in one folder; with an ``owner``, the folder is deleted with the artifact.

    ``suffix`` is that of the library: ``.so``, or ``.a`` or ``.o`` to link it statically.
    """

    folder: Path
    stem: str
    suffix: str = ".so"
    owner: TemporaryFolder | None = None

    @classmethod
    def find(cls, folder: Path) -> Artifact:
        """The one artifact in a folder."""
        (library,) = folder.glob("*.so")
        return cls(folder, library.stem)

    @property
    def library(self) -> Path:
        return self.folder / f"{self.stem}{self.suffix}"

    @property
    def is_static(self) -> bool:
        return self.suffix != ".so"

    @property
    def files(self) -> dict[str, Path]:
        """Suffix -> path of the files that exist, weights first."""
        own = sorted(each.name.removeprefix(self.stem) for each in self.folder.glob(f"{self.stem}.*of*.weights"))
        suffixes = (*own, ".weights", INDEX, ".h", self.suffix)  # as installed: the library needs its weights
        paths = {suffix: self.folder / f"{self.stem}{suffix}" for suffix in suffixes}
        return {suffix: path for suffix, path in paths.items() if path.exists()}

    def install(self, library: Path, package: bool = False) -> list[Path]:
        """Copy the files to ``library`` and beside it, each by one rename. If that fails, raise OutputError and leave
        no file. Large weights that are there already stay: copying takes longer than all else of an artifact from the
        cache.

        ``package``: with files for CMake and pkg-config.
        """
        targets = {suffix: library.with_suffix(suffix) for suffix in self.files}
        if self.is_static and ".weights" in targets:  # a program looks for them under the model's name
            targets[".weights"] = library.with_name(f"{self.stem}.weights")
        elif self.is_static:
            targets |= {each: library.with_name(f"{self.stem}{each}") for each in targets if ".weights" in each}
        more = self._package(library) if package else {}
        with staged(library) as folder:
            new = {suffix: path for suffix, path in self.files.items() if not _is_copy(targets[suffix], path)}
            for suffix, path in new.items():
                shutil.copyfile(path, folder / f"new{suffix}")
            if not self.is_static:
                seal(folder / "new.so", library.name)
            for name, text in more.items():
                (folder / name).write_text(text)
            for suffix in new:
                os.replace(folder / f"new{suffix}", targets[suffix])
            for name in more:
                os.replace(folder / name, library.with_name(name))
        return [*targets.values(), *map(library.with_name, more)]

    def _package(self, library: Path) -> Mapping[str, str]:
        weights = f"{self.stem if self.is_static else library.stem}.weights"
        made = weights if ".weights" in self.files else None
        return package_files(library.name, self.stem, mlc.__version__, made)


def _is_copy(target: Path, path: Path) -> bool:
    """Whether a file is a copy of a large file by another name, whose digest the cache remembers."""
    size = path.stat().st_size
    if size < digest_cache.LARGE or target.is_symlink() or not os.access(target, os.R_OK):
        return False
    if not target.is_file() or target.stat().st_size != size or target.samefile(path):
        return False
    return digest_cache.of_file(target) == digest_cache.of_file(path)
