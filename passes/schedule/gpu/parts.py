"""The number of parts of a sum that different blocks of a GPU add: their time, and that of adding the parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlc.passes.schedule.gpu.block_time import BlockTime
from mlc.passes.schedule.gpu.contraction import contraction
from mlc.passes.schedule.gpu.strips import strips
from mlc.passes.schedule.gpu.tensor_cores import tensor_cores
from mlc.passes.schedule.gpu.tile_sizes import points
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.target import GpuTarget

TERMS = 64  # of a part at least
GAIN = 0.8  # of the time of a whole sum that parts may take at most
LAUNCH = 3000  # cycles of one more kernel, which adds the parts


def parts_of(statements: Sequence[StatementView], target: GpuTarget, numerics: str) -> int:
    """How many parts the sum of the first statement is split into: 1 where the tiles of whole sums are enough blocks,
    or where no division is even."""
    first = statements[0]
    terms = first.bounds[first.reduced[0]] if len(first.reduced) == 1 else None
    if not isinstance(terms, int):
        return 1
    tiles = list(_tiles(statements, target, numerics))
    if not tiles:
        return 1
    results = points([first.bounds[i] for i in first.parallel])
    cost = _Cost(tiles, terms, results, target)
    best = min(_divisors(terms), key=cost, default=1)
    return best if cost(best) < GAIN * cost(1) else 1


def _divisors(terms: int) -> Iterator[int]:
    """The numbers of equal parts of enough terms, multiples of what is staged together where there are such."""
    even = [n for n in range(1, terms // TERMS + 1) if terms % n == 0]
    whole = [n for n in even if terms // n % 16 == 0]
    yield from dict.fromkeys([1, *(whole or even)])


@dataclass(frozen=True)
class _Cost:
    """Cycles of a sum in so many parts, with the best tile."""

    tiles: Sequence[BlockTime]
    terms: int
    results: int
    target: GpuTarget

    def __call__(self, parts: int) -> float:
        added = LAUNCH + parts * self.results * 8 / (2 * self.target.memory_bytes / self.target.clock)
        whole = min(tile.cycles(self.terms, self.target, parts) for tile in self.tiles)
        return whole + (added if parts > 1 else 0)


def _tiles(statements: Sequence[StatementView], target: GpuTarget, numerics: str) -> Iterator[BlockTime]:
    """The tiles that the rules choose from."""
    first = statements[0]
    if nest := next(strips(statements, target), None):
        *_, strip = nest.band
        held = points([first.bounds[i.iterator] for i in nest.band[:-1] if i.padded])
        others = points([first.bounds[i] for i in first.parallel]) // held
        for size in (128, 64, 32):
            if strip.size >= 32:
                yield BlockTime.of_threads(held, size, -(-others // size), target)
        return
    nests = list(tensor_cores(statements, target, numerics)) or list(contraction(statements, target))
    yield from dict.fromkeys(BlockTime.of(nest, first, target) for nest in nests)
