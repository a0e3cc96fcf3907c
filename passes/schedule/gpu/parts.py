"""The number of parts of a sum that different blocks of a GPU add, by a roofline of one multiprocessor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlc.passes.schedule.gpu.contraction import SHAPES, contraction, roles_of
from mlc.passes.schedule.gpu.strips import strips
from mlc.passes.schedule.gpu.tile_sizes import padded, points
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.target import GpuTarget

TERMS = 64  # of a part at least
GAIN = 0.8  # of the time of a whole sum that parts may take at most
READ = 32  # bytes that a multiprocessor reads from L2 in a cycle
STEP = 16  # cycles of a term at least, while a block waits for its operands
LAUNCH = 3000  # cycles of one more kernel, which adds the parts


def parts_of(statements: Sequence[StatementView], target: GpuTarget, rate: int) -> int:
    """How many parts the sum of the first statement is split into: 1 where the tiles of whole sums are enough blocks,
    or where no division is even. ``rate``: how many times the plain products a cycle there are (tensor cores)."""
    first = statements[0]
    terms = first.bounds[first.reduced[0]] if len(first.reduced) == 1 else None
    if not isinstance(terms, int):
        return 1
    tiles = list(_tiles(statements, target))
    if not tiles:
        return 1
    results = points([first.bounds[i] for i in first.parallel])
    cost = _Cost(tiles, terms, results, target, rate)
    best = min(_divisors(terms), key=cost, default=1)
    return best if cost(best) < GAIN * cost(1) else 1


def _divisors(terms: int) -> Iterator[int]:
    """The numbers of equal parts of enough terms, multiples of what is staged together where there are such."""
    even = [n for n in range(1, terms // TERMS + 1) if terms % n == 0]
    whole = [n for n in even if terms // n % 16 == 0]
    yield from dict.fromkeys([1, *(whole or even)])


@dataclass(frozen=True)
class _Cost:
    """Cycles of a sum in so many parts, with the best tile: (rows, columns, number of tiles)."""

    tiles: Sequence[tuple[int, int, int]]
    terms: int
    results: int
    target: GpuTarget
    rate: int

    def __call__(self, parts: int) -> float:
        added = LAUNCH + parts * self.results * 8 / (2 * self.target.memory_bytes / self.target.clock)
        return min(self._tile(*tile, parts) for tile in self.tiles) + (added if parts > 1 else 0)

    def _tile(self, rows: int, columns: int, count: int, parts: int) -> float:
        rate = self.rate if rows * columns >= 1024 else 1  # smaller ones are not made of fragments
        step = max(rows * columns / (self.target.products * rate), 4 * (rows + columns) / READ, STEP)
        return max(1.0, count * parts / self.target.multiprocessors) * self.terms / parts * step


def _tiles(statements: Sequence[StatementView], target: GpuTarget) -> Iterator[tuple[int, int, int]]:
    """The tiles that the rules choose from: rows, columns and how many."""
    first = statements[0]
    if nest := next(strips(statements, target), None):
        *_, strip = nest.band
        held = points([first.bounds[i.iterator] for i in nest.band[:-1] if i.padded])
        others = points([first.bounds[i] for i in first.parallel]) // held
        for size in (128, 64, 32):
            if strip.size >= 32:
                yield held, size, -(-others // size)
        return
    roles = roles_of(first)
    if roles is None or not any(contraction(statements, target)):
        return
    m, n = (points([first.bounds[i] for i in names]) for names in (roles.rows[-1:], [roles.lanes]))
    outer = points([first.bounds[i] for i in first.parallel]) // (m * n)
    for rows, columns in SHAPES:
        yield min(rows, padded(m)), min(columns, padded(n)), outer * -(-m // rows) * -(-n // columns)
