"""Local arrays: a kernel's intermediates are contracted to the part that one tile or block needs (array
contraction).

kernel.local : memref<12x32x32x1024xf32>   →   kernel.local : memref<32x1040xf32>     # of one of 12 x 32 blocks
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.poly import LoopNest, Partition, ScheduleError, block_of, groups_of
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.types import ITEMSIZE, Shape, bytes_of, element_of, memref, shape_of
from mlc.passes.kernel.lowering.array_names import array_names
from mlc.passes.loops.body.tile_context import Buffer, factor_of
from mlc.passes.loops.index.index_builder import IndexBuilder
from mlc.passes.schedule.polyhedral.running_reductions import Running
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView
from mlc.target import Target


@dataclass(frozen=True)
class Arrays:
    """The arrays of a kernel's statements under the schedule ``nests``."""

    fn: kernel.FuncOp
    statements: Mapping[str, StatementView]
    nests: Sequence[LoopNest]
    running: Running
    target: Target

    def buffers(self, entry: IndexBuilder) -> dict[str, Buffer]:
        """Return the buffer of each array, by its isl name. Local arrays are added to ``entry``. A running maximum has
        a second buffer, for the factors by which other reductions are rescaled."""
        names = array_names(self.fn.block)
        buffers = {name: self._buffer(name, value, entry) for value, name in names.items()}
        for value, name in [(v, n) for v, n in names.items() if n in self.running.maxima]:
            if name.startswith("b"):
                raise ScheduleError(f"a running maximum must be a local array, and {name} is a result of the kernel")
            buffers[factor_of(name)] = self._buffer(name, value, entry)
        self._check_stack(buffers)
        return buffers

    def _check_stack(self, buffers: Mapping[str, Buffer]) -> None:
        """Raise ScheduleError if the local arrays do not fit on the stack of a CPU's thread. Those of a serial kernel
        may be in the arena (``spill-locals``), because one thread runs it, and so may those of thread blocks."""
        if self.target.thread_blocks or self.fn.serial is not None:
            return
        held = [b.value for b in buffers.values() if not b.forwarded and isinstance(b.value.owner, kernel.LocalOp)]
        used = sum(size for size in map(bytes_of, held) if isinstance(size, int))
        if used > self.target.local_room:
            raise ScheduleError(f"local arrays of {used} bytes do not fit on the stack, of {self.target.local_room}")

    def _buffer(self, name: str, value: SSAValue, entry: IndexBuilder) -> Buffer:
        """Return the buffer of an array: an argument unchanged, a local array without the dimensions that are constant
        in a tile or block."""
        shape = shape_of(value)
        if name.startswith("b"):
            return Buffer(value, shape, tuple(range(len(shape))))
        if self._forwards(name):
            return Buffer(value, shape, (), True)
        uses, blocks = self._uses(name), self._blocks_of(name)
        fixed = self._tile_coordinates({s for s, _ in uses}, name in self.running.arrays)
        kept = tuple(n for n, extent in enumerate(shape) if extent != 1 and not self._same_index(uses, n, fixed))
        sizes = [blocks[n].size(shape[n]) if n in blocks else shape[n] for n in kept]
        static = [size for size in sizes if isinstance(size, int)]
        symbolic = len(static) != len(kept)
        if symbolic and self.fn.serial is None and not self._rows_of_a_block(uses):
            raise ScheduleError(f"a tile needs a symbolic extent of local array {name}: {shape}")
        element = element_of(value)
        shape = tuple(shape[n] for n in kept) if symbolic else tuple(static)
        if not symbolic:
            shape = _spread(static, ITEMSIZE[element], self.target)
        local = kernel.LocalOp(memref(element, shape))
        return Buffer(entry.emit(local), shape, kept)

    def in_block(self, s: StatementView) -> StatementView:
        """Return a statement that indexes local arrays relative to its block: ``t[m]`` becomes ``t[m - m']``."""
        return replace(s, reads=tuple(map(self.access_in_block, s.reads)), write=self.access_in_block(s.write))

    def access_in_block(self, access: Access) -> Access:
        """Return an access that indexes a local array relative to its block."""
        if not (blocks := self._blocks_of(access.array)):
            return access
        index = (i - Dim.symbol(block_of(str(i))) if n in blocks else i for n, i in enumerate(access.index))
        return replace(access, index=tuple(index))

    def _rows_of_a_block(self, uses: Sequence[tuple[str, Access]]) -> bool:
        """Return whether, on a GPU, only the loops inside a tile of one point run along a local array. Then each thread
        block has a part of the array as scratch in the arena (``spill-locals``)."""
        if not self.target.thread_blocks:
            return False
        band = {s: {i.iterator for i in nest.band} - _points(nest) for nest in self.nests for s in nest.statements}
        return all(isinstance(i, int) or not i.symbols() & band[s] for s, a in uses for i in a.index)

    def _blocks_of(self, array: str) -> dict[int, Partition]:
        """Return the partition of each dimension of a local array that holds one block along it."""
        if array.startswith("b") or self.fn.serial is not None:  # what one nest has written another reads
            return {}
        return self._tiled(array) if any(n.tiled_blocks for n in self.nests) else {}

    def _tiled(self, array: str) -> dict[int, Partition]:
        uses = self._uses(array)
        tiled = {s: n.tiled_blocks for n in self.nests for s in n.statements}
        found = ((n, [tiled[s].get(str(a.index[n])) for s, a in uses]) for n in range(len(uses[0][1].index)))
        alike = ((n, blocks[0]) for n, blocks in found if len({b and (b.blocks, b.points) for b in blocks}) == 1)
        return {n: split for n, split in alike if split and split.blocks != 1}

    def _uses(self, array: str) -> list[tuple[str, Access]]:
        """Return (statement, access) for each use of an array."""
        return [(s.name, a) for s in self.statements.values() for a in (*s.reads, s.write) if a.array == array]

    def _same_index(self, uses: Sequence[tuple[str, Access]], n: int, fixed: Mapping[str, set[str]]) -> bool:
        """Return whether all accesses of a tile or block to an array have the same index along dimension ``n``."""
        for group in groups_of(self.nests):
            names = {s for nest in group for s in nest.statements}
            indices = {a.index[n] for s, a in uses if s in names}
            constants = sum(isinstance(i, int) for i in indices)
            if constants > 1 or constants == 1 < len(indices):
                return False
        return all(_fixed(a.index[n], fixed[s]) for s, a in uses)

    def _tile_coordinates(self, users: set[str], running: bool) -> dict[str, set[str]]:
        """Return, for each user of an array, the iterators that have one value among all users: within a tile, those of
        bands with tiles of 1; within a block of several nests, or of one that continues a ``running`` result, those
        with one block for each point."""
        if self.fn.serial is not None:  # nests communicate through arrays
            return {s: set() for s in users}
        fixed: dict[str, set[str]] = {}
        for group in groups_of(self.nests):
            sharing = [n for n in group if users & set(n.statements)]
            for nest in sharing:
                points = _points(nest) & self._blocks(nest) if running or len(sharing) > 1 else _points(nest)
                fixed |= dict.fromkeys(nest.statements, points)
        return fixed

    def _blocks(self, nest: LoopNest) -> set[str]:
        bounds = self.statements[nest.statements[0]].bounds
        return {split.iterator for split in nest.partitions if split.is_each(bounds[split.iterator])}

    def _forwards(self, name: str) -> bool:
        """Return whether every reader of a local array reads the element that its own tile has just computed, so that
        it stays in registers."""
        if name in self.running.arrays:
            return False
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


def _points(nest: LoopNest) -> set[str]:
    return {i.iterator for i in nest.band if all(size == 1 for size, _ in i.sizes)}


def _fixed(index: DimLike, fixed: set[str]) -> bool:
    return isinstance(index, int) or index.symbols() <= fixed


def _spread(shape: Sequence[int], itemsize: int, target: Target) -> Shape:
    """Return the shape of a local array with padded rows, if the rows of a register tile would otherwise fall into one
    or two sets of the L1 cache."""
    padding = target.row_padding(shape[-1] * itemsize) // itemsize if len(shape) > 1 else 0
    return (*shape[:-1], shape[-1] + padding) if padding else tuple(shape)
