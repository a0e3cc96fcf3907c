"""Schedule rule for sums of products on a GPU: a thread block computes a tile of rows × columns, and steps over the
sum.

A thread holds a square of the tile in registers: an operand that it reads serves all its rows, or all its columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mlc.dialects.poly import LoopNest, ThreadBlock, TiledLoop
from mlc.passes.cost.nest_time import fastest_first, sharing
from mlc.passes.schedule.gpu.tile_sizes import lanes_of, padded, points, spread, tile_of
from mlc.passes.schedule.polyhedral.statement_view import StatementView, epilogue_follows
from mlc.passes.schedule.rules.operand_roles import OperandRoles, factors, is_sum
from mlc.target import GpuTarget
from mlc.target.heuristics import GpuHeuristics


def contraction(statements: Sequence[StatementView], target: GpuTarget) -> Iterator[LoopNest]:
    """``S0[m, n, k]: t[m, n] += a[m, k]·b[k, n]`` → ``contraction: S0 | m/64p n/64vp | k``.

    Products of one row are left to other rules.
    """
    roles = roles_of(statements[0])
    if roles is not None and epilogue_follows(statements):
        yield from _tiles(statements, roles, target)


def roles_of(s: StatementView) -> OperandRoles | None:
    """Return the roles of the factors of a sum of products with several rows; None for other statements."""
    if not is_sum(s) or not s.parallel:
        return None
    lanes = lanes_of(s)
    for a, others in factors(s):
        if not a.depends_on(lanes) and any(b.depends_on(lanes) for b in others):
            roles = OperandRoles(s, lanes, a, others[0])
            return roles if points([s.bounds[i] for i in roles.rows]) > 1 else None
    return None


def _tiles(statements: Sequence[StatementView], roles: OperandRoles, target: GpuTarget) -> Iterator[LoopNest]:
    """Yield candidates: tiles, the best first, then the best tile with fewer buffers."""
    first, names = statements[0], tuple(s.name for s in statements)
    known = target.heuristics
    smaller = roles.panels or computed(statements, roles.lanes) >= known.computed
    shapes = known.tiles[1:] if smaller else known.tiles
    nests = [LoopNest("contraction", names, _band(roles, *shape, known), _sums(first)) for shape in shapes]
    ordered = fastest_first(nests, first, target)
    yield from sharing(ordered, first, target)
    yield from (replace(ordered[0], block=ThreadBlock(depth=depth)) for depth in known.depths)


def computed(statements: Sequence[StatementView], lanes: str) -> int:
    """Return the number of accesses to arguments that have no constant distance along the columns, such as those of
    collapsed iterators. An access that has none along the terms either counts twice."""
    accesses = {(a.array, a.index): a for s in statements for a in (*s.reads, s.write) if a.array.startswith("b")}
    found = [a for a in accesses.values() if a.stride(lanes) is None]
    return len(found) + sum(any(a.stride(i) is None for i in statements[0].reduced) for a in found)


def _sums(s: StatementView) -> tuple[TiledLoop, ...]:
    return tuple(map(TiledLoop, s.reduced))


def _band(roles: OperandRoles, m: int, n: int, heuristics: GpuHeuristics) -> tuple[TiledLoop, ...]:
    """Return the band: rows along the innermost iterator of A, columns along the lanes and then the other iterators of
    B."""
    s, (*outer, row) = roles.s, roles.rows
    columns = spread([*roles.panels, roles.lanes], s.bounds, roles.lanes, n, heuristics)
    shared = [i for i in s.parallel if i not in (*roles.rows, *roles.panels, roles.lanes)]
    before = [*map(TiledLoop, (*shared, *outer)), *columns[:-1]]
    return (*before, _power_of_two_tiles(tile_of(row, s.bounds[row], m)), _power_of_two_tiles(columns[-1]))


def _power_of_two_tiles(item: TiledLoop) -> TiledLoop:
    """Return the loop with tiles whose size is a power of two, which fragments of tensor cores cover."""
    return replace(item, sizes=((padded(item.size), None),)) if item.padded else item
