"""Copying an artifact's files: each appears whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from mlc.runtime.errors import ArtifactError


def copy_artifact(library: Path, weights: Path | None, target: Path) -> None:
    """Copies library, weights and header to ``target`` and the files beside it.

    The library comes last, as it needs the others. The weights get the target's stem, where the loader looks first.
    Raises ArtifactError.
    """
    header = library.with_suffix(".h")
    if weights is not None:
        replace_file(weights, target.with_suffix(".weights"))
    if header.exists():
        replace_file(header, target.with_suffix(".h"))
    replace_file(library, target)


def replace_file(source: Path, target: Path) -> None:
    """Copies contents and mode to a temporary file in the target's folder, then renames it. Raises ArtifactError."""
    try:
        if target.exists() and source.samefile(target):
            return
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
        os.close(handle)
    except OSError as error:
        raise ArtifactError(f"Cannot write {target}: {error.strerror}") from None
    try:
        shutil.copy(source, temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise ArtifactError(f"Cannot copy {source} to {target}: {error.strerror}") from None
    finally:
        Path(temporary).unlink(missing_ok=True)
