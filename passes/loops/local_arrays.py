"""Where the arrays of a kernel lie: arguments as they are, of local ones only the part that a tile or a block needs.

    kernel.local : memref<12x32x32x1024xf32>   →   kernel.local : memref<32x1040xf32>     # of one of 12 x 32 blocks
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.dims import DimLike
from mlc.dialects.types import Shape, element_of, memref, shape_of
from mlc.passes.loops.index_math import Emitter
from mlc.passes.loops.point import Buffer
from mlc.passes.schedule.raise_to_poly import array_names
from mlc.passes.schedule.schedule import Nest, groups_of
from mlc.passes.schedule.view import Access, ScheduleError, StatementView
from mlc.passes.tile.tile_kernels import SERIAL

LINE, FEW_SETS = 16, 512  # elements: of a cache line; between those that two sets of an L1 cache of 64 hold


@dataclass(frozen=True)
class Arrays:
    """The arrays of a kernel's statements, which run in ``nests``."""

    fn: kernel.FuncOp
    statements: Mapping[str, StatementView]
    nests: Sequence[Nest]

    def buffers(self, entry: Emitter) -> dict[str, Buffer]:
        """The buffer of each array, by its isl name; local ones are made in ``entry``."""
        return {name: self._buffer(name, value, entry) for value, name in array_names(self.fn).items()}

    def _buffer(self, name: str, value: SSAValue, entry: Emitter) -> Buffer:
        """Arguments as they are; a local array without the dimensions that only say which tile it belongs to."""
        shape = shape_of(value)
        if name.startswith("b"):
            return Buffer(value, shape, tuple(range(len(shape))))
        if self._forwards(name):
            return Buffer(value, shape, (), True)
        uses = [(s.name, a) for s in self.statements.values() for a in (*s.reads, s.write) if a.array == name]
        fixed = self._tile_coordinates({s for s, _ in uses})
        kept = tuple(n for n, extent in enumerate(shape) if extent != 1 and not self._one(uses, n, fixed))
        static = [d for d in (shape[n] for n in kept) if isinstance(d, int)]
        if len(static) != len(kept):
            raise ScheduleError(f"the part of local array {name} that a tile needs has no constant size: {shape}")
        shape = _spread(static)
        local = kernel.LocalOp(memref(element_of(value), shape))
        return Buffer(entry.emit(local), shape, kept)

    def _one(self, uses: Sequence[tuple[str, Access]], n: int, fixed: Mapping[str, set[str]]) -> bool:
        """Whether all that a tile or block touches of an array has one index along a dimension."""
        for group in groups_of(self.nests):
            names = {s for nest in group for s in nest.statements}
            indices = {a.index[n] for s, a in uses if s in names}
            constants = sum(isinstance(i, int) for i in indices)
            if constants > 1 or constants == 1 < len(indices):
                return False
        return all(_fixed(a.index[n], fixed[s]) for s, a in uses)

    def _tile_coordinates(self, users: set[str]) -> dict[str, set[str]]:
        """The iterators of statements that have one value wherever they share an array: in a tile those of bands tiled
        by 1, in a block of several nests those whose points are the blocks."""
        if SERIAL in self.fn.attributes:  # what one nest has written another reads
            return {s: set() for s in users}
        fixed: dict[str, set[str]] = {}
        for group in groups_of(self.nests):
            sharing = [n for n in group if users & set(n.statements)]
            for nest in sharing:
                points = _points(nest) & self._blocks(nest) if len(sharing) > 1 else _points(nest)
                fixed |= dict.fromkeys(nest.statements, points)
        return fixed

    def _blocks(self, nest: Nest) -> set[str]:
        bounds = self.statements[nest.statements[0]].bounds
        return {split.iterator for split in nest.splits if bounds[split.iterator] == split.blocks}

    def _forwards(self, name: str) -> bool:
        """Whether every reader of a local array reads the element the tile has just computed, in registers."""
        for nest in self.nests:
            inner = {i.iterator for i in nest.inner}
            members = [self.statements[s] for s in nest.statements]
            writers = [s for s in members if s.write.array == name]
            readers = [s for s in self.statements.values() if any(r.array == name for r in s.reads)]
            if writers:
                same = all(r.index == writers[0].write.index for s in readers for r in s.reads if r.array == name)
                local = all(s in members for s in readers)
                points = not any(i in inner for i in writers[0].parallel)
                return len(writers) == 1 and same and local and points
        return True


def _points(nest: Nest) -> set[str]:
    return {i.iterator for i in nest.band if all(size == 1 for size, _ in i.sizes)}


def _fixed(index: DimLike, fixed: set[str]) -> bool:
    return isinstance(index, int) or index.symbols() <= fixed


def _spread(shape: Sequence[int]) -> Shape:
    """Rows of a local array at distances such that those of a register tile do not share few sets of the cache."""
    padding = LINE if len(shape) > 1 and shape[-1] % FEW_SETS == 0 else 0
    return (*shape[:-1], shape[-1] + padding) if padding else tuple(shape)
