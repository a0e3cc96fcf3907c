"""A measurement in a process of its own: one that crashes, hangs or leaves the device unusable spoils no other."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


def isolated(work: Callable[[], Row], seconds: int) -> Row:
    """What ``work`` returns in a child process, which ends after so many seconds; else a row that says why it failed.

    The calling process must not have started the CUDA driver, which no child can use then.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _run(work, seconds, write)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    row: Row = json.loads(text) if text else {"failed": _why(status, seconds)}
    return row


def _run(work: Callable[[], Row], seconds: int, write: int) -> None:
    """Ends the process in every case, without what others registered for its end."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, within a call of the driver too
        signal.alarm(seconds)
        try:
            row = work()
        except Exception as error:
            row = {"failed": f"{type(error).__name__}: {error}"[:300]}
        with os.fdopen(write, "w") as pipe:
            pipe.write(json.dumps(row, default=float))
    finally:
        os._exit(0)


def _why(status: int, seconds: int) -> str:
    """What ended a process that wrote no row."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number == signal.SIGALRM:
        return f"it took longer than {seconds} s"
    return f"the process ended by {signal.Signals(number).name}" if number else "the process ended without a row"
