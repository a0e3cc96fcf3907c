"""Attention: the chain matmul – softmax – matmul, which can be one kernel.

    s[m, n] = q[m, k]·k[k, n]    →    p = softmax(s)    →    o[m, v] = p[m, n]·v[n, v]

Rows of scores are independent. A block of rows passes through all three steps while it is in the L2 cache, so the
complete scores are never in memory (Dao et al., FlashAttention, 2022; mlc uses whole rows instead of online softmax).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from mlc.dialects.graph import ContractOp, MapOp, ReduceOp, ints_of
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import Shape, shape_of
from mlc.target import CpuTarget


@dataclass(frozen=True)
class Attention:
    """Operators from a contraction to the one that reads its normalised rows, and the shape of the scores."""

    ops: tuple[Operation, ...]
    scores: Shape


def attentions(ops: Sequence[Operation]) -> list[Attention]:
    """All attentions among a block's operators, in order."""
    position = {op: n for n, op in enumerate(ops)}
    return [c for op in ops if isinstance(op, ContractOp) and (c := _attention(op, position))]


def _attention(first: ContractOp, position: Mapping[Operation, int]) -> Attention | None:
    """The operators on the rows of a product, up to the only other product; None where other operators read them."""
    scores = shape_of(first.result)
    if first.layouts or len(scores) < 3 or not all(isinstance(d, int) for d in scores):
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
    return Attention(tuple(found), scores) if _closed(found) else None


def _users(op: Operation) -> list[Operation]:
    return [use.operation for result in op.results for use in result.uses]


def _keeps_rows(op: Operation, scores: Shape) -> bool:
    """Whether an operator computes scores of the same rows, or one number per row."""
    if isinstance(op, ReduceOp):
        return shape_of(op.input) == scores and ints_of(op.axes) == (len(scores) - 1,) and bool(op.keepdims)
    return isinstance(op, MapOp) and shape_of(op.result) in (scores, (*scores[:-1], 1))


def _closed(ops: Sequence[Operation]) -> bool:
    """Whether only the last operator is a contraction, of the normalised rows with an independent operand."""
    last, others = ops[-1], ops[1:-1]
    if not isinstance(last, ContractOp) or last.layouts or any(isinstance(op, ContractOp) for op in others):
        return False
    normalised = any(isinstance(op, ReduceOp) for op in others)
    return normalised and last.lhs.owner in others and last.rhs.owner not in ops and _sums_rows(last)


def _sums_rows(op: ContractOp) -> bool:
    """Whether a contraction sums along the last axis of its left operand only."""
    lhs, _, result = op.terms
    return [i for i in lhs if i not in result] == [lhs[-1]]


def stays_in_l2(scores: Shape, target: CpuTarget) -> bool:
    """Whether matrices of scores, or blocks of their rows, fit in L2, and there are enough of them for all threads.

    The schedule chooses the blocks (``nest_fusion``). One has rows enough for a register tile.
    """
    *batch, m, n = scores
    matrices = product(batch)
    assert isinstance(matrices, int) and isinstance(m, int) and isinstance(n, int)
    if 4 * m * n <= target.block_bytes:
        return matrices >= target.threads
    row_bytes = 2 * 4 * n  # of the scores and of the softmax
    return target.block_points(m, row_bytes, matrices) >= target.sums_in_flight
