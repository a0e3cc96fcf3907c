"""Schedule rules on a GPU for elementwise statements, windows, rows, and dependent statements of one space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlc.dialects.poly import LoopNest, TiledLoop
from mlc.passes.cost.lane_sizes import lane_sizes
from mlc.passes.schedule.gpu.tile_sizes import budget_of, lanes_of, points, spread
from mlc.passes.schedule.polyhedral.dependences import one_point
from mlc.passes.schedule.polyhedral.statement_view import StatementView, epilogue_follows
from mlc.passes.schedule.rules.candidates import Rule
from mlc.passes.schedule.rules.elementwise import is_elementwise
from mlc.passes.schedule.rules.fallback import fallback
from mlc.passes.schedule.rules.operand_roles import is_matrix_product
from mlc.target import GpuTarget


def elementwise(statements: Sequence[StatementView], target: GpuTarget) -> Iterator[LoopNest]:
    """``S0[i, j]: b[i, j] = exp(a[i, j])`` → ``elementwise: S0 | i/16p j/64vp |``: 1024 points for each thread
    block."""
    first = statements[0]
    if not is_elementwise(statements):
        return
    yield from _spread("elementwise", statements, first, (), target)


def window(statements: Sequence[StatementView], target: GpuTarget) -> Iterator[LoopNest]:
    """``S0[c, y, x, k]: t[c, y, x] max= a[c, y, 2x + k]`` → ``window: S0 | c/4p y/4p x/16vp | k``."""
    first = statements[0]
    if first.op.monoid is None or not epilogue_follows(statements):
        return
    if first.parallel:
        rows = _slides(first)
        inner = tuple(map(TiledLoop, first.reduced))
        most = target.warp if _slides_across(first) else None
        each = target.heuristics.window_rows if rows else 1
        yield from _spread("window", statements, first, inner, target, each, rows, most)


def _slides(s: StatementView) -> bool:
    """Return whether a window slides along the outer axes of an image. Then a thread has several rows, which share
    loads."""
    return any(r.slides(p, k) for r in s.reads for p in s.parallel[:-1] for k in s.reduced)


def _slides_across(s: StatementView) -> bool:
    """Return whether a window slides along two axes or more, and not along the contiguous one, which holds channels
    (NHWC). Then a warp has few channels, so that its threads have neighbouring pixels."""
    found = {p for r in s.reads for p in s.parallel for k in s.reduced if r.slides(p, k)}
    return len(found) > 1 and lanes_of(s) not in found


def rows(statements: Sequence[StatementView], target: GpuTarget) -> Iterator[LoopNest]:
    """``S0[i, j] max, S1[i, j] exp, S2[i, j] sum`` → ``rows: S0 S1 S2 | i | j/1024v``: a thread block has one row, in
    registers."""
    whole = max(statements, key=lambda s: len(s.iters))
    band = [i for i in whole.iters if all(i in s.parallel for s in statements)]
    inner = [i for i in whole.iters if i not in band]
    known = all(i in whole.iters and s.bounds[i] == whole.bounds[i] for s in statements for i in s.iters)
    if not inner or not known or not any(s.op.monoid for s in statements) or not one_point(statements, band):
        return
    if sum(map(is_matrix_product, statements)) > 1:  # nests of their own compute several rows at a time
        return
    width = target.block_threads * target.heuristics.row_elements
    items = (*map(TiledLoop, inner[:-1]), TiledLoop(inner[-1], lane_sizes(whole.bounds[inner[-1]], width, width), True))
    yield LoopNest("rows", tuple(s.name for s in statements), tuple(map(TiledLoop, band)), items)


def long_rows(statements: Sequence[StatementView], target: GpuTarget) -> Iterator[LoopNest]:
    """Yield the candidates of ``rows`` for a single reduction along contiguous elements that has at least a warp of
    terms: with ``window``, one thread would read them one after another."""
    first = statements[0]
    if first.op.monoid is None or not first.reduced:
        return
    along = first.reduced[-1]
    contiguous = any(r.stride(along) == 1 for r in first.reads)
    if contiguous and points([first.bounds[along]]) >= target.warp:
        yield from rows(statements, target)


def joint(statements: Sequence[StatementView], target: GpuTarget, rules: Sequence[Rule]) -> Iterator[list[LoopNest]]:
    """Yield one nest over the common iterators of dependent statements, if all dependences stay within a point of
    these."""
    nest = fallback(statements)
    band = [item.iterator for item in nest.band]
    first = statements[0]
    if not band or not one_point(statements, band):
        return
    lanes = lanes_of(first) if lanes_of(first) in band else band[-1]
    budget = budget_of([first.bounds[i] for i in band], target, 1)
    tile = spread(band, first.bounds, lanes, budget, target.heuristics)
    yield [LoopNest("joint", nest.statements, tile, nest.inner)]


def _spread(
    rule: str, statements: Sequence[StatementView], first: StatementView, inner: tuple[TiledLoop, ...],
    target: GpuTarget, most: int | None = None, divide: bool = False, widest: int | None = None,
) -> Iterator[LoopNest]:  # fmt: skip
    """Yield nests with tiles over all parallel iterators, of at most ``most`` points for each thread. Further
    candidates have fewer points. A tile has at most ``widest`` contiguous points."""
    lanes, names = lanes_of(first), tuple(s.name for s in statements)
    best = budget_of([first.bounds[i] for i in first.parallel], target, most or target.heuristics.points)
    for budget in dict.fromkeys((best, target.block_threads, 4 * target.warp)):
        tile = spread(first.parallel, first.bounds, lanes, budget, target.heuristics, divide, widest)
        yield LoopNest(rule, names, tile, inner)
