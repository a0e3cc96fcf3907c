"""Schedule rule for sums of products on tensor cores: tiles of whole fragments, and the warps that share each tile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from math import prod

from mlc.dialects.kernel import MMA_SHAPES, MmaShape, factor_element
from mlc.dialects.poly import LoopNest, ThreadBlock, TiledLoop
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import ITEMSIZE, element_of
from mlc.passes.cost.block_time import WARPGROUP
from mlc.passes.cost.nest_time import faster_pair, fastest_first, sharing
from mlc.passes.schedule.gpu.contraction import computed, contraction, roles_of
from mlc.passes.schedule.gpu.tile_sizes import padded, points
from mlc.passes.schedule.polyhedral.statement_view import StatementView, epilogue_follows
from mlc.passes.schedule.rules.operand_roles import OperandRoles
from mlc.target import GpuTarget
from mlc.target.heuristics import GpuHeuristics

ROW = 128  # bytes of the steps that are staged together of what warpgroups multiply


def tensor_cores(
    statements: Sequence[StatementView], target: GpuTarget, numerics: str = "default"
) -> Iterator[LoopNest]:
    """``S0[m, n, k]: t[m, n] += a[m, k]·b[k, n]`` of halves →
    ``contraction: S0 | m/128p n/128vp | k/32 | warps=2x4 mma=m16n8k16``.

    For factors of f32 these candidates come after those of ``contraction``, because a factor is the sum of two TF32
    numbers, which takes three products; with relaxed numerics they come first. With strict numerics only bytes are
    multiplied. Warpgroups multiply floats of 8 bits only with relaxed numerics.
    """
    first = statements[0]
    mma, roles = instruction_of(first), roles_of(first)
    if mma is None or roles is None or roles.panels or not epilogue_follows(statements):
        return
    if numerics == "strict" and not mma.exact:
        return
    precise = mma.bits < 32 and not mma.promoted  # other products of warpgroups are not as near as those of f32
    nests = _nests(statements, roles, mma, target, warpgroups=precise or numerics == "relaxed")
    yield from nests if mma.bits < 32 or numerics == "relaxed" else chain(contraction(statements, target), nests)


def instruction_of(s: StatementView) -> MmaShape | None:
    """Return the instruction for the factors of a sum of products; None if no instruction multiplies their types, or
    the statement is no sum."""
    element = factor_element(element_of(v) for v in s.op.ins)
    mma = MMA_SHAPES[element] if element else None
    if mma is None or element_of(s.op.out) != mma.total or not s.reduced:
        return None
    return mma


def _nests(
    statements: Sequence[StatementView], roles: OperandRoles, mma: MmaShape, target: GpuTarget, warpgroups: bool
) -> Iterator[LoopNest]:
    """Yield candidates, the best first. For each tile, those of warpgroups come first, in pairs of blocks if L2 bounds
    the time."""
    names, known = tuple(s.name for s in statements), target.heuristics
    read = warpgroups and target.warpgroups and (mma.bits == 16 or _is_along_the_sum(roles.s))
    groups = known.warpgroup_tiles if read else ()
    # sums of the staged steps of promoted products are held beside those of a tile
    largest = known.warpgroup_tiles if mma.promoted else known.bulk_tiles
    bulk = largest if groups and _has_tensor_maps(roles.s) else ()
    tiles = [_persistent(_tile(roles, mma, *shape, known, warpgroup=True), roles.s, target) for shape in bulk]
    tiles += [_tile(roles, mma, *shape, known, warpgroup=True) for shape in groups]
    few = computed(statements, roles.lanes) >= known.computed
    sums = known.computed_sums * target.warp
    shapes = [(tile, warps) for tile, warps in known.fragment_tiles if not few or prod(tile) <= sums * prod(warps)]
    tiles += [_tile(roles, mma, *shape, known) for shape in shapes]
    nests = [LoopNest("contraction", names, band, inner, block=block) for band, inner, block in filter(None, tiles)]
    nests.sort(key=lambda nest: -nest.band[-2].size * nest.band[-1].size)
    paired = [faster_pair(nest, _pairs(nest, statements[0], target), statements[0], target) for nest in nests]
    ordered = sharing(fastest_first(paired, statements[0], target), statements[0], target)
    yield from ordered[:1]
    alternating = known.pingpong_tiles[-1:] if mma.promoted else known.pingpong_tiles
    own = () if not bulk or _is_widened(roles.s) else alternating
    own_tiles = [_pingpong(_tile(roles, mma, *shape, known, warpgroup=True), roles.s, target) for shape in own]
    more = [LoopNest("contraction", names, band, inner, block=block) for band, inner, block in filter(None, own_tiles)]
    more += [each for nest in nests for each in (nest, *_clusters(nest, statements[0], target, known.clusters))]
    rest = dict.fromkeys([*ordered[1:], *more])
    yield from fastest_first([nest for nest in rest if nest != ordered[0]], statements[0], target)


Tile = tuple[tuple[TiledLoop, ...], tuple[TiledLoop, ...], ThreadBlock]
"""The band, the inner loops and the thread block."""


def _tile(
    roles: OperandRoles,
    mma: MmaShape,
    shape: tuple[int, int],
    warps: tuple[int, int],
    heuristics: GpuHeuristics,
    warpgroup: bool = False,
) -> Tile | None:
    """Return a tile that is at most as large as the padded extents; None if warpgroups need a larger one."""
    s, (*outer, row) = roles.s, roles.rows
    m, n = (
        _fitting(s.bounds[i], size, least)
        for i, size, least in zip((row, roles.lanes), shape, (mma.rows, mma.columns), strict=True)
    )
    if warpgroup and (m, n) != shape:
        return None
    grid = min(warps[0], m // mma.rows), min(warps[1], n // mma.columns)
    shared = [i for i in s.parallel if i not in (*roles.rows, roles.lanes)]
    tile = TiledLoop(row, ((m, None),), padded=True), TiledLoop(roles.lanes, ((n, None),), vectorized=True, padded=True)
    *sums, last = s.reduced
    most = heuristics.fragment_steps
    steps = 8 * ROW // mma.bits if warpgroup else most if mma.bits < 32 else most // 2
    extent = s.bounds[last]
    if mma.bits == 16 and isinstance(extent, int) and extent <= steps and steps > mma.steps:
        steps = steps // 2  # copies of one group are in flight while another is multiplied
    whole = not isinstance(extent, int) or extent >= steps
    inner = (*map(TiledLoop, sums), TiledLoop(last, ((steps, None),)) if whole else TiledLoop(last))
    known = str(mma) if whole and not warpgroup else None  # fewer steps may not be whole fragments: the passes see
    return (*map(TiledLoop, (*shared, *outer)), *tile), inner, ThreadBlock(grid, known)


def _persistent(tile: Tile | None, s: StatementView, target: GpuTarget) -> Tile | None:
    """Return the tile with operands that other warps copy. If there are more tiles than multiprocessors, each block
    takes several, and copies the operands of one tile while it writes the results of another."""
    if tile is None:
        return None
    band, inner, block = tile
    count = prod(-(-points([s.bounds[item.iterator]]) // padded(item.size)) or 1 for item in band)
    many = count > target.multiprocessors
    raster = target.heuristics.raster_rows if many else None
    return band, inner, replace(block, copy="tma", raster=raster, persist=many or None)


def _pingpong(tile: Tile | None, s: StatementView, target: GpuTarget) -> Tile | None:
    """Return the tile with ping-pong, in which two warpgroups have one tile each, in turn; None if blocks do not take
    several tiles."""
    made = _persistent(tile, s, target)
    if made is None or not made[2].persist:
        return None
    band, inner, block = made
    return band, inner, replace(block, pingpong=True)


def _pairs(nest: LoopNest, s: StatementView, target: GpuTarget) -> Iterator[LoopNest]:
    """Yield the nest with pairs of blocks, if it has two warpgroups: the threads of a single warpgroup, with 128
    registers, have none left for masks."""
    if nest.block is not None and nest.block.warps is not None and prod(nest.block.warps) > WARPGROUP:
        yield from _clusters(nest, s, target, [each for each in target.heuristics.clusters if prod(each) == 2])


def _clusters(
    nest: LoopNest, s: StatementView, target: GpuTarget, shapes: Sequence[tuple[int, int]]
) -> Iterator[LoopNest]:
    """Yield the nest with clusters of blocks, which share their operands, for each shape that divides the tiles."""
    if nest.block is None or nest.block.copy != "tma":
        return
    counts = [(s.bounds[item.iterator], item.size) for item in nest.band[-2:]]
    tiles = [-(-extent // size) if isinstance(extent, int) else 1 for extent, size in counts]
    for shape in shapes:
        whole = all(count % each == 0 for count, each in zip(tiles, shape, strict=True))
        if whole and prod(shape) <= target.multiprocessors:
            yield replace(nest, block=replace(nest.block, cluster=shape))


def _is_along_the_sum(s: StatementView) -> bool:
    """Return whether both factors are contiguous along the sum (K-major), as warpgroups require for elements other than
    halves."""
    return all(access.stride(s.reduced[-1]) == 1 for access in s.reads)


def _has_tensor_maps(s: StatementView) -> bool:
    """Return whether bulk copies can read the factors as tensors: their strides must be one element or multiples of 16
    bytes."""
    for value, access in zip(s.op.ins, s.reads, strict=True):
        unit = 16 // ITEMSIZE[element_of(value)]
        strides = [access.stride(i) for i in (*s.parallel, *s.reduced)]
        if not all(isinstance(n, int) and (n == 1 or n % unit == 0) for n in strides):
            return False
    return True


def _is_widened(s: StatementView) -> bool:
    """Return whether a factor is widened in shared memory; a block has one buffer for the widened elements."""
    return len({ITEMSIZE[element_of(v)] for v in s.op.ins}) > 1


def _fitting(extent: DimLike, size: int, least: int) -> int:
    """Return the rows or columns of a tile, in whole fragments."""
    return min(size, max(padded(extent), least)) if isinstance(extent, int) else size
