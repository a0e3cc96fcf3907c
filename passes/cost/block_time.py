"""Estimated time of thread blocks: cycles of the busiest multiprocessor, by a roofline of one (Williams et al., 2009).

Blocks on one multiprocessor share its units of arithmetic, its loads from L2 and those from shared memory, and hide
each other's latency. So time falls with larger tiles, which read less, until they are so few that multiprocessors are
idle. Parts of a sum, which different blocks add, fill these, and cost one more kernel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mlc.dialects.semantics.dims import Dim, DimLike, ceildiv, evaluate
from mlc.passes.assumed_extents import LONG, SCHEDULED
from mlc.target.gpu import GpuTarget

WARPGROUP = 4  # warps that copy the operands of others
KEYS = 128  # of which uneven parts of a running reduction are multiples: one or two steps of a stream
HALF = 2  # bytes of an element of keys and values
FLOAT = 4  # bytes of an element that threads multiply without tensor cores


@dataclass(frozen=True)
class BlockTime:
    """The tile of a sum of products, rows × columns, of ``blocks`` blocks; ``grid``: the rows and columns of threads,
    or of warps with tensor cores, that each have an equal part of it; ``size``: bytes of a factor's element; ``bits``:
    those of an instruction of tensor cores, None without; ``bulk``: whether other warps copy its operands; ``wait``:
    the part of a target's cycles of a term that it waits at least; ``cluster``: the rows and columns of blocks that
    read what they share once from L2; ``shares``: how many blocks share the steps of the last tiles (stream-K), None
    where none do; ``warpgroups``: whether tensor cores read shared memory themselves, while they multiply."""

    rows: int
    columns: int
    blocks: int
    threads: int
    grid: tuple[float, float]
    size: int = FLOAT
    bits: int | None = None
    bulk: bool = False
    wait: float = 1.0
    cluster: tuple[int, int] = (1, 1)
    shares: int | None = None
    warpgroups: bool = False

    @classmethod
    def of_threads(cls, rows: int, columns: int, blocks: int, target: GpuTarget, size: int = FLOAT) -> BlockTime:
        """The time of a block whose threads each have a square of the tile."""
        side = math.sqrt(rows * columns / target.block_threads)
        return cls(rows, columns, blocks, target.block_threads, (rows / side, columns / side), size)

    @classmethod
    def of_terms(cls, blocks: int, each: int, target: GpuTarget) -> BlockTime:
        """The time of blocks whose threads share the terms of one result, and read ``each`` of them at a time."""
        return cls(1, 0, blocks, target.block_threads, (1, 1), wait=1 / (target.block_threads * each))

    def cycles(self, terms: int, target: GpuTarget, parts: int = 1) -> float:
        """Cycles of sums of so many terms, each in ``parts`` parts of different blocks."""
        if self.shares and parts == 1:
            return self.shared_cycles(terms, target, self.shares)
        blocks = -(-self.blocks * parts // target.in_clusters(math.prod(self.cluster)))
        wait = -(-blocks // self.together(target)) * target.term_cycles * self.wait
        return terms / parts * max(blocks * self.work(target), wait)

    def shared_cycles(self, terms: int, target: GpuTarget, count: int, handover: float | None = None) -> float:
        """Cycles where ``count`` blocks share the last whole wave of as many tiles and those after it (stream-K): each
        writes the part of a tile and asks semaphores (``handover``, by default of two accesses); the last block of a
        tile adds all its parts."""
        waves, rest = divmod(self.blocks, count)
        if not rest:
            return replace(self, shares=None).cycles(terms, target)
        whole, steps = max(waves - 1, 0), math.ceil(terms / target.heuristics.share_terms)
        tiles = whole + math.ceil((self.blocks - whole * count) * steps / count) / steps  # of a block
        each, parts = -(-count // target.multiprocessors), -(-count // (self.blocks - whole * count))
        added = parts * (target.access_cycles + FLOAT * self.rows * self.columns / target.l2_read)
        wait = -(-each // self.together(target)) * tiles * target.term_cycles * self.wait
        asked = 2 * target.access_cycles if handover is None else handover
        written = FLOAT * min(count, self.blocks * steps) * self.rows * self.columns / bytes_per_cycle(target)
        return terms * max(each * tiles * self.work(target), wait) + asked + written + added

    def counts(self, target: GpuTarget) -> list[int]:
        """The numbers of shares that run at a time, as many on each multiprocessor."""
        return [n * target.multiprocessors for n in range(1, self.together(target) + 1)]

    def work(self, target: GpuTarget) -> float:
        """Cycles in which a multiprocessor reads and multiplies one term of a block."""
        arriving = self.size * (self.rows + self.columns) / target.arriving
        return max(self._multiplied(target), self.read / target.l2_read, arriving)

    @property
    def read(self) -> float:
        """Bytes of a term that a block reads from L2: its own part of what those of a cluster share."""
        high, wide = self.cluster
        return self.size * (self.rows / wide + self.columns / high)

    def together(self, target: GpuTarget) -> int:
        """The blocks that a multiprocessor runs at a time."""
        threads = self.threads + (WARPGROUP * target.warp if self.bulk else 0)
        return max(1, target.registers // (threads * target.thread_registers))

    def _multiplied(self, target: GpuTarget) -> float:
        """Cycles in which a block reads one term of its operands from shared memory, and multiplies it: one after the
        other where threads read them, at once by warpgroups, beside which copies write the next ones."""
        rate = target.tensor_products(self.bits) if self.bits else target.products
        products, loads = self.rows * self.columns / rate, self.rows * self.grid[1] + self.columns * self.grid[0]
        if self.warpgroups:
            return max(products, self.size * (loads + self.rows + self.columns) / target.shared_read)
        return products + loads * self.size / target.shared_read

    def busy(self, target: GpuTarget) -> int:
        """The multiprocessors that have a block."""
        return min(self.blocks, target.in_clusters(math.prod(self.cluster)))


def bytes_per_cycle(target: GpuTarget) -> float:
    """Bytes that all multiprocessors read from L2, or write, in a cycle."""
    return 2 * target.memory_bytes / target.clock


@dataclass(frozen=True)
class SplitSum:
    """Sums of so many terms, in equal parts that different blocks add: with the best of some tiles."""

    tiles: Sequence[BlockTime]
    terms: int
    results: int
    target: GpuTarget
    least: int | None = None  # terms of a part; by default ``part_terms``
    uneven: bool = False  # whether the last part may have terms of the one before, too, which count once

    def parts(self) -> int:
        """How many parts are worth a kernel that adds them; 1 where the tiles of whole sums are enough blocks, or where
        no division is even."""
        best = min(self._divisors(), key=self.cycles, default=1)
        other = min(self._others(), key=self.cycles, default=best)
        best = other if self.target.heuristics.uneven_gain * self.cycles(other) < self.cycles(best) else best
        plain = replace(self, tiles=[tile for tile in self.tiles if not tile.shares])
        return best if self.cycles(best) < self.target.heuristics.parts_gain * plain.cycles(1) else 1

    def gains(self, parts: int) -> bool:
        """Whether so many parts take at most ``parts_gain`` of the time of the whole sum."""
        return self.cycles(parts) < self.target.heuristics.parts_gain * self.cycles(1)

    def parts_of(self, terms: DimLike) -> DimLike | None:
        """Return the number of parts of so many terms; None if one kernel computes the whole sum. Of a symbolic number
        of terms, of which these are the times for LONG, each part but the last has ``open_terms``."""
        if isinstance(terms, Dim):
            return ceildiv(terms, open_terms(terms)) if self.gains(LONG // SCHEDULED) else None
        parts = self.parts()
        return parts if parts > 1 else None

    def ranked(self) -> list[int]:
        """Numbers of parts, the fastest first, 1 among them; none where no division is even."""
        found = sorted(dict.fromkeys([*self._divisors(), *self._others()]), key=self.cycles)
        return found if len(found) > 1 else []

    def cycles(self, parts: int) -> float:
        added = self.target.launch_cycles + parts * self.results * 2 * FLOAT / bytes_per_cycle(self.target)
        terms = parts * part_size(self.terms, parts)
        whole = min(tile.cycles(terms, self.target, parts) for tile in self.tiles)
        return whole + (added if parts > 1 else 0)

    @property
    def _most(self) -> int:
        """The most parts, of enough terms each."""
        return self.terms // (self.least or self.target.heuristics.part_terms)

    def _divisors(self) -> Iterator[int]:
        """The numbers of parts of enough terms, multiples of what is staged together where there are such."""
        even = [n for n in range(1, self._most + 1) if self.terms % n == 0]
        whole = [n for n in even if self.terms // n % self.target.heuristics.part_multiple == 0]
        yield from dict.fromkeys([1, *(whole or even)])

    def _others(self) -> Iterator[int]:
        """The numbers of parts of which the last one has terms of the one before, too."""
        most = range(2, self._most + 1) if self.uneven else ()
        return (n for n in most if self.terms % n and has_parts(self.terms, n))


def has_parts(terms: int, parts: int) -> bool:
    """Whether parts of one size are so many, of which the last one may begin earlier."""
    return -(-terms // part_size(terms, parts)) == parts and part_size(terms, parts) <= terms


def part_size(terms: int, parts: int) -> int:
    """The terms of each part: whole steps of a stream where parts are not even."""
    size = -(-terms // parts)
    return size if terms % parts == 0 else -(-size // KEYS) * KEYS


def split_keys(rows: int, blocks: int, columns: int, keys: int, target: GpuTarget) -> SplitSum | None:
    """The keys of an attention in parts: ``rows`` queries read the same keys, of which there are ``blocks``;
    ``columns``: elements of a key and of a value. None for keys that one query alone reads, which have no use for a
    tile (its products are strips), and for many queries."""
    if not 1 < rows < target.heuristics.queries:
        return None
    tile = BlockTime.of_threads(rows, columns, blocks, target, HALF)
    return SplitSum([tile], keys, rows * blocks * columns, target, target.heuristics.part_keys, uneven=True)


def open_terms(terms: Dim, whole_array: bool = False) -> int:
    """Return the number of terms of each part but the last, for a symbolic number of terms. It is SCHEDULED, or more if
    the assumed number of terms (pixels of SCHEDULED images) is larger than LONG. For a sum of all elements of an array
    it is LONG: then one block can soon add the parts of 10^8 elements."""
    assumed = evaluate(terms, dict.fromkeys(terms.symbols(), SCHEDULED))
    assert isinstance(assumed, int)
    return max(1, -(-assumed // LONG)) * (LONG if whole_array else SCHEDULED)
