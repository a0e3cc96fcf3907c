"""Commands of the toolchain as processes, which end when this process does."""

from __future__ import annotations

import shlex
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

_running: set[subprocess.Popen[str]] = set()
_ended: list[bool] = []


def words(command: str) -> tuple[str, ...]:
    """A command as a user writes it, split as a shell does; with a quotation that does not end it is one word."""
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return (command,)


def run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder and keep what it prints.

    Raises:
        KeyboardInterrupt: it was interrupted, by Ctrl-C (which reaches every process of the terminal) or by the end of
            this process.
    """
    if _ended:
        raise KeyboardInterrupt
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, errors="replace") as process:
        _running.add(process)
        if _ended:  # meanwhile: ``end`` did not see this process
            process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate()
        finally:
            process.kill()
            _running.discard(process)
    if process.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def end() -> None:
    """This process ends: interrupt the commands that run, and start no others."""
    _ended.append(True)
    for process in list(_running):
        process.send_signal(signal.SIGINT)
