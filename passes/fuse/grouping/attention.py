"""Attention: the chain matmul – softmax – matmul, which can be one kernel.

    s[m, n] = q[m, k]·k[k, n]    →    p = softmax(s)    →    o[m, v] = p[m, n]·v[n, v]

Rows of scores are independent. A block of rows passes through all three steps while it is in the L2 cache, so the
complete scores are never in memory (Dao et al., FlashAttention, 2022). A block has whole rows of scores or, if few of
these fit in L2, blocks of keys, over which an online softmax runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from mlc.dialects.graph import ComputeOp, ContractOp, MapOp, ReduceOp, ReshapeOp, ints_of
from mlc.dialects.kernel import Fusion
from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.semantics.expr import Call, Const, Load, loads
from mlc.dialects.types import Shape, element_of, is_float, shape_of
from mlc.passes.assumed_extents import LONG
from mlc.passes.context import cpu_facts, gpu_facts
from mlc.passes.cost.block_time import SplitSum, split_keys
from mlc.target import CpuTarget, GpuTarget, Target

FORM = "attention"
STREAMED_ROWS = 4  # times the sums in flight: of a block with fewer whole rows, the operands pass through L2 too often


@dataclass(frozen=True)
class Attention:
    """The operators of an attention, from the first contraction to the last, and the shape of the scores."""

    ops: tuple[Operation, ...]
    scores: Shape


def attentions(ops: Sequence[Operation]) -> list[Attention]:
    """Return all attentions among a block's operators, in order."""
    position = {op: n for n, op in enumerate(ops)}
    return [c for op in ops if isinstance(op, ContractOp) and (c := _attention(op, position))]


def _attention(first: ContractOp, position: Mapping[Operation, int]) -> Attention | None:
    """Return the attention that begins with the product ``first``; None if other operators than those of an attention
    read its scores."""
    scores = shape_of(first.result)
    if first.layouts or len(scores) < 3:
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
        elif not isinstance(op, ContractOp) and not _scales_sums(op):
            return None
    found = sorted(ops, key=position.__getitem__)
    return Attention(tuple(found), scores) if _closed(found) else None


def _users(op: Operation) -> list[Operation]:
    """Return the readers of an operator, except for barriers, whose readers are in another kernel."""
    readers = [use.operation for result in op.results for use in result.uses]
    return [r for r in readers if not (isinstance(r, ReshapeOp) and r.barrier)]


def _keeps_rows(op: Operation, scores: Shape) -> bool:
    """Return whether an operator computes scores of the same rows, or one number for each row."""
    if isinstance(op, ReduceOp):
        return shape_of(op.input) == scores and ints_of(op.axes) == (len(scores) - 1,) and bool(op.keepdims)
    return isinstance(op, MapOp) and shape_of(op.result) in (scores, (*scores[:-1], 1))


def _scales_sums(op: Operation) -> bool:
    """Return whether ``op`` multiplies the rows of a product's result by one number each, as ``defer-normalization``
    makes it."""
    return isinstance(op, ComputeOp) and op.monoid is None and isinstance(op.args[0].owner, ContractOp)


def _closed(ops: Sequence[Operation]) -> bool:
    """Return whether the last operator is the only other contraction, and multiplies the normalised rows with an
    independent operand. A deferred normalization may follow it."""
    scaled = isinstance(ops[-1], ComputeOp)
    last, others = ops[-1 - scaled], ops[1 : -1 - scaled]
    if not isinstance(last, ContractOp) or last.layouts or any(isinstance(op, ContractOp) for op in others):
        return False
    if scaled and not _only_read_by(last, ops[-1]):
        return False
    normalised = any(isinstance(op, ReduceOp) for op in others)
    return normalised and last.lhs.owner in others and last.rhs.owner not in ops and _sums_rows(last)


def _only_read_by(op: Operation, reader: Operation) -> bool:
    return all(user is reader for user in _users(op)) and reader.operands[0].owner is op


