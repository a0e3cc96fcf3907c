"""Canonical forms of contractions: broadcasts and transpositions before and after become part of the equation."""

from __future__ import annotations

from xdsl.ir import SSAValue

from mlc.dialects.graph import (
    BroadcastOp,
    ConstantOp,
    ContractOp,
    ReshapeOp,
    ScatterOp,
    SliceOp,
    TransposeOp,
    WeightOp,
    ints_of,
)
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import element_of, shape_of
from mlc.passes.rewriter import Rewrite, producer

DOT = 16  # terms of a sum for which combining the lanes takes as long as transposing the operand


def contract_unstretched(op: ContractOp) -> Rewrite:
    """contract(broadcast(a), b) → contract(a, b): a contraction broadcasts extents of 1 itself."""
    args = [producer(a, BroadcastOp) for a in (op.lhs, op.rhs)]
    lhs, rhs = (
        b.input if b and len(shape_of(b.input)) == len(shape_of(b.result)) else a
        for a, b in zip((op.lhs, op.rhs), args, strict=True)
    )
    if op.layouts or (lhs is op.lhs and rhs is op.rhs):
        return None
    new = ContractOp(op.equation.data, lhs, rhs, product=op.product)
    if new.result.type == op.result.type and new.extents() == op.extents():
        return [new]
    new.erase()  # a rejected operator does not stay a reader of its operands
    return None


def contract_transposed(op: ContractOp) -> Rewrite:
    """contract "mk,kn->mn"(a, transpose(b)) → contract "mk,nk->mn"(a, b), for a ``b`` that is not constant.

    It applies if there are so few rows m that a sum along k costs less than moving b, as there may be where b is a
    cache, or if b holds halves, which tensor cores read in either order.
    """
    move = producer(op.rhs, TransposeOp)
    if move is None or op.layouts or isinstance(move.input.owner, WeightOp | ConstantOp) or not op.rhs.has_one_use():
        return None
    (lhs, rhs, result), perm, extents = op.terms, ints_of(move.perm), op.extents()
    stored = "".join(rhs[perm.index(n)] for n in range(len(perm)))
    last, rows = stored[-1], product(extents[i] for i in lhs if i in result and i not in rhs)
    few = isinstance(rows, int) and isinstance(k := extents[last], int) and DOT * rows <= k
    few = few or not isinstance(rows, int) and is_cache(move.input)
    if last in result or not (few or op.product and element_of(op.rhs) in ("f16", "bf16")):
        return None
    return [ContractOp(f"{lhs},{stored}->{result}", op.lhs, move.input, product=op.product)]


def is_cache(value: SSAValue) -> bool:
    """Return whether a value is read from rows that a scatter has written into: a run adds a few to many."""
    while isinstance(value.owner, ReshapeOp | BroadcastOp | TransposeOp | SliceOp):
        value = value.owner.operands[0]
    return isinstance(value.owner, ScatterOp)


def contract_moved(op: ContractOp) -> Rewrite:
    """contract "bmk,bkn->bmn"(transpose(a), b) → contract "mbk,bkn->bmn"(a, b), and likewise for b: a batched product
    reads an operand in any order of its dimensions but the last."""
    if not batched(op):
        return None
    (lhs, left), (rhs, right) = (_in_place(t, v) for t, v in zip(op.terms[:2], op.operands, strict=True))
    if (left, right) == (op.lhs, op.rhs):
        return None
    return [ContractOp(f"{lhs},{rhs}->{op.terms[2]}", left, right, product=op.product)]


def batched(op: ContractOp) -> bool:
    """Return whether both operands are batches of matrices, and neither is constant."""
    lhs, rhs, result = op.terms
    constant = any(isinstance(v.owner, WeightOp | ConstantOp) for v in op.operands)
    return not op.layouts and not constant and bool(set(lhs) & set(rhs) & set(result))


def _in_place(term: str, value: SSAValue) -> tuple[str, SSAValue]:
    move = producer(value, TransposeOp)
    if move is None or not value.has_one_use() or not _keeps_last(move):
        return term, value
    perm = ints_of(move.perm)
    return "".join(term[perm.index(n)] for n in range(len(perm))), move.input


def _keeps_last(move: TransposeOp) -> bool:
    perm = ints_of(move.perm)
    return perm[-1] == len(perm) - 1


def transposed_contract(op: TransposeOp) -> Rewrite:
    """transpose(contract "bmk,bkn->bmn"(a, b)) → contract "bmk,bkn->mbn"(a, b)"""
    inner = producer(op.input, ContractOp)
    if inner is None or not op.input.has_one_use() or not batched(inner) or not _keeps_last(op):
        return None
    lhs, rhs, result = inner.terms
    moved = "".join(result[p] for p in ints_of(op.perm))
    return [ContractOp(f"{lhs},{rhs}->{moved}", inner.lhs, inner.rhs, product=inner.product)]
