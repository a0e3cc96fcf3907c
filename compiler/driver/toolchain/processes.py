"""Commands of the toolchain as processes, which end when this process does."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from mlc.driver.toolchain.failures import reason_of
from mlc.errors import visible

PATIENCE = 60.0  # seconds for an answer of no work; a compiler in a wheel unpacks itself first
LONGEST_END = 0.5  # seconds in which an interrupted compiler ends

_running: set[subprocess.Popen[str]] = set()
_ended: list[bool] = []


def words(command: str) -> tuple[str, ...]:
    """A command as a user writes it, split as a shell does; the path of a program with spaces is one word, and so is a
    quotation that does not end. Programs are found from this folder, whatever folder they run in.
    """
    try:
        found = (command,) if shutil.which(command) else tuple(shlex.split(command))
    except ValueError:
        found = (command,)
    return tuple(_from_here(word, n == 0) for n, word in enumerate(found)) or (command,)


def _from_here(word: str, is_program: bool) -> str:
    if is_program and (place := shutil.which(word)) is not None and not os.path.isabs(place):
        return os.path.abspath(place)
    return os.path.abspath(word) if word.startswith(("./", "../")) and os.path.exists(word) else word


def answer(command: Sequence[str]) -> list[str] | str:
    """The lines that a command prints (at least one), or a text that says why there are none."""
    done = asked(command)
    if isinstance(done, str):
        return done
    lines = [visible(line) for line in done.stdout.splitlines() if line.strip()]
    return lines or f"`{shlex.join(command)}` prints nothing"


def asked(command: Sequence[str]) -> subprocess.CompletedProcess[str] | str:
    """The finished command, if it succeeds within ``PATIENCE``, or a text that says why it does not."""
    try:
        with _started(command) as process:
            try:
                out, err = process.communicate(timeout=PATIENCE)
            finally:
                _signal(process, signal.SIGKILL)
    except subprocess.TimeoutExpired:
        return f"`{shlex.join(command)}` does not end in {PATIENCE:g} s"
    except (OSError, ValueError) as error:  # ValueError: a NUL
        return getattr(error, "strerror", None) or str(error)
    done = subprocess.CompletedProcess(command, process.returncode, out, err)
    return reason_of(done) if done.returncode else done


def _started(command: Sequence[str], folder: Path | None = None) -> subprocess.Popen[str]:
    """Start a process in a new process group, so that its children (gcc's compiler proper) end with it."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, errors="replace",
        process_group=0,
    )  # fmt: skip


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Send a signal to a process and its group, unless it has been waited for: its number may belong to another process
    then.
    """
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


class Stopping:
    """Stops the commands of a build, and keeps it from starting others, where the ``with`` ends by an exception."""

    def __init__(self) -> None:
        self.stopped = False
        self.running: set[subprocess.Popen[str]] = set()

    def __enter__(self) -> Stopping:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.stopped = True
            _interrupt(self.running)


def run(command: Sequence[str], folder: Path, build: Stopping | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder and keep what it prints.

    Raises:
        KeyboardInterrupt: it was interrupted, by Ctrl-C (which reaches every process of the terminal), by the end of
            this process, or as its build is stopped.
        OSError: it cannot be started.
    """
    build = build or Stopping()
    if _ended or build.stopped:
        raise KeyboardInterrupt
    with _started(command, folder) as process:
        _running.add(process)
        build.running.add(process)
        if _ended or build.stopped:  # meanwhile: ``end`` did not see this process
            _signal(process, signal.SIGINT)
        try:
            out, err = process.communicate()
        finally:
            _signal(process, signal.SIGKILL)
            _running.discard(process)
            build.running.discard(process)
    if process.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def end() -> None:
    """Interrupt the running commands and start no others, because this process ends: until they are gone they write to
    folders that are removed next.
    """
    _ended.append(True)
    running, last = list(_running), time.monotonic() + LONGEST_END
    _interrupt(running)
    while any(map(_is_alive, running)) and time.monotonic() < last:
        time.sleep(0.002)


def _is_alive(process: subprocess.Popen[str]) -> bool:
    """Whether a process, or one that it has started, runs."""
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except OSError:
        return False
    return True


def _interrupt(processes: Iterable[subprocess.Popen[str]]) -> None:
    for process in list(processes):
        _signal(process, signal.SIGINT)