def _sums_rows(op: ContractOp) -> bool:
    """Return whether a contraction sums along the last axis of its left operand only."""
    lhs, _, result = op.terms
    return [i for i in lhs if i not in result] == [lhs[-1]]


def fusion_of(attention: Attention, target: Target) -> Fusion | None:
    """Return what is decided of an attention that becomes one kernel, with whole rows of scores or with blocks of keys;
    None if it does not."""
    if is_streamed(attention, target):
        return Fusion(FORM, streamed=True, parts=_parts(attention, target))
    if target.thread_blocks or not _is_known(attention.scores):
        return None
    cpu = cpu_facts(target)
    return Fusion(FORM) if _stays_in_l2(attention.scores, cpu, cpu.sums_in_flight) else None


def _stays_in_l2(scores: Shape, target: CpuTarget, rows: int) -> bool:
    """Return whether whole matrices of scores, or blocks of at least ``rows`` of their rows, fit in L2, and there are
    enough of them for all threads. The schedule chooses the blocks (``nest_fusion``)."""
    matrices, m, n = _extents(scores)
    if 4 * m * n <= target.block_bytes:
        return matrices >= target.threads
    row_bytes = 2 * 4 * n  # of the scores and of the softmax
    return target.block_points(m, row_bytes, matrices) >= rows


def _is_known(shape: Shape) -> bool:
    return all(isinstance(d, int) for d in shape)


def _extents(scores: Shape) -> tuple[int, int, int]:
    *batch, m, n = scores
    matrices = product(batch)
    assert isinstance(matrices, int) and isinstance(m, int) and isinstance(n, int)
    return matrices, m, n


def is_streamed(attention: Attention, target: Target) -> bool:
    """Return whether blocks of keys run one after another, with running maxima and sums (``streaming``)."""
    if not _is_softmax(attention) or not (can_defer(attention) or isinstance(attention.ops[-1], ComputeOp)):
        return False
    if target.thread_blocks:
        return _is_streamed_on_gpu(attention, gpu_facts(target))
    return _is_known(attention.scores) and _is_streamed_on_cpu(attention, cpu_facts(target))


def _is_streamed_on_cpu(attention: Attention, target: CpuTarget) -> bool:
    """Return whether all scores are larger than L2, only few of their rows fit in it, and there are blocks of rows for
    all threads."""
    matrices, m, n = _extents(attention.scores)
    few = not _stays_in_l2(attention.scores, target, STREAMED_ROWS * target.sums_in_flight)
    return few and 4 * matrices * m * n > target.l2.size and m // target.sums_in_flight * matrices >= target.threads


def _is_streamed_on_gpu(attention: Attention, target: GpuTarget) -> bool:
    """Return whether a thread block steps over all keys, for a block of ``queries`` queries or more, or of a symbolic
    number. Blocks of a symbolic extent have one size."""
    *batch, m, _ = attention.scores
    if isinstance(m, int) and m < target.heuristics.queries:
        split = _split_keys(attention, target)
        return split is not None and split.parts() > 1
    if not _is_known(attention.scores) and not _has_known_elements(attention):
        return False
    rows = target.heuristics.queries
    return not _is_known((*batch, m)) or product(batch) != 1 or m > rows and m % rows == 0  # type: ignore[operator]


def _has_known_elements(attention: Attention) -> bool:
    """Return whether the numbers of elements of a key and of a value are constants."""
    products = [op for op in attention.ops if isinstance(op, ContractOp)]
    lhs, _, scores = products[0].terms
    summed = [n for c, n in zip(lhs, shape_of(products[0].lhs), strict=True) if c not in scores]
    return _is_known((*summed, shape_of(products[-1].result)[-1]))


def _parts(attention: Attention, target: Target) -> DimLike | None:
    """Return into how many parts the keys are split, which different thread blocks compute (``split-reductions``), for
    few queries or few heads that share keys; None if one thread block has all keys."""
    rows = attention.scores[-2]
    if not target.thread_blocks or not isinstance(rows, int) or rows >= gpu_facts(target).heuristics.queries:
        return None
    split = _split_keys(attention, gpu_facts(target))
    return split.parts_of(attention.scores[-1]) if split else None


