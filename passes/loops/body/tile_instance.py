"""A tile instance: its first points and the axes of its register tile, over the coordinates of isl's loops.

T0[n, m] of 32 columns and 14 rows at (%t0, %t1)   →   n = 32·t0 + axis_n, m = 14·t1 + axis_m; axes m: 14, n: 32
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mlc.dialects import poly
from mlc.dialects.graph import dims_of
from mlc.dialects.poly import LoopNest, block_of
from mlc.dialects.semantics.dims import Dim, DimLike, dim_min, evaluate
from mlc.passes.loops.body.tile_context import TileAxis, TileContext
from mlc.passes.loops.index.index_builder import IndexBuilder
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.passes.tile.tree.masked_tiles import is_block, ranges_of
from mlc.passes.tile.tree.segments import coordinate


@dataclass
class TileInstance:
    """A tile instance, placed by ``place`` and read by ``context``.

    ``members``: the statements of the tile, with their bounds inside of it; ``out``: the builder for numbers of lanes.
    ``blocks`` and ``rows`` have the first and the last point of iterators: those of a block that all nests of a group
    share, and those of the tile. ``lanes``: the axes of vectors. The other fields are those of its ``TileContext``.
    """

    tile: poly.TileOp
    nest: LoopNest
    members: list[StatementView]
    out: IndexBuilder
    at: dict[str, DimLike] = field(default_factory=dict)
    axes: list[TileAxis] = field(default_factory=list)
    lanes: list[TileAxis] = field(default_factory=list)
    origins: dict[str, DimLike] = field(default_factory=dict)
    full: dict[str, tuple[DimLike, DimLike]] = field(default_factory=dict)
    blocks: dict[str, tuple[DimLike, DimLike]] = field(default_factory=dict)
    rows: dict[str, tuple[DimLike, DimLike]] = field(default_factory=dict)
    ends: dict[str, DimLike] = field(default_factory=dict)

    def place(self, coordinates: Sequence[DimLike]) -> None:
        """Set the points of each iterator. The iterator of a tiled block has two coordinates: its block, then the tile
        in the block."""
        names = [i.data for i in self.tile.iters]
        starts, sizes = dims_of(self.tile.starts), [int(s) for s in self.tile.sizes.get_values()]
        bounds = self.members[0].bounds
        for n, (name, size) in enumerate(zip(names, sizes, strict=True)):
            first = starts[n] + coordinates[n] * size
            if is_block(self.nest, self.members[0], name):
                self.blocks.setdefault(name, (first, first + size - 1))
            if name in names[n + 1 :]:
                self.at[name] = self.at[block_of(name)] = first
                continue
            start = self.at.get(name, 0) + first
            self.rows[name] = (start, start + size - 1)
            if self._is_streamed(name):
                self.origins[name] = self.at[block_of(name)] = first
                self._set_extent(name, size)
            else:
                self.at[name] = start
                self._add_axis(name, size, evaluate(dims_of(self.tile.valid)[n], {coordinate(name): coordinates[n]}))
        self._set_ends(bounds)

    def _is_streamed(self, name: str) -> bool:
        """Return whether loops inside of the tile run over a block of an iterator."""
        streamed = self.nest.streamed and not self.tile.initial and self.nest.streamed.iterator == name
        return bool(streamed) and all(i.iterator != name for i in self.nest.band)

    def _set_ends(self, bounds: Mapping[str, DimLike]) -> None:
        """Record the ends of iterators whose blocks may be partly beyond their extent, relative to the block's first
        point. Inner loops end with the extent; vectors have lanes beyond it."""
        padded = (i for i, split in self.nest.tiled_blocks.items() if split.points and block_of(i) in self.at)
        for name in padded:
            first, number = self.at[block_of(name)], f"left{len(self.out.env)}"
            self.out.env[number] = self.out.dim(evaluate(bounds[name], self.at) - first)
            self.ends[name] = first + Dim.symbol(number)
            if self._is_streamed(name) and not any(i.iterator == name and i.vectorized for i in self.nest.inner):
                self._set_extent(name, dim_min(self.nest.tiled_blocks[name].points, Dim.symbol(number)))

    def _add_axis(self, name: str, size: int, points: DimLike) -> None:
        """Add the points of an iterator as an axis; the first ``points`` of them are valid."""
        if size > 1:
            axis = TileAxis(name, size, None if points == size else self.out.dim(points))
            self.at[name] = self.at[name] + Dim.symbol(axis.symbol)
            (self.lanes if name == self.tile.vector.data else self.axes).append(axis)

    def _set_extent(self, name: str, extent: DimLike) -> None:
        """Give an iterator, if a member has it, another extent."""
        bounds = [{i: extent if i == name else n for i, n in s.bounds.items()} for s in self.members]
        self.members = [replace(s, bounds=each) for s, each in zip(self.members, bounds, strict=True)]

    def mask(self) -> None:
        """Let loops inside of the tile run over the points that are not masked for all rows of its block."""
        if any(s.conditions for s in self.members):
            for name in dict.fromkeys(i.iterator for i in self.nest.inner):
                start, alone = self.origins.get(name, 0), not self.nest.joined
                ranges = ranges_of(self.members, name, start, self.blocks, self.rows, alone)
                self.origins[name], self.full[name] = ranges.start, ranges.full
                self._set_extent(name, ranges.points)

    def context(self) -> TileContext:
        first, lanes = self.members[0], self.tile.vector.data
        axes = sorted(self.axes, key=lambda axis: _is_panel(axis.iterator, lanes, first))
        return TileContext(self.at, (*axes, *self.lanes), self.origins, self.full, ends=self.ends)


def _is_panel(iterator: str, lanes: str, s: StatementView) -> bool:
    """Return whether the access along the vectorized axis also varies along ``iterator``. Rows come before panels in a
    register tile: a row's scalar is broadcast, used for each vector of the row, and then dead."""
    return any(r.depends_on(iterator) for r in s.reads if r.depends_on(lanes))
