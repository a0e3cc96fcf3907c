"""Schedule rule for sums of products: a register tile of rows × vectors, with a rank-1 update for each point of the
reduction.

One operand (B) is read along the vectorized axis of the result, the other (A) is broadcast; their roles follow from the
strides. Tiles are ranked by the cycles of an update over an extent partition of the rows. The loop order of the band
determines which operand stays in a cache while the other is streamed: a panel of B, the whole of A, or a row of A.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mlc.dialects.poly import LoopNest, Partition, TiledLoop
from mlc.dialects.types import bytes_of
from mlc.passes.cost.extent_partition import rows_of
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView, epilogue_follows
from mlc.passes.schedule.rules.candidates import by_rank
from mlc.passes.schedule.rules.operand_roles import (
    OperandRoles,
    factors,
    is_matrix_product,
    is_sum,
    scaled_dots,
    unit_stride,
)
from mlc.passes.schedule.rules.partial_sums import SUM_BLOCK, UNCUT, partial_sums
from mlc.passes.schedule.rules.register_tiles import register_tiles, size_of
from mlc.target import CpuTarget

LEAST_BLOCK = 32  # terms, for balanced sums: adding to the total takes as long as a term or two

LESS = 8  # times as many bytes must be read again without blocks of rows as with them: weights come from memory


def contraction(statements: Sequence[StatementView], target: CpuTarget, balanced: bool = False) -> Iterator[LoopNest]:
    """``S0[m, n, k]: t[m, n] += a[m, k]·b[k, n]`` → ``contraction: S0 | n/32v m/14 | k``.

    ``balanced``: split sums for the smallest error, not for speed.
    """
    roles = roles_of(statements)
    if roles and not roles.slides:
        yield from _plans(statements, roles, target, _balanced(roles.s) if balanced else (SUM_BLOCK, UNCUT))


def roles_of(statements: Sequence[StatementView]) -> OperandRoles | None:
    """Return the roles of a sum's operands; None if the first statement is no sum of products, or others than its
    epilogue follow."""
    first = statements[0]
    if not is_sum(first) or not epilogue_follows(statements):
        return None
    lanes = next((i for i in reversed(first.parallel) if first.write.stride(i) == 1), None)
    if lanes is None:
        return None
    dots = scaled_dots(first, lanes)
    for a, others in [dots] if dots else factors(first):
        if not a.depends_on(lanes) and all(unit_stride(b, lanes) for b in others):
            return OperandRoles(first, lanes, a, others[0], len(others) > 1, 2 if dots else 1)
    return None


def _plans(
    statements: Sequence[StatementView], roles: OperandRoles, target: CpuTarget, block: tuple[int, int]
) -> Iterator[LoopNest]:
    names = tuple(v.name for v in statements)
    # Equal for all candidates: shorter blocks are slower and change the result.
    inner = partial_sums(roles.s, roles.s.reduced, *block)
    for tiles, order in by_rank(register_tiles(roles, target), _orders(roles, target)):
        tiled = {item.iterator: item for item in tiles}
        yield LoopNest("contraction", names, tuple(tiled.get(i, TiledLoop(i)) for i in order), inner)


def _orders(roles: OperandRoles, target: CpuTarget) -> Iterator[tuple[str, ...]]:
    """Yield loop orders that keep in cache a panel of B while A is streamed, or rows of A while B is streamed, or one
    row of A. The second order is first for row-major matrices if B fits in the L2 cache, and A's tiles with their
    results do not."""
    rows, columns = roles.rows, [*roles.panels, roles.lanes]
    shared = [i for i in roles.s.parallel if i not in (*rows, *columns)]
    orders = ((*shared, *columns, *rows), (*shared, *rows, *columns), (*shared, *rows[:-1], *columns, *rows[-1:]))
    terms, m, n = (math.prod(size_of(roles.s.bounds[i]) for i in some) for some in (roles.s.reduced, rows, columns))
    by_rows = not roles.panels and n > 2 * target.lanes
    streams = by_rows and 4 * n * terms <= target.resident_bytes and 4 * m * max(n, terms) > target.l2.size
    yield from (orders[1], orders[0], orders[2]) if streams else orders


def _balanced(s: StatementView) -> tuple[int, int]:
    """Return about √n as the number of terms of a block, as a power of two: the error grows with the longer of the sum
    in a block and the sum over blocks."""
    terms = math.prod(size_of(s.bounds[i]) for i in s.reduced)
    block = min(max(2 ** round(math.log2(terms) / 2), LEAST_BLOCK), SUM_BLOCK)
    return block, block


def in_row_blocks(nest: LoopNest, statements: Sequence[StatementView], target: CpuTarget) -> LoopNest:
    """``n/16v m/6*250`` → ``m@9t n/16v m/6*27+5*1``: a product of matrices whose left operand exceeds L2, in blocks of
    rows that stay there; other nests as they are.

    Each panel of the right operand meets all rows, which L3 then gives anew. In blocks the right operand is read again,
    once a block: less where there are many panels.
    """
    s = next(s for s in statements if s.name == nest.statements[0])
    if not target.blocks_rows or not _is_product_by_columns(nest, s):
        return nest
    columns, rows = nest.band
    extent, width = s.bounds[rows.iterator], s.bounds[columns.iterator]
    assert isinstance(extent, int) and isinstance(width, int)
    left, right = (_bytes(s, a) for a in sorted(s.reads, key=lambda read: read.depends_on(columns.iterator)))
    blocks = _row_blocks(left, right, -(-width // columns.size), target)
    if blocks == 1:
        return nest
    tiles = rows_of(rows.iterator, -(-extent // blocks), rows.size)
    return replace(nest, band=(columns, tiles), partitions=(Partition(rows.iterator, blocks, tiled=True),))


def _is_product_by_columns(nest: LoopNest, s: StatementView) -> bool:
    """Return whether a nest is a product of two matrices of constant extents, whose inner loop is over the rows."""
    if nest.partitions or nest.joined or len(nest.band) != 2 or not is_matrix_product(s):
        return False
    columns, rows = nest.band
    constant = all(isinstance(n, int) for n in s.bounds.values()) and len(s.parallel) == 2
    by_rows = [read.depends_on(columns.iterator) for read in s.reads if read.depends_on(rows.iterator)]
    return constant and columns.vectorized and not rows.vectorized and by_rows == [False]


def _bytes(s: StatementView, read: Access) -> int:
    size = bytes_of(s.op.ins[s.reads.index(read)])
    return size if isinstance(size, int) else 0


def _row_blocks(left: int, right: int, panels: int, target: CpuTarget) -> int:
    """Return the number of blocks of rows for operands of so many bytes; 1 if L2 holds all rows, or the right operand
    would be read too often."""
    blocks = -(-left // target.resident_bytes) if left > target.l2.size else 1
    return blocks if LESS * right * (blocks - 1) <= left * panels else 1
