"""Writing results atomically: each file appears by one rename."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlc.errors import OutputError

HINTS = {
    errno.ENOSPC: "Free disk space, or choose another folder",
    errno.EDQUOT: "Free disk space, or choose another folder",
    errno.EFBIG: "Allow larger files: ulimit -f unlimited",
    errno.EMFILE: "Close files, or allow more of them: ulimit -n 1024",
    errno.ENFILE: "Close other programs: the system has no more open files",
    errno.EROFS: "Choose a folder on a disk that can be written to",
    errno.EACCES: "Choose a folder that you may write to",
}


class TemporaryFolder:
    """A folder ``name`` that is deleted by ``cleanup``, or with this object."""

    def __init__(self, prefix: str) -> None:
        self.name = tempfile.mkdtemp(prefix=prefix)
        self._end = weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)

    def cleanup(self) -> None:
        self._end()


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
    hint = HINTS.get(error.errno or 0, "Choose another folder")
    hint = hint if path.parent.is_dir() else f"Create the folder {path.parent} first"
    return OutputError(f"Cannot write {path}: {error.strerror or error}", stage="output", hint=hint)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file. OutputError if that fails."""
    with staged(path) as folder:
        (folder / "new").write_bytes(data)
        os.replace(folder / "new", path)
