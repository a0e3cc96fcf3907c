"""The world of a process, for the interpreter: a collective gathers all ranks' operands and applies its meaning."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping, Sequence

import numpy as np

from mlc.dialects.comm import CommOp
from mlc.dialects.comm.world import NONE, NOTHING, text
from mlc.dialects.semantics.evaluate import Array
from mlc.errors import RunError
from mlc.runtime.communicators import Communicator, Table

TAG = 0
"""Of these messages. Programs have tags of their own, so ranks that are not at one place wait up to the limit."""


class ProcessWorld:
    """The ranks of a communicator."""

    def __init__(self, communicator: Communicator) -> None:
        self.communicator = communicator
        self.rank, self.ranks = communicator.rank, communicator.ranks

    def exchange(self, op: CommOp, x: Array | None, symbols: Mapping[str, int] = NONE) -> Array:
        """The result of a collective on this rank.

        Raises:
            RunError: other ranks do not come to it within the limit; names them.
        """
        if x is None:
            return op.over_all([NOTHING] * self.ranks)[self.rank]
        table = self.communicator.table
        values = [x] if table is None else gathered(table, x, text(op), op.shapes(self.ranks, x.shape, symbols))
        return op.over_all(values)[self.rank]


def gathered(table: Table, x: Array, where: str, shapes: Sequence[tuple[int, ...]] | None = None) -> list[Array]:
    """The arrays of all ranks, which have equal types, and equal shapes unless ``shapes`` gives that of each rank."""
    mine = np.asarray(x, order="C")
    found = [mine if n == table.rank else np.empty(shapes[n] if shapes else mine.shape, mine.dtype)
             for n in range(table.ranks)]  # fmt: skip
    others = [n for n in range(table.ranks) if n != table.rank]
    receives = {n: table.receive(table.self, n, TAG, found[n].ctypes.data, found[n].nbytes)
                for n in others if found[n].nbytes}  # fmt: skip
    sends = {n: table.send(table.self, n, TAG, mine.ctypes.data, mine.nbytes) for n in others if mine.nbytes}
    missing = _waited(table, receives)
    if missing or _waited(table, sends):
        ranks = ", ".join(map(str, missing or others))
        what = (
            f"Rank {table.rank} of {table.ranks} waited {table.limit:g} s for {where}: nothing comes from rank {ranks}"
        )
        raise RunError(what, hint="Let all ranks come to the same collectives in the same order")
    return found


def _waited(table: Table, requests: dict[int, int]) -> list[int]:
    """Wait for requests up to the limit; the ranks of those that have not ended, which are cancelled."""
    end, left = time.monotonic() + table.limit, dict(requests)
    while left and time.monotonic() < end:
        done = {n: code for n, request in left.items() if (code := table.test(table.self, request))}
        if failed := [n for n, code in done.items() if code < 0]:
            reason = ctypes.string_at(table.error(table.self)).decode(errors="replace")
            raise RunError(f"A message between rank {table.rank} and rank {failed[0]} failed: {reason}")
        left = {n: request for n, request in left.items() if n not in done}
        if not done:
            time.sleep(1e-5)
    for request in left.values():
        table.cancel(table.self, request)
    return list(left)
