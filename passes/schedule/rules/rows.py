"""Schedule rule for normalizations (softmax, layer norm): a row is reduced and rewritten while it is in the L1
cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlc.dialects.poly import LoopNest, TiledLoop
from mlc.dialects.semantics.dims import Dim, DimLike, product
from mlc.dialects.types import ITEMSIZE, element_of
from mlc.passes.cost.lane_sizes import lane_sizes
from mlc.passes.schedule.polyhedral.dependences import one_point
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.passes.schedule.rules.operand_roles import is_matrix_product
from mlc.passes.schedule.rules.register_tiles import size_of
from mlc.target import CpuTarget

FOUR_BYTES = ("f32", "i32")  # elements whose vectors exchange lanes with each other


def rows(statements: Sequence[StatementView], target: CpuTarget) -> Iterator[LoopNest]:
    """``S0[i, j] max, S1[i, j] exp, S2[i, j] sum`` → ``rows: S0 S1 S2 | i | j/64v``, with S1 and S2 in one loop."""
    whole = max(statements, key=lambda s: len(s.iters))
    band = [i for i in whole.iters if all(i in s.parallel for s in statements)]
    inner = [i for i in whole.iters if i not in band]
    known = all(i in whole.iters and s.bounds[i] == whole.bounds[i] for s in statements for i in s.iters)
    if not inner or not known or not any(s.op.monoid for s in statements) or not one_point(statements, band):
        return
    if sum(map(is_matrix_product, statements)) > 1:  # nests of their own compute several rows at a time
        return
    if not _fits_on_stack(statements, inner, target):
        return
    extent = whole.bounds[inner[-1]]
    yield from _multi_row(statements, band, inner, target)
    for vectors in _widths(extent, target):
        sizes = lane_sizes(extent, vectors * target.lanes, target.lanes)
        items = [*map(TiledLoop, inner[:-1]), TiledLoop(inner[-1], sizes, True)]
        yield LoopNest("rows", tuple(s.name for s in statements), tuple(map(TiledLoop, band)), tuple(items))


def _fits_on_stack(statements: Sequence[StatementView], inner: Sequence[str], target: CpuTarget) -> bool:
    """Return whether the local arrays have constant extents and fit on the stack. They keep the axes along which
    ``inner`` iterators run, including an axis of rows of which the border of a padding has only one."""
    writes = {s.write.array: (s.write, element_of(s.op.out)) for s in statements if s.write.array.startswith("t")}
    used: DimLike = 0
    for write, element in writes.values():
        axes = zip(write.shape, write.index, strict=True)
        kept = [extent for extent, at in axes if isinstance(at, Dim) and at.symbols() & {*inner}]
        used = used + product(kept) * ITEMSIZE[element]
    return isinstance(used, int) and used <= target.stack


def _multi_row(
    statements: Sequence[StatementView], band: Sequence[str], inner: Sequence[str], target: CpuTarget
) -> Iterator[LoopNest]:
    """``S0[i, j] add, S1[i] tanh`` → ``rows: S0 S1 | i/16v | j/32v``: a tile has as many short rows as a vector has
    lanes. The results of the rows are one vector, so that the statements after the reduction are vectorized too. Of
    the scores of an attention the rows are keys, which stay in the L1 cache for all queries."""
    lanes, inside = target.lanes, [s for s in statements if s.reduced]
    made = {s.write.array for s in statements}
    if len(inner) > 1 or any(s.reduced or s.iters != tuple(band) for s in statements if s not in inside):
        return
    if any(s.reduced != tuple(inner) or made & {r.array for r in s.reads} for s in inside) or not band:
        return
    rows, extent = inside[0].bounds[band[-1]], inside[0].bounds[inner[0]]
    if not isinstance(extent, int) or size_of(rows) < lanes or extent < lanes:
        return
    if extent > lanes * (target.vector_registers // 4) or any(s.write.stride(band[-1]) != 1 for s in statements):
        return
    if any(element_of(s.op.out) not in FOUR_BYTES or not _along(s, inner[0]) for s in inside):
        return
    width = extent if extent <= 2 * lanes else lanes
    tile = TiledLoop(band[-1], lane_sizes(rows, lanes, lanes), True)
    shared = next((n for n, i in enumerate(band[:-1]) if _meets(inside, i, band[-1])), len(band) - 1)
    tiles = (*map(TiledLoop, band[:shared]), tile, *map(TiledLoop, band[shared:-1]))
    item = TiledLoop(inner[0], lane_sizes(extent, width, lanes), True)
    yield LoopNest("rows", tuple(s.name for s in statements), tiles, (item,))


def _meets(sums: Sequence[StatementView], i: str, lanes: str) -> bool:
    """Return whether each point of ``i`` reads the same rows of a factor, as the queries of an attention read keys: a
    tile of these then stays in the L1 cache."""
    return all(is_matrix_product(s) and not any(r.depends_on(i) and r.depends_on(lanes) for r in s.reads) for s in sums)


def _along(s: StatementView, lanes: str) -> bool:
    """Return whether all reads that depend on ``lanes`` are contiguous along it."""
    return all(r.stride(lanes) == 1 for r in s.reads if r.depends_on(lanes))


def _widths(extent: DimLike, target: CpuTarget) -> list[int]:
    """Return numbers of vectors for each iteration: a whole short row, which then stays in registers, or as many as the
    sums that a CPU keeps in flight."""
    usual = (4, 2, 1)
    if not isinstance(extent, int):
        return [*usual]
    row = max(1, -(-extent // target.lanes))  # for extent 0 the code has an iteration, which never runs
    fitting = [w for w in usual if w <= extent // target.lanes] or [1]
    return [*dict.fromkeys([row, *fitting])] if row <= target.vector_registers // 4 else fitting
