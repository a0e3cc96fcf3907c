"""A limit on what runs in C: a thread team that hangs fails the test at once and by name.

A thread in C takes no signal of Python's, so pytest-timeout cannot end it. A call that takes over ``SECONDS`` says the
test and the phase (load, run or destroy), prints where all threads are, and ends the process: with ``-n`` the test
fails, and another worker runs the rest. Compilation is not limited.
"""

from __future__ import annotations

import faulthandler
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from mlc.runtime import library, model

SECONDS = 30.0
_stderr = -1  # pytest's own; that of a test is captured


@dataclass(eq=False)
class Watchdog:
    """The calls in progress, of all threads, and a thread that looks at the oldest."""

    seconds: float = SECONDS
    calls: dict[object, tuple[str, float]] = field(default_factory=dict)

    def limited(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function``, of which each call is limited."""

        @wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            key = object()
            self.calls[key] = phase, time.monotonic()
            try:
                return function(*args, **named)
            finally:
                del self.calls[key]

        return call

    def watch(self) -> None:
        while True:
            time.sleep(0.5)
            late = [phase for phase, start in list(self.calls.values()) if time.monotonic() - start > self.seconds]
            if late:
                test = os.environ.get("PYTEST_CURRENT_TEST", "no test")
                os.write(_stderr, f"\n{test}: {late[0]} has not ended in {self.seconds:g} s\n".encode())
                faulthandler.dump_traceback(_stderr)
                os._exit(1)


WATCHDOG = Watchdog()


def limit_calls() -> None:
    """Limit all calls of models, before any test."""
    global _stderr
    _stderr = os.dup(2)
    for owner, name, phase in (
        (library.Library, "__init__", "load"),
        (library, "_release", "destroy"),
        (model.Model, "__call__", "run"),
        (model.Model, "run", "run"),
        (model.Model, "profile", "profile"),
    ):
        setattr(owner, name, WATCHDOG.limited(phase, getattr(owner, name)))
    threading.Thread(target=WATCHDOG.watch, name="watchdog", daemon=True).start()
