"""Schedule rule for running reductions on a GPU: a thread block has a block of rows, and steps over blocks of the
reduction (FlashAttention).

    S0 product, S1 max, S2 exp, S3 sum, S4 product, S5 scaled by 1 / sum
      →   contraction: S0 | b@8 m@16t n@32s b m/64 n/32v | k & rows: S1 | b@8 m@16t n@32s b m/64v | n/32v
          & elementwise: S2 | … b m/64 n/32v | & rows: S3 | … & contraction: S4 | … & elementwise: S5 | b@8 m@16t …

Scores and running results are in shared memory. The lanes that share a row combine it by shuffles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from mlc.dialects.kernel import MMA_SHAPES
from mlc.dialects.poly import LoopNest, ThreadBlock, TiledLoop
from mlc.dialects.semantics.dims import Dim
from mlc.passes.schedule.gpu.generic import joint
from mlc.passes.schedule.gpu.stream_blocks import HALF_FULL, StreamBlocks, blocks_of, columns_of, is_loop, nests_of
from mlc.passes.schedule.gpu.tensor_cores import instruction_of
from mlc.passes.schedule.gpu.tile_sizes import lanes_of, padded
from mlc.passes.schedule.polyhedral.shared_axes import Axis
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.passes.schedule.rules.candidates import Rule, first_of
from mlc.passes.schedule.rules.operand_roles import is_sum
from mlc.passes.schedule.rules.streaming import Stream, streams
from mlc.target import GpuTarget
from mlc.target.heuristics import GpuHeuristics, Tiles


def streamed(
    statements: Sequence[StatementView], target: GpuTarget, rules: Sequence[Rule], numerics: str = "default"
) -> Iterator[list[LoopNest]]:
    """Yield nests of dependent statements: streamed if possible, else one joint nest."""
    yield from first_of(rule(statements, target, rules) for rule in (partial(streaming, numerics=numerics), joint))


def streaming(
    statements: Sequence[StatementView], target: GpuTarget, rules: Sequence[Rule], numerics: str = "default"
) -> Iterator[list[LoopNest]]:
    """Yield candidates: first the largest blocks that fit in shared memory and occupy all multiprocessors, then the
    others that fit."""
    for stream in streams(statements, symbolic=True):
        if numerics != "strict" and _rows_share_reads(stream):
            yield from _on_tensor_cores(stream, target)
        known = target.heuristics
        fitting = (each for each in _shapes(stream, known) if _bytes(stream, *each, known) <= target.shared)
        shapes = [shape for shape in fitting if is_loop(stream, shape[0])]
        busy = [shape for shape in shapes if blocks_of(stream, shape[0]) >= target.multiprocessors]
        for shape in dict.fromkeys([*busy, *shapes]):
            yield [*nests_of(StreamBlocks(stream, *shape, known.stream_columns))]


def _shapes(stream: Stream, heuristics: GpuHeuristics) -> Tiles:
    if not _rows_share_reads(stream):
        return heuristics.own_rows_tiles
    rows = stream.any_extent(stream.rows[-1])
    if isinstance(rows, int):
        return heuristics.few_rows_tiles if rows < heuristics.queries else heuristics.stream_tiles
    return tuple(shape for shape in heuristics.stream_tiles if shape[0] >= heuristics.open_rows)


def _rows_share_reads(stream: Stream) -> bool:
    """Return whether rows read elements in common."""
    return any(not read.depends_on(stream.rows[-1][s.name]) for s in stream.inside for read in s.reads)


def _on_tensor_cores(stream: Stream, target: GpuTarget) -> Iterator[list[LoopNest]]:
    """Yield candidates whose products multiply fragments of halves, while scores and what is computed from them stay in
    registers."""
    products, known = [s for s in stream.inside if is_sum(s) and s.op.ins[1:]], target.heuristics
    mma = {instruction_of(s) for s in products}
    if mma != {MMA_SHAPES["f16"]} or not all(_is_whole(s, stream, known.stream_columns) for s in products):
        return
    least = 0 if isinstance(stream.any_extent(stream.rows[-1]), int) else known.open_fragment_rows
    sizes = known.attention_tiles if stream.rescales else known.chain_tiles
    shapes = [s for s in sizes if s[0] >= least and _fits(stream, products, *s, target)]
    busy = [shape for shape in shapes if blocks_of(stream, shape[0]) >= target.multiprocessors]
    for rows, points, warps in dict.fromkeys([*busy, *sorted(shapes, key=lambda shape: (shape[0], -shape[1]))]):
        first, *others = nests_of(StreamBlocks(stream, rows, points, known.stream_columns, fragments=True))
        block = ThreadBlock((warps, 1), str(MMA_SHAPES["f16"]), depth=known.stream_depth)
        yield [_staged(nest, products, points, known.stream_steps) for nest in (replace(first, block=block), *others)]


def _is_whole(s: StatementView, stream: Stream, most: int) -> bool:
    """Return whether a tile has all columns of a product's result, at most ``most``, and the product has one reduced
    iterator."""
    columns = s.bounds[lanes_of(s)]
    of_points = stream.along[s.name] not in s.reduced
    return len(s.reduced) == 1 and (of_points or isinstance(columns, int) and columns <= most)


def _fits(
    stream: Stream, products: Sequence[StatementView], rows: int, points: int, warps: int, target: GpuTarget
) -> bool:
    """Return whether the registers of a thread and the shared memory of a block suffice for blocks of ``rows`` ×
    ``points``, and more than half of each fragment is filled."""
    known = target.heuristics
    sizes = StreamBlocks(stream, rows, points, known.stream_columns, fragments=True).sizes(products[0])
    if {padded(n) for n in sizes.values()} != {rows, points} or not is_loop(stream, rows):
        return False
    last_rows, last_points = (_partial_block_points(stream, a, n) for a, n in _blocks(stream, sizes, products[0]))
    if not stream.rescales and 0 < last_rows < HALF_FULL:
        return False
    step = known.stream_steps[-1]
    sums, left, right = 0, 0, 0  # elements of sums, and of the operands of rows and of points
    for s in products:
        running = stream.along[s.name] in s.reduced
        columns = padded(columns_of(s, lanes_of(s), known.stream_columns)) if running else points
        depth = points if running else -(-int(s.bounds[s.reduced[0]]) // step) * step  # type: ignore[arg-type]
        sums += rows * columns
        left += 0 if running else (1 + (last_points > 0)) * rows * depth
        right += (known.stream_depth + (last_points > 0)) * columns * depth
    if last_rows and stream.rescales:  # of an attention these may be few, and no fragments: nothing is shared
        left, right = 2 * left, 2 * right
    elif last_rows and padded(last_rows) != rows:
        left *= 2
    room = target.shared_optin - known.reserved
    return sums <= _most_sums(stream, known) * warps * target.warp and 2 * (left + right) <= room


def _most_sums(stream: Stream, heuristics: GpuHeuristics) -> int:
    """Return the most sums of a thread. There are fewer for symbolic extents if statements read a matrix argument along
    the rows and the reduction, such as a mask."""
    if not stream.rescales:
        return heuristics.chain_sums
    made = {s.write.array for s in stream.inside}
    reads = ((r, s.name) for s in stream.inside for r in s.reads if r.array not in made)
    row, along = stream.rows[-1], stream.along
    matrices = [r for r, name in reads if r.depends_on(row[name]) and r.depends_on(along[name])]
    if not stream.is_open or not matrices:
        return heuristics.stream_sums
    atoms = (a for r in matrices for i in r.index if isinstance(i, Dim) for monomial, _ in i.terms for a in monomial)
    return heuristics.open_sums if all(isinstance(a, str) for a in atoms) else heuristics.merged_sums


def _partial_block_points(stream: Stream, axis: Axis, size: int) -> int:
    """Return the points of the last block of an axis if it is smaller than the others; 0 if it is not, or the extent is
    symbolic."""
    extent = stream.any_extent(axis)
    return extent % size if isinstance(extent, int) else 0


def _blocks(stream: Stream, sizes: Mapping[str, int], s: StatementView) -> list[tuple[Axis, int]]:
    """Return the axes in blocks of several points, with the sizes of the blocks. A smaller last block has its own loop.
    Along the reduction that loop has its own local arrays; for rows it shares arrays of equal sizes."""
    return [(axis, sizes[axis[s.name]]) for axis in (stream.rows[-1], stream.along)]


def _staged(nest: LoopNest, products: Sequence[StatementView], points: int, sizes: Sequence[int]) -> LoopNest:
    """Return the nest of a product with the steps that are staged together, of ``sizes``; other nests unchanged."""
    s = next((s for s in products if s.name == nest.statements[0]), None)
    if s is None:
        return nest
    (along,) = s.reduced
    split = nest.tiled_blocks.get(along)
    steps = points if split else next((n for n in sizes if s.bounds[along] % n == 0), sizes[-1])
    return replace(nest, inner=(TiledLoop(along, ((steps, None),)),))


def _bytes(stream: Stream, rows: int, points: int, heuristics: GpuHeuristics) -> int:
    """Return the bytes of shared memory of a block: intermediate arrays, running results, and the operands of some
    steps."""
    made = {s.write.array for s in stream.inside if stream.along[s.name] not in s.reduced}
    results = [s for s in stream.inside if is_sum(s) and stream.along[s.name] in s.reduced]
    columns = [columns_of(s, lanes_of(s), heuristics.stream_columns) for s in results]
    staged = sum(heuristics.stream_staged * (rows + n) for n in (points, *columns))
    return 4 * (rows * (points * len(made) + sum(columns)) + staged)
