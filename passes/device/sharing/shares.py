"""Shares of stream-K: which steps of which tiles an item of work has, as index arithmetic.

Items are whole tiles, then shares. Tiles and steps are numbered from the first shared tile on; whole tiles and their
items have negative numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.dialects import scf
from xdsl.ir import SSAValue

from mlc.passes.device.loops.index import Add, Index
from mlc.passes.device.loops.insertion import Inserter
from mlc.passes.device.loops.recompute import recomputed


@dataclass(frozen=True)
class Piece:
    """The part of one tile that an item has: its steps ``low`` to ``high``. ``item``, ``tile``: the numbers of the item
    and of the tile; ``coordinates``: those of the tile in its grid."""

    item: Index
    tile: Index
    low: Index
    high: Index
    coordinates: Sequence[SSAValue]


@dataclass(frozen=True)
class TileItems:
    """The ``blocks`` items, ``first`` to ``final``, that have parts of a tile. ``ends``: whether an item is the final
    one."""

    first: Index
    final: Index
    blocks: Index
    ends: SSAValue


@dataclass(frozen=True)
class Shares:
    """The tiles, of ``steps`` steps each: ``whole`` tiles, then tiles with ``shared`` steps in all, in ``count`` equal
    shares."""

    grid: Sequence[SSAValue]  # of tiles
    steps: Index
    whole: Index
    shared: Index
    count: Index

    @classmethod
    def of(cls, tiles: scf.ParallelOp, loop: scf.ForOp, most: int) -> Shares:
        """Return the shares of the steps of ``loop`` in each tile, computed before all tiles. The last whole wave of
        ``most`` tiles, and the tiles after it, are shared; there are at most as many shares as steps."""
        add = Inserter(tiles).add
        low, high, step = (Index(recomputed(v, {}, tiles.body.block, add), add) for v in (loop.lb, loop.ub, loop.step))
        steps = ((high - low + step - 1) // step).at_least(1)
        count = reduce(Index.__mul__, (Index(extent, add) for extent in tiles.upperBound))
        whole = ((count // most).at_least(1) - 1) * most
        shared = (count - whole) * steps
        return cls(tiles.upperBound, steps, whole, shared, shared.at_most(most))

    @property
    def items(self) -> Index:
        return self.whole + self.count

    def tiles(self, number: SSAValue, add: Add) -> tuple[Index, Index, Index, Index]:
        """Return, for the item of a number: its number among shares, the steps at which it begins and ends, and the
        number of the last tile of which it has steps."""
        item = Index(number, add) - self.whole
        begin, end = self._bound(item), self._bound(item + 1)
        return item, begin, end, (end - 1) // self.steps

    def _bound(self, item: Index) -> Index:
        """Return the first step of an item."""
        return (item * self.shared // self.count).unless(item.compared("slt", 0), item * self.steps)

    def piece(self, item: Index, begin: Index, end: Index, tile: Index) -> Piece:
        """Return the part of a tile that an item has, whose steps are ``begin`` to ``end``."""
        start = tile * self.steps
        low, high = (begin.at(tile.add) - start).at_least(0), (end.at(tile.add) - start).at_most(self.steps)
        return Piece(item.at(tile.add), tile, low, high, self._coordinates(tile + self.whole))

    def holders(self, piece: Piece) -> TileItems:
        """Return the holders of the tile of a piece. They are computed after its sum, so that no register holds them
        during the sum."""
        start = piece.tile * self.steps
        first, final = (self._holder(step, piece.tile, piece.item) for step in (start, start + self.steps - 1))
        return TileItems(first, final, final - first + 1, final.compared("eq", piece.item))

    def _holder(self, step: Index, tile: Index, item: Index) -> Index:
        """Return the share that has a step of a tile, the last one that begins at or before it. For a whole tile it is
        the tile's item."""
        return (((step + 1) * self.count - 1) // self.shared).unless(tile.compared("slt", 0), item)

    def _coordinates(self, tile: Index) -> list[SSAValue]:
        """Return the coordinates of the tile of a number, in row-major order."""
        found = list[SSAValue]()
        for extent in reversed(self.grid):
            found.insert(0, (tile % Index(extent, tile.add)).value)
            tile = tile // Index(extent, tile.add)
        return found
