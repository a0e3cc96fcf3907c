"""Progress on stderr: from the third second on a line of a terminal says which step runs, how many there are, and since
when. ``-v`` prints every step with its time, ``-q`` nothing.
"""

from __future__ import annotations

import sys
import time
from enum import Enum
from threading import Timer
from typing import TYPE_CHECKING, Any

from mlc.driver.instrument import Instrument
from mlc.errors import visible
from mlc.tools.plain_output import unfiltered

if TYPE_CHECKING:
    from rich import progress

DELAY = 2.0  # seconds before the line appears


class Verbosity(Enum):
    """How much the command line prints on stderr beside errors: nothing, the usual, or every step."""

    QUIET = -1
    NORMAL = 0
    VERBOSE = 1


verbosity = Verbosity.NORMAL


def set_verbosity(wanted: Verbosity) -> None:
    global verbosity
    verbosity = wanted


def note(text: str) -> None:
    """A line on stderr, unless ``-q`` is given."""
    if verbosity is not Verbosity.QUIET:
        print(text, file=sys.stderr)


class Progress(Instrument):
    """An instrument that shows the running step; silent where stderr is no terminal. Use it in a ``with``."""

    reads_ir = False

    def __init__(self, text: str = "working") -> None:
        self._text, self._done, self._total = text, 0, 0
        self._start = time.monotonic()
        self._bar: progress.Progress | None = None
        self._timer = Timer(DELAY, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if sys.stderr.isatty() and verbosity is Verbosity.NORMAL:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._bar is not None:
            self._bar.stop()

    @property
    def text(self) -> str:
        """``12/38 schedule.choose-schedule``."""
        return f"{self._done}/{self._total} {self._text}" if self._total else self._text

    def expect(self, steps: int) -> None:
        self._total = self._done + steps

    def step(self, text: str) -> None:
        """Show the current step."""
        self._text = text
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], description=visible(self.text))

    def before(self, name: str, module: Any, weights: Any) -> None:
        self._done += 1
        self._start = time.monotonic()
        self.step(name)

    def after(self, name: str, module: Any, weights: Any) -> None:
        if verbosity is Verbosity.VERBOSE:
            note(f"{time.monotonic() - self._start:8.3f} s  {name}")

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
        self._bar = Bar(*columns, console=Console(file=unfiltered(sys.stderr), stderr=True), transient=True)
        self._bar.add_task(visible(self.text), total=None)
        self._bar.start()
