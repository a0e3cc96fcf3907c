"""The number of parts of a sum that different blocks of a GPU add: their time, and that of adding the parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlc.passes.schedule.gpu.block_time import block_time
from mlc.passes.schedule.gpu.contraction import contraction
from mlc.passes.schedule.gpu.strips import strips
from mlc.passes.schedule.gpu.tensor_cores import tensor_cores
from mlc.passes.schedule.gpu.tile_sizes import points
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.target import GpuTarget
from mlc.target.block_time import BlockTime, SplitSum


def parts_of(statements: Sequence[StatementView], target: GpuTarget, numerics: str) -> int:
    """How many parts the sum of the first statement is split into."""
    first = statements[0]
    terms = first.bounds[first.reduced[0]] if len(first.reduced) == 1 else None
    if not isinstance(terms, int):
        return 1
    tiles = list(_tiles(statements, target, numerics))
    return SplitSum(tiles, terms, points([first.bounds[i] for i in first.parallel]), target).parts() if tiles else 1


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
    yield from dict.fromkeys(block_time(nest, first, target) for nest in nests)
