"""A line on a terminal's stderr that says what is going on, from the third second on."""

from __future__ import annotations

import sys
from threading import Timer
from typing import TYPE_CHECKING, Any

from mlc.instruments import Instrument

if TYPE_CHECKING:
    from rich.status import Status

DELAY = 2.0  # seconds before anything is shown


class Progress(Instrument):
    """An instrument that shows the running step; silent where stderr is no terminal. Use it in a ``with``."""

    def __init__(self, text: str = "working") -> None:
        self._text = text
        self._status: Status | None = None
        self._timer = Timer(DELAY, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._status is not None:
            self._status.stop()

    def step(self, text: str) -> None:
        """Say what is being done now."""
        self._text = text
        if self._status is not None:
            self._status.update(text)

    def before(self, name: str, module: Any, weights: Any) -> None:
        self.step(name)

    def _show(self) -> None:
        from rich.console import Console

        self._status = Console(stderr=True).status(self._text)
        self._status.start()
