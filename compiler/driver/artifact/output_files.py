"""Writing results atomically: each file appears by one rename."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlc.errors import OutputError


@contextmanager
def staged(path: Path) -> Iterator[Path]:
    """A temporary folder on the file system of ``path``; an OSError in the ``with`` becomes an OutputError about
    ``path``."""
    try:
        with tempfile.TemporaryDirectory(prefix=".mlc-", dir=path.parent, ignore_cleanup_errors=True) as folder:
            yield Path(folder)
    except OSError as error:
        raise output_error(path, error) from error


def output_error(path: Path, error: OSError) -> OutputError:
    """The error for a failed write."""
    exists = path.parent.is_dir()
    hint = "Free disk space, or choose another folder" if exists else f"Create the folder {path.parent} first"
    return OutputError(f"Cannot write {path}: {error.strerror or error}", stage="output", hint=hint)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file. OutputError if that fails."""
    with staged(path) as folder:
        (folder / "new").write_bytes(data)
        os.replace(folder / "new", path)
