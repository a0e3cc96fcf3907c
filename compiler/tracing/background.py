"""Compilation in the background: one daemon thread, for which the end of the process does not wait.

When the process ends, the pass that runs is the last one and the C compiler is interrupted. isl calls Python back from
C++, through which a thread must not be ended: so the pass is waited for, some milliseconds.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, TypeVar

from mlc.driver.instrument import Instrument
from mlc.driver.toolchain import processes

T = TypeVar("T")
Work = tuple["Future[Any]", Callable[[], Any]]
LONGEST_WAIT = 0.5  # seconds, at the end of the process, for the pass that runs


class ProcessEnds(BaseException):
    """Ends a compilation. Not an Exception, which would be a bug in mlc to report."""


class Cancellation(Instrument):
    """Ends the compilation before its next pass once the process ends; ``outside`` is set while no pass runs."""

    reads_ir = False

    def __init__(self) -> None:
        self.ending, self.outside = threading.Event(), threading.Event()
        self.outside.set()

    def before(self, name: str, module: Any, weights: Any) -> None:
        if name == "code.compile":
            self.outside.set()
        else:
            self.outside.clear()
        if self.ending.is_set():
            self.outside.set()
            raise ProcessEnds


cancellation = Cancellation()
watchers: list[Instrument] = []
"""Who else hears of the steps of compilations, in the thread that compiles."""
_queue: SimpleQueue[Work] = SimpleQueue()
_lock = threading.Lock()
_thread: list[threading.Thread] = []


@contextmanager
def watched(instrument: Instrument) -> Iterator[None]:
    """An instrument hears of all compilations within the ``with``."""
    watchers.append(instrument)
    try:
        yield
    finally:
        watchers.remove(instrument)


def submit(work: Callable[[], T]) -> Future[T]:
    """The future of ``work()``, which watches ``cancellation``; one at a time, in order."""
    future: Future[T] = Future()
    with _lock:
        if not _thread:
            _thread.append(threading.Thread(target=_run, name="mlc-compile", daemon=True))
            _thread[0].start()
            # Before the thread pools of the process are closed, which would wait for the C compiler.
            getattr(threading, "_register_atexit", atexit.register)(_end)
    _queue.put((future, work))
    return future


def _run() -> None:
    while True:
        future, work = _queue.get()
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)
        cancellation.outside.set()
        del future, work  # what they hold must not live until the next


def _end() -> None:
    cancellation.ending.set()
    processes.end()
    cancellation.outside.wait(LONGEST_WAIT)
