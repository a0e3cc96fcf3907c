"""The ranks that run a program: a single rank, ranks simulated in threads, or the ranks of a launcher
(``mlc.comm``)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mlc.dialects.semantics.evaluate import Array
from mlc.errors import RunError

if TYPE_CHECKING:
    from mlc.dialects.comm.base import CommOp

NOTHING: Array = np.empty(0)
NONE: Mapping[str, int] = MappingProxyType({})


class World(Protocol):
    """A world as a collective sees it: the number of this rank, the number of ranks, and the exchange of operands for a
    result, where ``symbols`` are the extents of this rank that are known at run time only."""

    @property
    def rank(self) -> int: ...

    @property
    def ranks(self) -> int: ...

    def exchange(self, op: CommOp, x: Array | None, symbols: Mapping[str, int] = NONE) -> Array: ...


class Alone:
    """A world of one rank."""

    rank, ranks = 0, 1

    def exchange(self, op: CommOp, x: Array | None, symbols: Mapping[str, int] = NONE) -> Array:
        return op.over_all([NOTHING if x is None else x])[0]


class Numbered:
    """A rank of a job while its weights are written: it has a number, and no other rank to exchange anything with."""

    def __init__(self, rank: int, ranks: int) -> None:
        self.rank, self.ranks = rank, ranks

    def exchange(self, op: CommOp, x: Array | None, symbols: Mapping[str, int] = NONE) -> Array:
        raise RunError(f"{text(op)} is no part of a weight", hint="This is a fault of mlc: please report it")


class Meeting:
    """The meeting point of a simulation's ranks, each in a thread of its own. The last rank to arrive computes all
    results."""

    def __init__(self, ranks: int, limit: float) -> None:
        self.limit = limit
        self._at: list[tuple[CommOp | None, Array]] = [(None, NOTHING)] * ranks
        self._results: list[Array] = []
        self._error: RunError | None = None
        self._barrier = threading.Barrier(ranks, self._compute)

    def exchange(self, rank: int, op: CommOp | None, x: Array | None) -> Array | None:
        """Return the result of ``op`` on ``rank``; ``op`` is None when the rank has ended."""
        self._at[rank] = op, NOTHING if x is None else x
        try:
            self._barrier.wait(self.limit)
        except threading.BrokenBarrierError:
            raise self._error or RunError(f"Rank {rank} waits at {text(op)}, and another rank has failed") from None
        return self._results[rank] if op is not None else None

    def fail(self) -> None:
        """Release the other ranks after a rank has failed."""
        self._barrier.abort()

    def _compute(self) -> None:
        first, _ = self._at[0]
        for rank, (op, _) in enumerate(self._at):
            if not same(first, op):
                what = f"Rank 0 is at {text(first)}, and rank {rank} at {text(op)}"
                self._error = RunError(what, hint="Let all ranks come to the same collectives in the same order")
                raise self._error
        self._results = first.over_all([x for _, x in self._at]) if first is not None else []


class Simulated:
    """One rank of a simulation."""

    def __init__(self, meeting: Meeting, rank: int, ranks: int) -> None:
        self.rank, self.ranks, self._meeting = rank, ranks, meeting

    def exchange(self, op: CommOp, x: Array | None, symbols: Mapping[str, int] = NONE) -> Array:
        result = self._meeting.exchange(self.rank, op, x)
        assert result is not None
        return result


def text(op: CommOp | None) -> str:
    """Return the text of a collective for messages: ``comm.all_reduce at train.py:12``."""
    from mlc.dialects.graph.base import source_nodes

    if op is None:
        return "its end"
    where = ", ".join(source_nodes(op))
    return f"{op.name} at {where}" if where else op.name


def same(a: CommOp | None, b: CommOp | None) -> bool:
    """Return whether two ranks are at the same collective; in a simulation they run one module."""
    if a is None or b is None:
        return a is b
    return (a.name, a.properties, a.result_types) == (b.name, b.properties, b.result_types)


_simulated = threading.local()
_of_process: list[Callable[[], World]] = [Alone]


def current() -> World:
    """Return the world of this thread: the world of its simulation, else that of the process."""
    found: World | None = getattr(_simulated, "world", None)
    return found if found is not None else _of_process[0]()


def alone() -> AbstractContextManager[None]:
    """Make this thread a world of one rank: collectives return what they would return for its operands alone."""
    return _within(Alone())


def numbered(rank: int, ranks: int) -> AbstractContextManager[None]:
    """Make this thread a rank that has a number alone, whose weights are read."""
    return _within(Numbered(rank, ranks))


@contextmanager
def _within(world: World) -> Iterator[None]:
    before = getattr(_simulated, "world", None)
    _simulated.world = world
    try:
        yield
    finally:
        _simulated.world = before


def set_of_process(world: Callable[[], World]) -> None:
    """Set the function that returns the world of the process; the first collective calls it."""
    _of_process[0] = world


def simulated(ranks: int, run: Callable[[int], None], limit: float = 60.0) -> None:
    """Call ``run(rank)`` for all ranks at once, each in a thread of its own.

    Raises:
        RunError: the ranks come to different collectives; else what a rank raised.
    """
    meeting = Meeting(ranks, limit)
    errors: list[BaseException | None] = [None] * ranks

    def work(rank: int) -> None:
        _simulated.world = Simulated(meeting, rank, ranks)
        try:
            run(rank)
            meeting.exchange(rank, None, None)
        except BaseException as error:
            errors[rank] = error
            meeting.fail()

    threads = [threading.Thread(target=work, args=(rank,), name=f"mlc-rank-{rank}") for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _raise_first([each for each in errors if each is not None])


def _raise_first(errors: list[BaseException]) -> None:
    """Raise the first error that is no consequence of another rank's failure."""
    reasons = [each for each in errors if "another rank has failed" not in str(each)]
    if errors:
        raise (reasons or errors)[0]
