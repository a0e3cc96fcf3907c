"""Ranks that are threads of this process: the collectives of compiled models without a launcher, for tests."""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from mlc.runtime.communicators import CANCEL, ERROR, SEND, TEST, VERSION, Table, use_in_thread

Key = tuple[int, int, int]  # from, to, tag


class Mail:
    """The messages under way between the ranks."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.sent: defaultdict[Key, deque[bytes]] = defaultdict(deque)


class ThreadRank:
    """One rank, which one thread is."""

    def __init__(self, mail: Mail, rank: int, ranks: int, limit: float) -> None:
        self.rank, self.ranks, self._mail = rank, ranks, mail
        self._numbers = itertools.count(1)
        self.sent = 0
        """Bytes that this rank has sent."""
        self._pending: dict[int, tuple[Key, int, int] | None] = {}  # None: a send, which has ended
        functions = SEND(self._send), SEND(self._receive), TEST(self._test), CANCEL(self._cancel), ERROR(self._error)
        self.table = Table(VERSION, rank, ranks, limit, None, *functions)

    def _send(self, _: Any, to: int, tag: int, data: int, size: int) -> int:
        self.sent += size
        with self._mail.lock:
            self._mail.sent[self.rank, to, tag].append(ctypes.string_at(data, size))
        return self._request(None)

    def _receive(self, _: Any, source: int, tag: int, data: int, size: int) -> int:
        return self._request(((source, self.rank, tag), data, size))

    def _request(self, what: tuple[Key, int, int] | None) -> int:
        number = next(self._numbers)
        self._pending[number] = what
        return number

    def _test(self, _: Any, request: int) -> int:
        what = self._pending[request]
        if what is not None:
            key, data, size = what
            with self._mail.lock:
                if not self._mail.sent[key]:
                    return 0
                message = self._mail.sent[key].popleft()
            if len(message) != size:
                del self._pending[request]
                return -1
            ctypes.memmove(data, message, size)
        del self._pending[request]
        return 1

    def _cancel(self, _: Any, request: int) -> None:
        del self._pending[request]

    def _error(self, _: Any) -> bytes:
        return b"a message has another size"


def in_threads(ranks: int, run: Callable[[int], Any], limit: float = 60.0) -> list[Any]:
    """``run(rank)`` on all ranks at once, each in a thread; the results. Models that a thread loads meet those of the
    others. What the first rank raises that fails is raised here.
    """
    mail = Mail()
    results: list[Any] = [None] * ranks
    errors: list[BaseException | None] = [None] * ranks

    def work(rank: int) -> None:
        use_in_thread(ThreadRank(mail, rank, ranks, limit))
        try:
            results[rank] = run(rank)
        except BaseException as error:
            errors[rank] = error

    threads = [threading.Thread(target=work, args=(rank,), name=f"mlc-rank-{rank}") for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        if error is not None:
            raise error
    return results
