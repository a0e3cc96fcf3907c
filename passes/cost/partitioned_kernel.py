"""A kernel in parallel loop partitioning: the iterators by which its largest nest can be partitioned, and how each
choice partitions its buffers and its threads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from mlc.dialects import kernel
from mlc.dialects.poly import LoopNest, Partition, ScheduleAttr, TiledLoop, schedule_of
from mlc.dialects.semantics.dims import Dim, DimLike, product
from mlc.dialects.types import bytes_of
from mlc.passes.cost.load_imbalance import load_imbalance, seconds, tiles_of
from mlc.passes.schedule.polyhedral.statement_view import Access, statements_of
from mlc.target import CpuTarget

Period = int | None
"""The number of elements after which the partition of an array repeats: the rows of an image are partitioned in each
channel. None: every thread reads the whole array."""


@dataclass(eq=False)
class PartitionedKernel:
    """A kernel's nests, the iterators by which its largest nest can be partitioned, and the chosen iterator."""

    fn: kernel.FuncOp
    target: CpuTarget

    def __post_init__(self) -> None:
        self.statements = {s.name: s for s in statements_of(self.fn)}
        self.nests = schedule_of(self.fn)
        self.main = max(self.nests, key=self._points)
        self.choices = list(self._choices())
        self.chosen = self.default = next(iter(self.choices), None)
        self.periods, self.replicated_bytes = cache(self._periods), cache(self._replicated_bytes)
        self.idle_seconds = cache(self._idle_seconds)
        self.seconds = seconds(self.fn, self.target)

    def _points(self, nest: LoopNest) -> int:
        bounds = self.statements[nest.statements[0]].bounds.values()
        return math.prod(b if isinstance(b, int) else 1 for b in bounds)

    def _choices(self) -> Iterator[str]:
        """Yield the iterators of the largest nest that have several tiles, outermost first; the vectorized iterator
        only if it is the first."""
        if self.main.serial or self.main.partitions:
            yield from (split.iterator for split in self.main.partitions[:1])
            return
        bounds = self.statements[self.main.statements[0]].bounds
        wide = [i for i in self.main.band if tiles_of(i, bounds[i.iterator]) > 1]
        yield from (i.iterator for i in wide if not i.vectorized or i is wide[0])  # no cache line is divided

    def _periods(self, iterator: str | None) -> dict[int, Period]:
        """Return the periods of the buffers that the largest nest accesses, and the nests that are partitioned already,
        by the buffers' numbers."""
        found: dict[int, Period] = {}
        for nest in (n for n in self.nests if n is self.main or n.partitions):
            along = nest.partitions[0].iterator if nest.partitions else iterator
            for s in (self.statements[name] for name in nest.statements):
                buffers = [a for a in (*s.reads, s.write) if a.array.startswith("b")]
                found |= {int(a.array[1:]): period(a, along, s.bounds[along]) if along else None for a in buffers}
        return found

    def share(self, argument: int) -> Period:
        """Return the period of a buffer under the current choice."""
        return self.periods(self.chosen).get(argument)

    def write(self) -> None:
        if self.chosen is None or self.chosen == self.default:
            return
        wanted = self.periods(self.chosen)
        nests = [n if n.partitions else replace(n, partitions=self._splits(n, wanted)) for n in self.nests]
        self.fn.schedule = ScheduleAttr(nests)

    def _splits(self, nest: LoopNest, wanted: dict[int, Period]) -> tuple[Partition, ...]:
        """Return the partition of a nest that partitions its result as the largest nest partitions the same array; ()
        if there is none."""
        members = [self.statements[s] for s in nest.statements]
        for item in nest.band:
            extent, write = members[0].bounds[item.iterator], members[-1].write
            same = period(write, item.iterator, extent) == wanted.get(int(write.array[1:]), 0)
            if isinstance(extent, int) and same:
                return (Partition(item.iterator, self._blocks(item, extent, self.chosen)),)
        return ()

    def extra_weight_reads(self) -> int:
        """Return how many extra times the weights that every thread reads in full are read. They are read again in each
        block if they do not fit in L2."""
        leaves_l2 = self.chosen != self.default and self.replicated_bytes(self.chosen) >= self.target.l2.size
        return self.target.threads - 1 if leaves_l2 else 1

    def _idle_seconds(self, choice: str | None) -> float:
        """Return the seconds that one of two threads waits for the other, which has the larger share."""
        item = next((i for i in self.main.band if i.iterator == choice), None)
        if item is None:
            return 0.0
        extent = self.statements[self.main.statements[0]].bounds[item.iterator]
        blocks = tiles_of(item, extent) if choice == self.default else self._blocks(item, extent, choice)
        return self.seconds * load_imbalance(item, extent, blocks)

    def _blocks(self, item: TiledLoop, extent: DimLike, choice: str | None) -> int:
        resident = self.replicated_bytes(choice) <= self.target.resident_bytes
        return min(self.target.tasks(4 if resident else 1), tiles_of(item, extent))

    def _replicated_bytes(self, choice: str | None) -> int:
        """Return the bytes that every thread reads in full if the iterator ``choice`` is partitioned."""
        sizes = (bytes_of(self.fn.block.args[n]) for n, p in self.periods(choice).items() if p is None)
        return sum(b for b in sizes if isinstance(b, int))


def period(access: Access, iterator: str, extent: DimLike) -> Period:
    """Return the number of elements after which the accesses along ``iterator`` repeat: the product of the axes from
    the first one that it indexes, if it is the dominant iterator of that axis."""
    moved = (n for n, i in enumerate(access.index) if isinstance(i, Dim) and iterator in i.symbols())
    tail = product(access.shape[next(moved, len(access.shape)) :])
    stride = access.stride(iterator)
    span = stride * extent if stride is not None else tail
    if not (isinstance(tail, int) and isinstance(span, int)) or stride == 0:
        return None
    return tail if 2 * span > tail else span
