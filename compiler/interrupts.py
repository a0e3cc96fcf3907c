"""Ctrl-C on the command line: a KeyboardInterrupt, and a little later where that would get lost or do harm.

Python raises it between any two instructions of the main thread. Two kinds of code do not pass it on: a finalizer (to
free a large module takes long, so one is often the first code that can see a signal), and the import of an extension
module, which calls Python while it initialises itself and takes an exception for its own failure.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

LATER = 0.02  # seconds
CLEANUP = 2.0  # seconds after an interrupt in which another one is none, as it would keep temporary files from deletion
_raised = [-math.inf]  # when the last one was


@contextmanager
def handled() -> Iterator[None]:
    """In the main thread, Ctrl-C is handled so during the ``with``, unless the process ignores it; a handler that is
    set meanwhile stays."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    _raised[0] = -math.inf
    hook, alarm = sys.unraisablehook, signal.signal(signal.SIGALRM, _interrupt)
    sys.unraisablehook = _again
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if signal.getsignal(signal.SIGINT) is _interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGALRM, alarm)
        sys.unraisablehook = hook


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _imports(frame):
        signal.setitimer(signal.ITIMER_REAL, LATER)
    elif number == signal.SIGALRM or time.monotonic() - _raised[0] > CLEANUP:
        _raised[0] = time.monotonic()
        raise KeyboardInterrupt


def _imports(frame: FrameType | None) -> bool:
    """Whether a module is being imported, which the stack shows by frames of Python's import system."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _again(ignored: sys.UnraisableHookArgs) -> None:
    """The hook for exceptions that a finalizer cannot pass on."""
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, LATER)
    else:
        sys.__unraisablehook__(ignored)
