"""Data for training: batches by the number of the step, so that a resumed run goes on with the next one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from copy import copy
from itertools import count
from queue import Full, Queue
from typing import Any, TypeVar

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array import trees

T = TypeVar("T")
Start = Callable[[int], Iterator[Any]]
"""The batches from a step on."""


class ArrayData:
    """Batches of arrays (a tree of them), in another random order for each epoch; without end.

    The batch of a step follows from the seed and the number of the step alone. A rest of an epoch that does not fill a
    batch is left out.

    Raises:
        InputError: arrays of different lengths, or fewer elements than a batch has.
    """

    def __init__(self, arrays: Any, batch_size: int, seed: int = 0, shuffle: bool = True) -> None:
        self.arrays = trees.tree_map(np.asarray, arrays)
        self.batch_size, self.seed, self.shuffle = batch_size, seed, shuffle
        self._rank, self._ranks = 0, 1
        lengths = {len(each) for each in trees.leaves(self.arrays)}
        if len(lengths) != 1:
            what = f"Arrays of the lengths {sorted(lengths)} do not go together: one element is one row of each"
            raise InputError(what, hint="Give arrays of one length")
        (self.length,) = lengths
        if not 1 <= batch_size <= self.length:
            what = f"Batches of {batch_size} of {self.length} elements: there would be none"
            raise InputError(what, hint="Give 1 to the length")

    @property
    def steps_per_epoch(self) -> int:
        return self.length // self.batch_size

    def part(self, rank: int, ranks: int) -> ArrayData:
        """The rows of each batch that one of several ranks reads.

        Raises:
            InputError: the ranks do not divide a batch evenly.
        """
        if self.batch_size % ranks:
            what = f"Batches of {self.batch_size} elements for {ranks} ranks have no equal parts"
            raise InputError(what, hint="Give a batch size that the number of ranks divides")
        made = copy(self)
        made._rank, made._ranks = rank, ranks
        return made

    def __call__(self, start: int) -> Iterator[Any]:
        """The batches from a step on."""
        epoch, skipped = divmod(start, self.steps_per_epoch)
        size = self.batch_size // self._ranks
        for number in count(epoch):
            order = self._order(number)
            for n in range(skipped, self.steps_per_epoch):
                first = n * self.batch_size + self._rank * size
                rows = order[first : first + size]
                yield trees.tree_map(lambda x, rows=rows: x[rows], self.arrays)
            skipped = 0

    def once(self) -> Iterator[Any]:
        """Every row once, in order: the last batch may be smaller, and all are where that makes them equal."""
        size = even_size(self.length, self.batch_size)
        for first in range(0, self.length, size):
            yield trees.tree_map(lambda x, first=first: x[first : first + size], self.arrays)

    def _order(self, epoch: int) -> np.ndarray[Any, Any]:
        if not self.shuffle:
            return np.arange(self.length)
        return np.random.Generator(np.random.Philox(key=[self.seed, epoch])).permutation(self.length)


def even_size(length: int, most: int) -> int:
    """The size of batches, more than half of ``most``, that divides a length; ``most`` where there is none. Batches of
    one size need one program."""
    return next((n for n in range(most, most // 2, -1) if length % n == 0), most)


def prefetched(items: Iterator[T], size: int = 2) -> Iterator[T]:
    """The same items, which another thread makes while this one works; ``size``: how many at most wait."""
    queue: Queue[tuple[bool, Any]] = Queue(size)
    ended = threading.Event()

    def put(item: tuple[bool, Any]) -> None:
        while not ended.is_set():
            try:
                queue.put(item, timeout=0.1)
                return
            except Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put((True, item))
                if ended.is_set():
                    return
            put((False, None))
        except BaseException as error:  # raised where the items are used
            put((False, error))

    threading.Thread(target=work, name="mlc-prefetch", daemon=True).start()
    try:
        while True:
            is_item, value = queue.get()
            if is_item:
                yield value
            elif value is not None:
                raise value
            else:
                return
    finally:
        ended.set()
