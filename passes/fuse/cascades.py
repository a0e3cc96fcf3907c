"""Attention: a product, the normalisation of its rows, and the product that reads them can be one kernel.

    s[m, n] = q[m, k]·k[k, n]    →    p = softmax(s)    →    o[m, v] = p[m, n]·v[n, v]

Rows do not depend on each other: a block of them goes through all three while it stays in the cache, and the scores of
all rows are never in memory (Dao et al., FlashAttention, 2022, with whole rows in place of blocks of them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from mlc.dialects.dims import product
from mlc.dialects.graph import ContractOp, MapOp, ReduceOp, ints_of
from mlc.dialects.types import Shape, shape_of

BLOCK = 256 << 10  # bytes of scores that stay in the L2 cache, with what passes of the operands
BLOCKS = 4  # fewest blocks for threads to share out


@dataclass(frozen=True)
class Cascade:
    """Operators from a product to the one that reads its normalised rows, and the shape of the scores."""

    ops: tuple[Operation, ...]
    scores: Shape


def cascades(ops: Sequence[Operation]) -> list[Cascade]:
    """All cascades of a block's operators, in their order."""
    position = {op: n for n, op in enumerate(ops)}
    return [c for op in ops if isinstance(op, ContractOp) and (c := _cascade(op, position))]


def _cascade(first: ContractOp, position: Mapping[Operation, int]) -> Cascade | None:
    """What works on the rows of a product, up to the only other product; None where something else reads them."""
    scores = shape_of(first.result)
    if first.packing or len(scores) < 3 or not all(isinstance(d, int) for d in scores):
        return None
    ops: dict[Operation, None] = {first: None}
    waiting = [*_users(first)]
    while waiting:
        op = waiting.pop()
        if op in ops:
            continue
        ops[op] = None
        if _keeps_rows(op, scores):
            waiting += _users(op)
        elif not isinstance(op, ContractOp):
            return None
    found = sorted(ops, key=position.__getitem__)
    return Cascade(tuple(found), scores) if _closed(found) else None


def _users(op: Operation) -> list[Operation]:
    return [use.operation for result in op.results for use in result.uses]


def _keeps_rows(op: Operation, scores: Shape) -> bool:
    """Whether an operator computes scores of the same rows, or a number for each."""
    if isinstance(op, ReduceOp):
        return shape_of(op.input) == scores and ints_of(op.axes) == (len(scores) - 1,) and bool(op.keepdims)
    return isinstance(op, MapOp) and shape_of(op.result) in (scores, (*scores[:-1], 1))


def _closed(ops: Sequence[Operation]) -> bool:
    """Whether the last, and no other, is a product of rows with what does not come of them."""
    last, others = ops[-1], ops[1:-1]
    if not isinstance(last, ContractOp) or last.packing or any(isinstance(op, ContractOp) for op in others):
        return False
    normalised = any(isinstance(op, ReduceOp) for op in others)
    return normalised and last.lhs.owner in others and last.rhs.owner not in ops and _sums_rows(last)


def _sums_rows(op: ContractOp) -> bool:
    """Whether a product sums along the last axis of its left operand, and along nothing else."""
    lhs, _, result = op.terms
    return [i for i in lhs if i not in result] == [lhs[-1]]


def stays(scores: Shape) -> bool:
    """Whether blocks of scores, of the last two axes, stay in the cache and are enough for several threads."""
    return block_bytes(scores) <= BLOCK and elements(scores[:-2]) >= BLOCKS


def block_bytes(scores: Shape) -> int:
    return 4 * elements(scores[-2:])


def elements(shape: Shape) -> int:
    assert isinstance(n := product(shape), int)
    return n
