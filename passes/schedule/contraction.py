"""Schedule rule for sums of products: a register tile of rows × vectors, updated by one rank-1 step a reduction point.

One operand (B) is read along the lanes of the result, the other (A) is broadcast; their roles follow from the strides.
Tiles are ranked by the cycles of their inner step over an exact cover of the rows. The order of the band decides which
operand stays in a cache while the other passes: B's panel, the whole of A, or a row of A.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import BlockArgument

from mlc.dialects import kernel
from mlc.dialects.dims import Dim, DimLike
from mlc.passes.schedule.candidates import by_rank
from mlc.passes.schedule.cover import Sizes, cover
from mlc.passes.schedule.lanes import lane_sizes, long_run
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.schedule import Item, Nest
from mlc.passes.schedule.view import Access, StatementView

SUM_BLOCK = 128  # terms of a sum between additions to its total: rounding errors grow with the longer of the two
UNCUT = 160  # terms of a block that may stay together where a cut would leave parts of different lengths
LEAST_BLOCK = 32  # of balanced sums: adding to the total takes as long as a term or two
TYPICAL = 256  # what a symbolic extent is taken for when costs are compared

FEWER = 8  # how many numbers of rows are tried, from the most that fit the registers on

PRODUCTS = (["arith.mulf"], ["arith.muli"], ["dot4"])
WIDENED = ("arith.extsi", "arith.extui", "builtin.unrealized_conversion_cast")  # factors of smaller integers

Items = tuple[Item, ...]
Tile = tuple[float, Items]  # with its cycles


def contraction(statements: Sequence[StatementView], machine: Machine, balanced: bool = False) -> Iterator[Nest]:
    """``S0[m, n, k]: t[m, n] += a[m, k]·b[k, n]`` → ``contraction: S0 | n/32v m/14 | k``.

    ``balanced``: sums are cut for the least error, and not for speed.
    """
    first = statements[0]
    if not _is_sum(first) or any(s.op.monoid or s.iters != first.parallel for s in statements[1:]):
        return
    lanes = next((i for i in reversed(first.parallel) if first.write.stride(i) == 1), None)
    if lanes is None:
        return
    for a, others in _factors(first):
        if not a.depends_on(lanes) and all(unit_stride(b, lanes) for b in others):
            roles = _Roles(first, lanes, a, others[0])
            if not roles.slides:
                yield from _plans(statements, roles, machine, _balanced(first) if balanced else (SUM_BLOCK, UNCUT))
            return


def _is_sum(s: StatementView) -> bool:
    return s.op.monoid is not None and s.op.monoid.data == "add" and len(s.reads) > 1


def _factors(s: StatementView) -> Iterator[tuple[Access, tuple[Access, ...]]]:
    """Each factor of a product that is read as it is, and what the other is read from: one operand, or the words and
    scales that it is unpacked from."""
    ops = {o: o.op.data if isinstance(o, kernel.LanewiseOp) else o.name for o in s.op.body.block.ops}
    product = [name for name in ops.values() if name not in (*WIDENED, "poly.yield")]
    last = list(ops)[-1].operands[0].owner
    unpacked = "arith.shrsi" in product and ops.get(last) == "arith.mulf"
    if not unpacked and (len(s.reads) != 2 or product not in PRODUCTS):
        return
    for value in last.operands:
        while not isinstance(value, BlockArgument) and value.owner.name in WIDENED:
            value = value.owner.operands[0]
        if isinstance(value, BlockArgument):
            yield s.reads[value.index], tuple(r for n, r in enumerate(s.reads) if n != value.index)


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


def _plans(
    statements: Sequence[StatementView], roles: _Roles, machine: Machine, block: tuple[int, int]
) -> Iterator[Nest]:
    names = tuple(v.name for v in statements)
    inner = _partial_sums(roles.s, *block)  # one length: shorter blocks are slower, and change the result
    for tiles, order in by_rank(_tiles(roles, machine), _orders(roles, machine)):
        tiled = {item.iterator: item for item in tiles}
        yield Nest("contraction", names, tuple(tiled.get(i, Item(i)) for i in order), inner)


def _orders(roles: _Roles, machine: Machine) -> Iterator[tuple[str, ...]]:
    """Bands that keep a panel of B while A passes, rows of A while B passes, one row of A. The second comes first for
    matrices stored by rows of which B stays in the L2 cache and what passes with A does not."""
    rows, columns = roles.rows, [*roles.panels, roles.lanes]
    shared = [i for i in roles.s.parallel if i not in (*rows, *columns)]
    orders = ((*shared, *columns, *rows), (*shared, *rows, *columns), (*shared, *rows[:-1], *columns, *rows[-1:]))
    terms, m, n = (math.prod(_size(roles.s.bounds[i]) for i in some) for some in (roles.s.reduced, rows, columns))
    by_rows = not roles.panels and n > 2 * machine.lanes
    streams = by_rows and 4 * n * terms <= machine.l2 // 2 and 4 * m * max(n, terms) > machine.l2
    yield from (orders[1], orders[0], orders[2]) if streams else orders


def _balanced(s: StatementView) -> tuple[int, int]:
    """As many terms a block as there are blocks, as a power of two: the error grows with the longer of both sums."""
    terms = math.prod(_size(s.bounds[i]) for i in s.reduced)
    block = min(max(2 ** round(math.log2(terms) / 2), LEAST_BLOCK), SUM_BLOCK)
    return block, block


def _partial_sums(s: StatementView, most: int, uncut: int) -> Items:
    """The inner loops, the outermost ones in blocks of at most ``most`` terms that are summed apart; ``uncut`` terms
    (3 x 3 x 16) stay together where ``most`` would cut them unevenly."""
    if not isinstance(s.op.init, FloatAttr):
        return tuple(Item(i) for i in s.reduced)
    items: list[Item] = []
    terms = 1
    for n, name in reversed(list(enumerate(s.reduced))):
        extent = s.bounds[name]
        size = max(1, most // terms)
        if isinstance(extent, int) and terms * extent <= (uncut if extent % size else most):
            items.insert(0, Item(name))
            terms *= extent
            continue
        block = Item(name, ((size, None),), partial=True)
        return (*(Item(i) for i in s.reduced[:n]), block, *items)
    return tuple(items)


def _lane_tile(roles: _Roles, machine: Machine) -> int:
    extent = roles.s.bounds[roles.lanes]
    if not roles.rows and not roles.panels:  # nothing is read twice
        return long_run(roles.s, roles.lanes, machine) * machine.lanes
    if not isinstance(extent, int) or extent >= 2 * machine.lanes:
        return 2 * machine.lanes
    return extent if extent < machine.lanes or extent % machine.lanes else machine.lanes


def _tiles(roles: _Roles, machine: Machine) -> Iterator[Items]:
    """Tiles of lanes, rows and panels, the cheapest first; other widths than the usual come behind the best of that."""
    extent, stored = roles.s.bounds[roles.lanes], block_of(roles.b, roles.lanes)
    usual = stored or _lane_tile(roles, machine)
    yield _ranked(_register_tiles(roles, usual, machine))[0]
    widths = [n * machine.lanes for n in (1, 2, 3, 4)] if stored is None else []
    others = (group for w in widths if w <= _size(extent) for group in _register_tiles(roles, w, machine))
    yield from _ranked([*_register_tiles(roles, usual, machine), *others])


def _register_tiles(roles: _Roles, width: int, machine: Machine) -> Iterator[list[Tile]]:
    """Rows of the innermost one or two row iterators × vectors of lanes × a panel iterator; a list a vector count."""
    bounds, panel = roles.s.bounds, roles.panels[-1:]
    vectors = -(-width // machine.lanes)
    panel_extent = _size(bounds[panel[0]]) if panel else 1
    lanes = Item(roles.lanes, lane_sizes(bounds[roles.lanes], width), True)
    tiles_of_lanes = -(-_size(bounds[roles.lanes]) // width)
    for blocks in range(1, min(panel_extent, 4) + 1):
        limit = max((r for r in range(1, machine.registers) if machine.fits(r, blocks * vectors)), default=1)
        sizes = cover(bounds[panel[0]], blocks) if panel else ((1, 1),)
        times = tiles_of_lanes * sum((n or panel_extent / s) for s, n in sizes)
        items = (lanes, *(Item(i, sizes) for i in panel))
        rows = _rows(roles.rows, bounds, limit, blocks * vectors, machine)
        yield [(cost * times, (*items, *row)) for cost, row in rows]


def _ranked(groups: Iterable[list[Tile]]) -> list[Items]:
    """The cheapest of each group by their cost, then the second of each, and so on: neighbours are much the same."""
    places = [(n, tile) for group in groups for n, tile in enumerate(sorted(group, key=_cost))]
    return [items for _, (_, items) in sorted(places, key=lambda place: (place[0], place[1][0]))]


def _cost(tile: Tile) -> float:
    return tile[0]


def _rows(
    rows: list[str], bounds: dict[str, DimLike], limit: int, vectors: int, machine: Machine
) -> Iterator[tuple[float, Items]]:
    """Row items and the cycles of one reduction step over all rows, for at most ``limit`` rows a tile."""
    if not rows:
        yield machine.fma_cycles(1, vectors), ()
        return
    inner, extent = rows[-1], _size(bounds[rows[-1]])
    outer = math.prod(_size(bounds[r]) for r in rows[:-1])
    # of as many cycles first: a taller tile reads less of B
    if len(rows) > 1 and isinstance(bounds[inner], int) and 2 * extent <= limit:
        sizes = cover(bounds[rows[-2]], limit // extent)
        cycles = _cycles(bounds[rows[-2]], sizes, extent, vectors, machine)
        others = math.prod(_size(bounds[r]) for r in rows[:-2])
        yield others * cycles, (Item(rows[-2], sizes), Item(inner, ((extent, 1),)))
    for sizes in (cover(bounds[inner], size) for size in _row_counts(bounds[inner], limit)):
        yield outer * _cycles(bounds[inner], sizes, 1, vectors, machine), (Item(inner, sizes),)


def _row_counts(extent: DimLike, limit: int) -> Sequence[int]:
    """Rows of a tile to try. Of a symbolic extent powers of two first: most sizes that models are called with are their
    multiples, and tiles that are alike ask for weights evenly (``prefetch``)."""
    counts = range(limit, max(limit - FEWER, 0), -1)
    return counts if isinstance(extent, int) else sorted(counts, key=lambda n: n & (n - 1) != 0)


def _cycles(extent: DimLike, sizes: Sizes, times: int, vectors: int, machine: Machine) -> float:
    size = _size(extent)
    if sizes[0][1] is None:
        return size / sizes[0][0] * machine.fma_cycles(sizes[0][0] * times, vectors)
    return sum(count * machine.fma_cycles(s * times, vectors) for s, count in sizes if count)


def _size(extent: DimLike) -> int:
    return extent if isinstance(extent, int) else TYPICAL
