"""Failures of the toolchain's commands: the cause, a check of the files that they make, and a reproducer."""

from __future__ import annotations

import errno
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mlc.errors import ArtifactError, ToolchainError
from mlc.runtime import elf

BITCODE, ARCHIVE = b"BC\xc0\xde", b"!<arch>\n"  # an object of clang's -flto, and what an archiver makes
MOST_LINES = 3


def fault(path: Path, arch: str, loaded: bool = False, exports: Sequence[str] = ()) -> str | None:
    """What is wrong with an object, a library or an archive that a command should have made; None: nothing.

    ``loaded``: it is a library, else an object.
    """
    if not path.is_file():
        return f"no {path.name}"
    with path.open("rb") as file:
        start = file.read(len(ARCHIVE))
    if not start:
        return f"{path.name} is empty"
    if start == ARCHIVE or start.startswith(BITCODE):
        return None
    try:
        with elf.opened(path, kind=elf.SHARED if loaded else elf.OBJECT) as image:
            return _fault_of(image, arch, exports)
    except ArtifactError as error:
        return error.message.replace(str(path), path.name)


def _fault_of(image: elf.Image, arch: str, exports: Sequence[str]) -> str | None:
    if (made := elf.machine(image)) != arch:
        return f"{image.path.name} is for {made}, not for {arch}"
    missing = [name for name in exports if name not in elf.exported_functions(image)]
    return f"{image.path.name} does not export {missing[0]}" if missing else None


def reason_of(done: subprocess.CompletedProcess[str]) -> str:
    """The output of a command about its failure, or how the command ended."""
    lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    says = [line for line in lines if "error" in line.lower()] or lines[-MOST_LINES:]
    ended = how_it_ended(done.returncode)
    return "; ".join(says[:MOST_LINES] if done.returncode > 0 else [ended, *says[: MOST_LINES - 1]]) or ended


def how_it_ended(status: int) -> str:
    """The exit status in words: of a process that a signal ended it is the negative number."""
    if status >= 0:
        return f"exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    why = ", as of no memory" if name == "SIGKILL" else ""
    return f"it was ended by {name}{why}"


def failure(
    what: str, name: Sequence[str], command: Sequence[str], folder: Path, reason: str, way_out: str = ""
) -> ToolchainError:
    """The error of a command that failed in ``folder``, whose contents are kept. ``what``: 'The C compiler'."""
    kept = _reproducer(folder, command)
    where = f"`sh {shlex.quote(f'{kept}/run.sh')}` repeats it" if kept else "The sources could not be kept: no room"
    hint = f"{where}. {way_out}" if way_out else where
    return ToolchainError(f"{what} {shlex.join(name)} failed: {reason}", stage="code", hint=hint)


def not_started(what: str, name: Sequence[str], error: OSError) -> ToolchainError:
    """The error for a command that the system cannot start."""
    hint = "Allow more open files: ulimit -n 1024" if error.errno == errno.EMFILE else "Check --cc, or $CC"
    message = f"{what} {shlex.join(name)} cannot be started: {error.strerror}"
    return ToolchainError(message, stage="code", hint=hint)


def _reproducer(folder: Path, command: Sequence[str]) -> Path | None:
    """Copy a build folder, with the failing command, to a permanent one; None if the disk is full."""
    try:
        kept = Path(tempfile.mkdtemp(prefix="mlc-reproducer-"))
        shutil.copytree(folder, kept, dirs_exist_ok=True)
        (kept / "run.sh").write_text(f'cd "$(dirname "$0")" && {shlex.join(command)}\n')
    except OSError:
        return None
    return kept
