"""Splittable sums: which sums thread blocks of a GPU may compute in parts, and the estimated time of the parts and of
adding them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from mlc.dialects import kernel
from mlc.dialects.poly import LoopNest
from mlc.dialects.semantics.dims import Dim, DimLike, ceildiv, dim_min
from mlc.dialects.types import element_of
from mlc.passes.assumed_extents import LONG, SCHEDULED
from mlc.passes.cost.block_time import BlockTime, SplitSum, open_terms, split_keys
from mlc.passes.cost.nest_time import block_time
from mlc.passes.schedule.gpu.contraction import contraction
from mlc.passes.schedule.gpu.generic import long_rows
from mlc.passes.schedule.gpu.part_numbers import PART
from mlc.passes.schedule.gpu.strips import strips
from mlc.passes.schedule.gpu.tensor_cores import tensor_cores
from mlc.passes.schedule.gpu.tile_sizes import points
from mlc.passes.schedule.polyhedral.shared_axes import Axis
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.passes.schedule.rules.operand_roles import is_sum
from mlc.passes.schedule.rules.streaming import Stream, streams
from mlc.target import GpuTarget

WHOLE = ("f32", "f64", "i32", "i64")  # elements in which a part of a sum loses nothing


def split_sum(statements: Sequence[StatementView], target: GpuTarget, numerics: str) -> SplitSum | None:
    """Return the times of the sum of the first statement in parts; None if it cannot be split."""
    first = statements[0]
    terms = first.bounds[first.reduced[0]] if len(first.reduced) == 1 else None
    tiles = list(_tiles(statements, target, numerics)) if isinstance(terms, int) else []
    if not isinstance(terms, int) or not tiles:
        return None
    return SplitSum(tiles, terms, points([first.bounds[i] for i in first.parallel]), target)


def outer_parts(statements: Sequence[StatementView], target: GpuTarget, numerics: str) -> DimLike | None:
    """Return the extent of the outermost of several reduced iterators, which may be symbolic, if parts of one point
    each take less time; None if the sum is not split."""
    first = statements[0]
    tiles = list(_tiles(statements, target, numerics)) if len(first.reduced) > 1 else []
    if not tiles:
        return None
    terms, results = (points([first.bounds[i] for i in names]) for names in (first.reduced, first.parallel))
    extent = first.bounds[first.reduced[0]]
    return extent if SplitSum(tiles, terms, results, target).gains(points([extent])) else None


def open_parts(statements: Sequence[StatementView], target: GpuTarget, numerics: str) -> DimLike | None:
    """Return the number of parts of a sum with a symbolic number of terms; None if it is not split, because an assumed
    number of LONG terms takes about as long. A sum of all elements of an array is always split, since otherwise one
    block would compute it, however long it is."""
    first = statements[0]
    extent = first.bounds[first.reduced[0]]
    if len(first.reduced) > 1 or isinstance(extent, int):
        return None
    results = points([first.bounds[i] for i in first.parallel])
    split = SplitSum([*_tiles(statements, target, numerics)], LONG, results, target)
    worth = split.tiles and split.gains(LONG // SCHEDULED)
    return ceildiv(extent, part_terms(first)) if worth or not first.parallel else None


def part_terms(sum_: StatementView) -> int:
    """Return the number of terms of each part but the last, for a symbolic number of terms."""
    return open_terms(_terms(sum_), whole_array=not sum_.parallel)


def open_size(sum_: StatementView) -> DimLike:
    """Return the number of terms of a part, as a function of the iterator over the parts."""
    each = part_terms(sum_)
    return dim_min(each, _terms(sum_) - each * Dim.symbol(PART))


def _terms(sum_: StatementView) -> Dim:
    terms = sum_.bounds[sum_.reduced[0]]
    assert isinstance(terms, Dim)
    return terms


def _tiles(statements: Sequence[StatementView], target: GpuTarget, numerics: str) -> Iterator[BlockTime]:
    """Yield the times of the tiles from which the rules choose."""
    first = statements[0]
    if nest := next(strips(statements, target), None):
        *_, strip = nest.band
        held = points([first.bounds[i.iterator] for i in nest.band[:-1] if i.padded])
        others = points([first.bounds[i] for i in first.parallel]) // held
        for size in (128, 64, 32):
            if strip.size >= 32:
                yield BlockTime.of_threads(held, size, -(-others // size), target)
        return
    nests = list(tensor_cores(statements, target, numerics)) or list(contraction(statements, target))
    if not nests and any(long_rows(statements, target)):
        results = points([first.bounds[i] for i in first.parallel])
        yield BlockTime.of_terms(results, target.heuristics.row_elements, target)
    alike = [nest for nest in nests if _on_tensor_cores(nest) == _on_tensor_cores(nests[0])]
    chosen = [nest for nest in alike if nest is nests[0] or not _shares(nest)]  # other ones are for ``mlc tune`` only
    yield from dict.fromkeys(block_time(nest, first, target) for nest in chosen)


def _on_tensor_cores(nest: LoopNest) -> bool:
    """Return whether a nest of a product runs on tensor cores. For f32 with default numerics (3xTF32) such nests are
    candidates of ``mlc tune`` only: they take three products each, whose time is not that of one."""
    return nest.block is not None and nest.block.warps is not None


def _shares(nest: LoopNest) -> bool:
    """Return whether blocks share what they read or compute (clusters, stream-K)."""
    return nest.block is not None and (nest.block.cluster is not None or nest.block.streamk is not None)


def is_splittable(statements: Sequence[StatementView]) -> bool:
    """Return whether the first statement is a sum over arguments that no other statement writes."""
    first, others = (statements[0], statements[1:]) if statements else (None, ())
    if first is None or first.op.monoid is None or not first.reduced or element_of(first.op.out) not in WHOLE:
        return False
    read = {r.array for r in first.reads}
    indexed = any(isinstance(o, kernel.IndexOp) for o in first.op.walk())
    return not indexed and not any(s.op.monoid or s.write.array in {*read, first.write.array} for s in others)


def splittable_stream(statements: Sequence[StatementView]) -> Stream | None:
    """Return the stream of a kernel whose results are sums and maxima in local arrays, which can be computed in parts;
    None for other kernels. The number of terms may be symbolic, and so may a batch of which each point reads its own
    keys."""
    stream = next(streams(statements, symbolic=True), None)
    if stream is None or not stream.after or not any(map(is_sum, stream.inside)):
        return None
    if not all(isinstance(stream.any_extent(a), int) for a in rows_of(stream)):
        return None
    inside = [s.op for s in stream.inside]
    reduced = [s.op for s in stream.inside if stream.along[s.name] in s.reduced]
    whole = all(element_of(op.out) in WHOLE for op in reduced)
    local = all(isinstance(op.out.owner, kernel.LocalOp) for op in inside)
    indexed = any(isinstance(o, kernel.IndexOp) for op in inside for o in op.walk())
    return stream if whole and local and not indexed else None


def split_stream(stream: Stream, target: GpuTarget) -> SplitSum | None:
    """Return the times of a stream's reduction in parts; None unless it has two products: one along the streamed axis,
    one that sums over it. A symbolic batch counts as 1."""
    products = [s for s in stream.inside if is_sum(s)]
    if len(products) != 2:
        return None
    scores, values = products
    shared = {axis[s.name] for axis in (*stream.rows, stream.along) for s in products}
    if not all(isinstance(n, int) or i in shared for s in products for i, n in s.bounds.items()):
        return None
    terms = stream.any_extent(stream.along)
    keys, own = stream.along[scores.name], [axis[scores.name] for axis in rows_of(stream)]
    rows = _known([scores.bounds[i] for i in own])
    blocks = _known([scores.bounds[i] for i in scores.parallel if i not in (keys, *own)])
    size = _known([scores.bounds[i] for i in scores.reduced])
    columns = size + _known([values.bounds[i] for i in values.parallel]) // (rows * blocks)
    return split_keys(rows, blocks, columns, terms if isinstance(terms, int) else LONG, target) if own else None


def _known(extents: Sequence[DimLike]) -> int:
    """Return the product of those extents that are constants."""
    return math.prod(n for n in extents if isinstance(n, int))


def running_sum(stream: Stream) -> StatementView:
    """Return the first running reduction of a stream."""
    return next(s for s in stream.inside if stream.along[s.name] in s.reduced)


def rows_of(stream: Stream) -> list[Axis]:
    """Return the axes of queries that read the same keys: those on which the second operand of the first product does
    not depend."""
    scores = next(s for s in stream.inside if is_sum(s))
    keys = stream.along[scores.name]
    operand = next((r for r in scores.reads if r.depends_on(keys)), scores.write)
    return [axis for axis in stream.rows if not operand.depends_on(axis[scores.name])]
