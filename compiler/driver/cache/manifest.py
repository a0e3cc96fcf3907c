"""Manifests say what an entry of the cache should hold. Their form is checked before anything in them is believed."""

from __future__ import annotations

import fnmatch
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlc.driver.cache import digest_cache

MANIFEST = "manifest.json"
KINDS: Mapping[str, str] = {"artifacts": "*.so", "objects": "*.o", "models": "*.json", "kernels": "*.json"}
"""The kinds of entries, and the one file that each has of its kind."""


@dataclass(frozen=True)
class Manifest:
    """The files of an entry, name -> (bytes, digest), and what it is about: of an artifact, the parts of its key."""

    files: Mapping[str, tuple[int, str]]
    about: dict[str, Any]

    @property
    def bytes(self) -> int:
        return sum(size for size, _ in self.files.values())

    def matches(self, folder: Path) -> bool:
        """Whether the folder has these files, unchanged, and no others."""
        try:
            return sorted(os.listdir(folder)) == sorted([*self.files, MANIFEST]) and all(
                digest_cache.of_file(folder / name) == digest for name, (_, digest) in self.files.items()
            )
        except OSError:
            return False


def write_manifest(folder: Path, about: Mapping[str, Any]) -> Manifest:
    """Describe the files that a folder has."""
    paths = sorted(folder.iterdir())
    manifest = Manifest({p.name: (p.stat().st_size, digest_cache.of_file(p)) for p in paths}, dict(about))
    files = {name: {"bytes": size, "digest": digest} for name, (size, digest) in manifest.files.items()}
    content = {"about": manifest.about, "files": files}
    (folder / MANIFEST).write_text(json.dumps(content, indent=1, sort_keys=True))
    return manifest


def read_manifest(kind: str, folder: Path) -> Manifest | None:
    """The manifest of an entry; None where it is missing or not of the form that ``write_manifest`` gives it."""
    try:
        content = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError, RecursionError):
        return None
    files, about = (content.get(key) for key in ("files", "about")) if isinstance(content, dict) else (None, None)
    if not isinstance(files, dict) or not isinstance(about, dict) or not all(map(_is_file, files.items())):
        return None
    if len(fnmatch.filter(files, KINDS[kind])) != 1 or (kind == "artifacts" and not _is_key(about)):
        return None
    return Manifest({name: (file["bytes"], file["digest"]) for name, file in files.items()}, about)


def _is_file(item: tuple[str, Any]) -> bool:
    name, file = item
    if not isinstance(file, dict) or name in ("", ".", "..", MANIFEST) or "/" in name or "\0" in name:
        return False
    size, digest = file.get("bytes"), file.get("digest")
    return type(size) is int and size >= 0 and isinstance(digest, str)


def _is_key(about: Mapping[str, Any]) -> bool:
    """Whether a key has what commands show: the names of model and target, and the model's digest."""
    match about:
        case {"name": str(), "model": str(), "options": {"target": {"name": str()}} as options}:
            return isinstance(options.get("name"), str | None)
    return False
