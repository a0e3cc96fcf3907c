"""Schedule rule for sums of products: a register tile of rows × vectors, updated by one rank-1 step a reduction point.

One operand (B) is read along the lanes of the result, the other (A) is broadcast; their roles follow from the strides.
The tile minimises the cycles of its inner step over an exact cover of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FloatAttr

from mlc.dialects.dims import Dim, DimLike
from mlc.passes.schedule.cover import Sizes, cover
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.schedule import Item, Nest
from mlc.passes.schedule.view import Access, StatementView

SUM_BLOCK = 128  # terms of a sum between additions to its total: rounding errors grow with the longer of the two
TYPICAL = 256  # what a symbolic extent is taken for when costs are compared


def contraction(statements: Sequence[StatementView], machine: Machine) -> Nest | None:
    """``S0[m, n, k]: t[m, n] += a[m, k]·b[k, n]`` → ``contraction: S0 | n/32v m/14 | k``."""
    first = statements[0]
    if not _is_product(first) or any(s.op.monoid or s.iters != first.parallel for s in statements[1:]):
        return None
    lanes = next((i for i in reversed(first.parallel) if first.write.stride(i) == 1), None)
    if lanes is None:
        return None
    for a, b in (first.reads, tuple(reversed(first.reads))):
        if not a.depends_on(lanes) and unit_stride(b, lanes):
            roles = _Roles(first, lanes, a, b)
            return None if roles.slides else _plan(statements, roles, machine)
    return None


def _is_product(s: StatementView) -> bool:
    ops = [o.name for o in s.op.body.block.ops]
    return s.op.monoid is not None and s.op.monoid.data == "add" and len(s.reads) == 2 and ops in (
        ["arith.mulf", "poly.yield"],
        ["arith.muli", "poly.yield"],
    )  # fmt: skip


def block_of(access: Access, name: str) -> int | None:
    """The panel width b where ``name`` is stored as (name // b, name % b)."""
    for index in access.index:
        for monomial, _ in index.terms if isinstance(index, Dim) else ():
            for atom in monomial:
                if isinstance(atom, str) or not isinstance(atom[2], int):
                    continue
                if atom[:2] == ("//", Dim.symbol(name)):
                    return atom[2]
    return None


def unit_stride(access: Access, name: str) -> bool:
    """Whether neighbours along ``name`` are neighbours in memory, at least within an aligned panel."""
    linear = access.linear
    plain = sum((c for m, c in linear.terms if m == (name,)), 0) if isinstance(linear, Dim) else 0
    return plain == 1 and (access.stride(name) == 1 or block_of(access, name) is not None)


@dataclass(frozen=True)
class _Roles:
    s: StatementView
    lanes: str
    a: Access
    b: Access

    @property
    def rows(self) -> list[str]:
        """Iterators of the result that only A depends on, innermost last."""
        return [i for i in self.s.parallel if i != self.lanes and self.a.depends_on(i) and not self.b.depends_on(i)]

    @property
    def slides(self) -> bool:
        """Whether a small window slides over B, and no row shares what is read of it: a depthwise convolution."""
        terms = math.prod(n if isinstance(n := self.s.bounds[i], int) else math.inf for i in self.s.reduced)
        over = any(self.b.slides(p, k) for p in self.panels for k in self.s.reduced)
        return over and not self.rows and terms <= SUM_BLOCK

    @property
    def panels(self) -> list[str]:
        """Iterators beside the lanes that only B depends on."""
        return [i for i in self.s.parallel if i != self.lanes and self.b.depends_on(i) and not self.a.depends_on(i)]


def _plan(statements: Sequence[StatementView], roles: _Roles, machine: Machine) -> Nest:
    s, bounds = roles.s, roles.s.bounds
    width = block_of(roles.b, roles.lanes) or _lane_tile(bounds[roles.lanes], machine)
    vectors = -(-width // machine.lanes)
    rows, panels = roles.rows, roles.panels
    row_items, panel = _register_tile(rows, panels[-1:], bounds, vectors, machine)
    lane_item = Item(roles.lanes, lane_sizes(bounds[roles.lanes], width), True)
    tiled = {i.iterator: i for i in (*row_items, *panel)}
    shared = [i for i in s.parallel if i not in (*rows, *panels, roles.lanes)]
    band = [*(Item(i) for i in shared), *(tiled.get(i, Item(i)) for i in panels), lane_item]
    band += [tiled.get(i, Item(i)) for i in rows]
    return Nest("contraction", tuple(v.name for v in statements), tuple(band), _partial_sums(s))


def _partial_sums(s: StatementView) -> tuple[Item, ...]:
    """The inner loops, the outermost ones in blocks of at most SUM_BLOCK terms that are summed apart."""
    if not isinstance(s.op.init, FloatAttr):
        return tuple(Item(i) for i in s.reduced)
    items: list[Item] = []
    terms = 1
    for n, name in reversed(list(enumerate(s.reduced))):
        extent = s.bounds[name]
        if isinstance(extent, int) and terms * extent <= SUM_BLOCK:
            items.insert(0, Item(name))
            terms *= extent
            continue
        block = Item(name, ((max(1, SUM_BLOCK // terms), None),), partial=True)
        return (*(Item(i) for i in s.reduced[:n]), block, *items)
    return tuple(items)


def _lane_tile(extent: DimLike, machine: Machine) -> int:
    if not isinstance(extent, int) or extent >= 2 * machine.lanes:
        return 2 * machine.lanes
    return extent if extent < machine.lanes or extent % machine.lanes else machine.lanes


def lane_sizes(extent: DimLike, width: int) -> Sizes:
    """Whole tiles of ``width`` lanes; what is left becomes one partial tile."""
    return ((min(width, extent) if isinstance(extent, int) and extent else width, None),)


def _register_tile(
    rows: list[str], panels: list[str], bounds: dict[str, DimLike], vectors: int, machine: Machine
) -> tuple[list[Item], list[Item]]:
    """The cheapest tile: rows of the innermost one or two row iterators, vectors of lanes times a panel iterator."""
    panel_extent = _size(bounds[panels[0]]) if panels else 1
    best: tuple[float, list[Item], list[Item]] | None = None
    for blocks in range(1, min(panel_extent, 4) + 1):
        limit = max((r for r in range(1, machine.registers) if machine.fits(r, blocks * vectors)), default=1)
        items, cost = _rows(rows, bounds, limit, blocks * vectors, machine)
        sizes = cover(bounds[panels[0]], blocks) if panels else ((1, 1),)
        total = cost * sum((n or panel_extent / s) for s, n in sizes)
        if best is None or total < best[0]:
            best = (total, items, [Item(panels[0], sizes)] if panels else [])
    assert best is not None
    return best[1], best[2]


def _rows(
    rows: list[str], bounds: dict[str, DimLike], limit: int, vectors: int, machine: Machine
) -> tuple[list[Item], float]:
    """Row items and the cycles of one reduction step over all rows, for at most ``limit`` rows a tile."""
    if not rows:
        return [], machine.fma_cycles(1, vectors)
    inner = _candidates(bounds[rows[-1]], limit)
    options = [([Item(rows[-1], sizes)], _cycles(bounds[rows[-1]], sizes, 1, vectors, machine)) for sizes in inner]
    outer_extent = [_size(bounds[r]) for r in rows[:-1]]
    items, cost = min(options, key=lambda o: o[1])
    for n in outer_extent:
        cost *= n
    if len(rows) > 1 and isinstance(bounds[rows[-1]], int) and 2 * _size(bounds[rows[-1]]) <= limit:
        extent = _size(bounds[rows[-1]])
        outer = cover(bounds[rows[-2]], limit // extent)
        both = _cycles(bounds[rows[-2]], outer, extent, vectors, machine)
        for n in outer_extent[:-1]:
            both *= n
        if both < cost:
            return [Item(rows[-2], outer), Item(rows[-1], ((extent, 1),))], both
    return items, cost


def _candidates(extent: DimLike, limit: int) -> list[Sizes]:
    return [cover(extent, size) for size in range(limit, max(limit - 4, 0), -1)]


def _cycles(extent: DimLike, sizes: Sizes, times: int, vectors: int, machine: Machine) -> float:
    size = _size(extent)
    if sizes[0][1] is None:
        return size / sizes[0][0] * machine.fma_cycles(sizes[0][0] * times, vectors)
    return sum(count * machine.fma_cycles(s * times, vectors) for s, count in sizes if count)


def _size(extent: DimLike) -> int:
    return extent if isinstance(extent, int) else TYPICAL