def _split_keys(attention: Attention, target: GpuTarget) -> SplitSum | None:
    """Return the time of the keys in parts; None if they are not split. A symbolic batch counts as 1, a symbolic number
    of keys as LONG."""
    first = attention.ops[0]
    last = next(op for op in reversed(attention.ops) if isinstance(op, ContractOp))
    assert isinstance(first, ContractOp)
    lhs, rhs, scores = first.terms
    extents = {c: n for c, n in zip(lhs, shape_of(first.lhs), strict=True) if isinstance(n, int)}
    keys, value = attention.scores[-1], shape_of(last.result)[-1]
    extents |= {c: 1 for c in lhs if c not in extents and c in rhs and c in scores}
    if len(extents) < len(lhs) or not isinstance(value, int):
        return None
    own = [extents[c] for c in scores if c in lhs and c not in rhs and extents[c] > 1]
    blocks = math.prod(extents[c] for c in scores if c in lhs and c in rhs)
    size = math.prod(n for c, n in extents.items() if c not in scores)
    return split_keys(math.prod(own), blocks, size + value, keys if isinstance(keys, int) else LONG, target)


def _is_softmax(attention: Attention) -> bool:
    """Return whether the maximum of a row is subtracted from its scores before the exponential, and read nowhere
    else."""
    inside = attention.ops[1:]
    reduces = {op.fn.data: op for op in inside if isinstance(op, ReduceOp)}
    if sorted(reduces) != ["add", "max"] or sum(isinstance(op, ReduceOp) for op in inside) != 2:
        return False
    readers = [op for op in _users(reduces["max"]) if _users(op)]  # not a copy that only a later kernel reads
    powers = [op for op in readers if isinstance(op, MapOp) and _subtracts(op, reduces["max"])]
    return len(readers) == len(powers) == 1 and reduces["add"].input.owner is powers[0]


def _subtracts(op: MapOp, maximum: ReduceOp) -> bool:
    """Return whether ``op`` computes ``exp(scores - maximum)``, where the maximum may be limited to finite numbers."""
    match op.scalar:
        case Call("exp", (Call("sub", (scores, subtracted)),)):
            limited = isinstance(subtracted, Call) and subtracted.fn == "max" and isinstance(subtracted.args[1], Const)
            load = subtracted.args[0] if limited else subtracted  # type: ignore[union-attr]
            read = isinstance(load, Load) and op.args[load.operand] is maximum.result
            return read and all(op.args[other.operand] is not maximum.result for other in loads(scores))
    return False


def can_defer(attention: Attention) -> bool:
    """Return whether the rows can be scaled after the last product: a map scales them before it, and each of their axes
    is an axis of the result."""
    product = attention.ops[-1]
    if not isinstance(product, ContractOp):
        return False
    (rows, _, out), weights = product.terms, product.lhs.owner
    follows = rows[-1] not in out and all(c in out for c in rows[:-1])
    if not follows or not isinstance(weights, MapOp) or row_factor(weights) is None:
        return False
    return product.product is None or product.product.data == WIDENED and element_of(weights.result) in HALVES


WIDENED = "f32(x0) * f32(x1)"
HALVES = ("f16", "bf16")


def row_factor(weights: MapOp) -> Call | None:
    """Return the call in the expression of ``weights`` that multiplies or divides its first operand by one number for
    each row; the result may be rounded to halves. Return None for other maps."""
    element, scaled = element_of(weights.result), weights.scalar
    match scaled:
        case Call(rounding, (Call() as inner,)) if rounding == element and element in HALVES:
            scaled = inner
    match scaled:
        case Call("mul" | "div", (Load(0), Load(1))) if len(weights.args) == 2:
            whole, each = map(shape_of, weights.args)
            used_once = len(list(weights.result.uses)) == 1
            return scaled if is_float(element) and used_once and each == (*whole[:-1], 1) else None
    return None
