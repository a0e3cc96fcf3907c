"""Functions that find and copy an artifact's files: each copy appears whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from mlc.errors import ArtifactError
from mlc.runtime.elf import GIVE, LINUX
from mlc.runtime.sealed import seal
from mlc.runtime.weights import files_of_ranks

STATIC = (".a", ".o", ".c")


def existing(path: str | PathLike[str]) -> Path:
    """Returns the resolved path of an artifact. Raises ArtifactError if it is no file."""
    try:
        resolved = Path(path).resolve()
        if resolved.is_file():
            return resolved
        problem = "is not a file" if resolved.exists() else "does not exist"
    except (OSError, ValueError, RuntimeError) as error:  # a NUL in the path, or a loop of links
        problem = f"cannot be read: {error}"
    except TypeError:
        problem = "is no path"
    foreign = str(path).endswith((".dll", ".dylib"))
    raise ArtifactError(f"{path} {problem}", hint=LINUX if foreign else GIVE)


def copy_artifact(library: Path, weights: Path | None, target: Path, ranks: int = 0) -> None:
    """Copies library, weights and header to ``target`` and the files beside it. ``ranks``: there is a weights file for
    each of so many ranks, and an index of them.

    The library is copied last, as it needs the others. The weights get the target's stem, under which the loader looks
    first; the library's SONAME becomes the name of its file. Raises ArtifactError.
    """
    if target.suffix in STATIC:
        message = f"A loaded model is a shared library and cannot be written as {target}"
        raise ArtifactError(message, hint=f"Use 'mlc compile MODEL.onnx -o {target.name}'")
    if target.name == "mlc.so":
        message = f"A library '{target}' would be imported by 'import mlc' in its folder, in place of the package"
        raise ArtifactError(message, hint="Give it another name")
    header = library.with_suffix(".h")
    if weights is not None and ranks:
        stem = weights.with_name(weights.name.rpartition(f"of{ranks}.weights")[0].rpartition(".")[0] + ".weights")
        for old, new in zip(files_of_ranks(stem, ranks), files_of_ranks(target, ranks), strict=True):
            replace_file(old, new)
    elif weights is not None:
        replace_file(weights, target.with_suffix(".weights"))
    if header.exists():
        replace_file(header, target.with_suffix(".h"))
    replace_file(library, target, lambda copy: seal(copy, target.name))


def replace_file(source: Path, target: Path, change: Callable[[Path], None] = lambda copy: None) -> None:
    """Copies contents and mode to a temporary file in the target's folder, changes that file, then renames it. Raises
    ArtifactError."""
    try:
        if target.exists() and source.samefile(target):
            return
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:32]}-", dir=target.parent)
        os.close(handle)
    except OSError as error:
        raise ArtifactError(f"Cannot write {target}: {error.strerror}") from None
    try:
        shutil.copy(source, temporary)
        change(Path(temporary))
        os.replace(temporary, target)
    except OSError as error:
        raise ArtifactError(f"Cannot copy {source} to {target}: {error.strerror}") from None
    finally:
        Path(temporary).unlink(missing_ok=True)
