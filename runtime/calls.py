"""A queue of asynchronous calls. One thread runs them in order, as all calls of a model share its thread team."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Result = TypeVar("Result")


class Queue:
    """A queue of calls, whose thread starts with the first call and ends with the queue."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None

    def submit(self, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Returns the future of a call."""
        with self._lock:
            if self._executor is None:
                from concurrent.futures import ThreadPoolExecutor  # 5 ms of imports that most programs do not need

                self._executor = ThreadPoolExecutor(1, "mlc-run-async")
            return self._executor.submit(function, *arguments)
