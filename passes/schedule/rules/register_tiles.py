"""Register tiles of a contraction, ranked by the cycles of an update over an extent partition of the rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from mlc.dialects.poly import TiledLoop
from mlc.dialects.semantics.dims import DimLike
from mlc.passes.assumed_extents import SCHEDULED
from mlc.passes.cost.extent_partition import Sizes, rows_of
from mlc.passes.cost.lane_sizes import lane_sizes, long_run
from mlc.passes.schedule.rules.operand_roles import OperandRoles, stored_panel_width
from mlc.target import CpuTarget

UNPACKED = 1.5  # cycles for a vector of quantized integers to become floats and to be scaled
FEWER = 8  # row counts to try, downwards from the most that fit in registers

Items = tuple[TiledLoop, ...]
Tile = tuple[float, Items]  # with its cycles


def _lane_tile(roles: OperandRoles, target: CpuTarget) -> int:
    extent = roles.s.bounds[roles.lanes]
    if not roles.rows and not roles.panels:  # no element is read twice
        return long_run(roles.s, roles.lanes, target) * target.lanes
    if not isinstance(extent, int) or extent >= 2 * target.lanes:
        return 2 * target.lanes
    return extent if extent < target.lanes or extent % target.lanes else target.lanes


def register_tiles(roles: OperandRoles, target: CpuTarget) -> Iterator[Items]:
    """Yield register tiles, the cheapest first. Tiles of other widths than the usual one come after the best tile of
    the usual width."""
    extent, stored = roles.s.bounds[roles.lanes], stored_panel_width(roles.b, roles.lanes)
    usual = stored or _lane_tile(roles, target)
    yield _ranked(_tiles_of_width(roles, usual, target))[0]
    widths = [n * target.lanes for n in (1, 2, 3, 4)] if stored is None else []
    others = (group for w in widths if w <= size_of(extent) for group in _tiles_of_width(roles, w, target))
    yield from _ranked([*_tiles_of_width(roles, usual, target), *others])


def _tiles_of_width(roles: OperandRoles, width: int, target: CpuTarget) -> Iterator[list[Tile]]:
    """Yield, for each number of vectors, a list of tiles: the innermost one or two row iterators × vectors × a panel
    iterator."""
    bounds, panel = roles.s.bounds, roles.panels[-1:]
    vectors = -(-width // target.lanes)
    panel_extent = size_of(bounds[panel[0]]) if panel else 1
    lanes = TiledLoop(roles.lanes, lane_sizes(bounds[roles.lanes], width, target.lanes), True)
    tiles_of_lanes = -(-size_of(bounds[roles.lanes]) // width)
    for blocks in range(1, min(panel_extent, 4) + 1):
        fitting = (r for r in range(1, target.vector_registers) if target.fits(r * roles.sums, blocks * vectors))
        limit = max(fitting, default=1)
        panels = [rows_of(i, bounds[i], blocks) for i in panel]
        times = tiles_of_lanes * sum((n or panel_extent / s) for s, n in (panels[0].sizes if panels else ((1, 1),)))
        items = (lanes, *panels)
        rows = _rows(roles, limit, blocks * vectors, target)
        yield [(cost * times, (*items, *row)) for cost, row in rows]


def _ranked(groups: Iterable[list[Tile]]) -> list[Items]:
    """Return the cheapest tile of each group, by cost, then the second of each group, and so on: tiles of one group are
    similar."""
    ranked = [(n, tile) for group in groups for n, tile in enumerate(sorted(group, key=_cost))]
    return [items for _, (_, items) in sorted(ranked, key=lambda each: (each[0], each[1][0]))]


def _cost(tile: Tile) -> float:
    return tile[0]


def _rows(roles: OperandRoles, limit: int, vectors: int, target: CpuTarget) -> Iterator[tuple[float, Items]]:
    """Yield row loops with at most ``limit`` rows for each tile, with the cycles of one step of the reduction over all
    rows."""
    rows, bounds, rest = roles.rows, roles.s.bounds, _rest(roles)
    if not rows:
        yield target.step_cycles(1, vectors), ()
        return
    inner, extent = rows[-1], size_of(bounds[rows[-1]])
    outer = math.prod(size_of(bounds[r]) for r in rows[:-1])
    # the taller tile first at equal cycles: it reads less of B
    if len(rows) > 1 and isinstance(bounds[inner], int) and 2 * extent <= limit:
        tiles = rows_of(rows[-2], bounds[rows[-2]], limit // extent, rest)
        cycles = _cycles(bounds[rows[-2]], tiles.sizes, extent, vectors, target)
        others = math.prod(size_of(bounds[r]) for r in rows[:-2])
        yield others * cycles, (tiles, TiledLoop(inner, ((extent, 1),)))
    for tiles in (rows_of(inner, bounds[inner], size, rest) for size in _row_counts(roles, inner, limit)):
        unpacked = vectors * UNPACKED if roles.dequantized else 0.0
        yield outer * _cycles(bounds[inner], tiles.sizes, 1, vectors, target, unpacked), (tiles,)


def _rest(roles: OperandRoles) -> Sequence[int]:
    """Return the sizes of the last tiles of a symbolic number of rows, which may be one row, as in the steps of a
    decoder. A batched product reads its right operand once a call, and a dequantized one computes it anew."""
    if roles.dequantized:
        return (4, 2, 1)
    batched = any(i not in (*roles.rows, *roles.panels, roles.lanes) for i in roles.s.parallel)
    return (1,) if batched else ()


def _row_counts(roles: OperandRoles, inner: str, limit: int) -> Sequence[int]:
    """Return numbers of rows to try. No tile crosses a panel of a packed left operand. For a symbolic extent powers of
    two come first: most actual extents are multiples of them, and equal tiles distribute the prefetch of weights
    evenly."""
    extent, stored = roles.s.bounds[inner], stored_panel_width(roles.a, inner)
    if stored is not None:
        return [max(n for n in range(1, limit + 1) if stored % n == 0)]
    counts = range(limit, max(limit - FEWER, 0), -1)
    return counts if isinstance(extent, int) else sorted(counts, key=lambda n: n & (n - 1) != 0)


def _cycles(
    extent: DimLike, sizes: Sizes, times: int, vectors: int, target: CpuTarget, unpacked: float = 0.0
) -> float:
    """Return the cycles of a step of the sum over all rows; ``unpacked``: those in which a tile makes its operand."""
    size = size_of(extent)
    if sizes[0][1] is None:
        return size / sizes[0][0] * (target.step_cycles(sizes[0][0] * times, vectors) + unpacked)
    return sum(count * (target.step_cycles(s * times, vectors) + unpacked) for s, count in sizes if count)


def size_of(extent: DimLike) -> int:
    return extent if isinstance(extent, int) else SCHEDULED
