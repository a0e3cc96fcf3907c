"""Functions that load a shared library into the process, after a check that it is an intact artifact for this
machine."""

from __future__ import annotations

import ctypes
import shutil
import tempfile
import threading
from pathlib import Path

from mlc.errors import ArtifactError
from mlc.runtime import elf, sealed

_PREFIX_MARK = "_abi_version"


def find_prefix(path: Path) -> str:
    """Returns the prefix of the library's functions, after a check that the library can be loaded."""
    with elf.opened(path) as image:
        elf.check_machine(image)
        marked = [name for name in elf.exported_functions(image) if name.endswith(_PREFIX_MARK)]
        sealed.check(image)
    if len(marked) != 1:
        raise ArtifactError(f"{path} is not an mlc artifact", hint=elf.GIVE)
    return marked[0].removesuffix(_PREFIX_MARK)


_opened: dict[str, tuple[int, int]] = {}
_opened_lock = threading.Lock()


def open_library(path: Path) -> ctypes.CDLL:
    """Loads a library.

    The dynamic loader knows libraries by path. So a file that replaced a library which may still be loaded is loaded
    from a private copy; otherwise the old code would run.
    """
    status = path.stat()
    identity = status.st_dev, status.st_ino
    with _opened_lock:
        replaced = _opened.setdefault(str(path), identity) != identity
    try:
        return _open_copy(path) if replaced else ctypes.CDLL(str(path))
    except OSError as error:
        raise ArtifactError(f"Cannot load {path}: {error}") from None


def _open_copy(path: Path) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="mlc-") as folder:
        return ctypes.CDLL(shutil.copy(path, folder))
