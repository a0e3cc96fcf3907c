"""Gathers ahead (``gather-anew``): a parameter that ranks have in parts is gathered just before it is read, and anew
where it is read again long after (ZeRO-3).

    %w = comm.all_gather(%part) {ahead = 1}          %w = comm.all_gather(%part) {ahead = 1}
    %y = graph.contract(%x, %w)                      %y = graph.contract(%x, %w)
    … other parameters are read …               →    …
    %dx = graph.contract(%dy, %w)                    %v = comm.all_gather(%part) {ahead = 2}
                                                     %dx = graph.contract(%dy, %v)

In between its memory is free for others: a derivative reads a parameter where the function did, and then backward. The
readers are parted once, where most other parameters are read between two of them, so a parameter is gathered twice at
most. Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.comm import AllGatherOp, ReduceScatterOp
from mlc.dialects.graph import MapOp, ReshapeOp, TransposeOp
from mlc.dialects.semantics.interpreter import main_of

CARRIED = (MapOp, ReshapeOp, TransposeOp)
"""Operators of one operand that are computed anew with it: casts, other layouts."""


@dataclass(frozen=True)
class GatherAnew(ModulePass):
    """Move gathers with ``ahead`` to their readers, and gather anew; move what is reduced and scattered with ``ahead``
    to what computes it. Without such collectives nothing is changed."""

    name = "gather-anew"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        block = main_of(op).body.block
        for scattered in [o for o in block.ops if isinstance(o, ReduceScatterOp) and o.ahead is not None]:
            _follow(scattered)
        gathers = [o for o in block.ops if isinstance(o, AllGatherOp) and o.ahead is not None]
        if not gathers:
            return
        at = {each: n for n, each in enumerate(block.ops)}
        readers = {each: sorted(_readers(each.result, block), key=at.__getitem__) for each in gathers}
        first = sorted(at[each[0]] for each in readers.values() if each)
        for each in gathers:
            groups = _parted([(at[r], r) for r in readers[each]], first)
            for n, group in enumerate(groups):
                _gather_before(each, group, n)


def _follow(op: Operation) -> None:
    """Put an operation, and the casts and layouts that it reads, right after what computes its operand."""
    source = op.operands[0].owner
    if isinstance(source, Operation) and _carries(source):
        _follow(source)
    if isinstance(source, Operation) and source.next_op is not None:
        _put(op, source.next_op)


def _readers(x: SSAValue, block: Block) -> set[Operation]:
    """Return the operations that read a value, or what casts and other layouts make of it."""
    found: set[Operation] = set()
    for use in x.uses:
        op: Operation | None = use.operation
        if _carries(use.operation):
            found |= _readers(use.operation.results[0], block)
            continue
        while op is not None and op.parent is not block:
            op = op.parent_op()
        assert op is not None
        found.add(op)
    return found


def _carries(op: Operation) -> bool:
    return isinstance(op, CARRIED) and len(op.operands) == 1


def _parted(readers: Sequence[tuple[int, Operation]], others: Sequence[int]) -> list[list[Operation]]:
    """Return the readers in one group, or in two: where most other parameters are first read between two of them."""
    between = [sum(a < n < b for n in others) for (a, _), (b, _) in pairwise(readers)]
    ops = [op for _, op in readers]
    if not between or not max(between):
        return [ops]
    cut = between.index(max(between)) + 1
    return [ops[:cut], ops[cut:]]


def _gather_before(gather: AllGatherOp, readers: Sequence[Operation], n: int) -> None:
    """Put a gather, and what is carried, before the first of some readers; for n > 0 a copy, which these read."""
    if not readers:
        return
    made = gather if n == 0 else gather.clone()
    made.properties["ahead"] = IntegerAttr(n + 1, 64)
    _put(made, readers[0])
    _carry(gather.result, made.result, readers, copies=n > 0)


def _carry(old: SSAValue, new: SSAValue, readers: Sequence[Operation], copies: bool) -> None:
    """Let readers read ``new`` in place of ``old``, and what is carried of it."""
    for use in list(old.uses):
        op = use.operation
        if not _carries(op):
            if copies and any(op is each or each.is_ancestor(op) for each in readers):
                op.operands[use.index] = new
        elif any(each in readers for each in _readers(op.results[0], _block_of(readers))):
            made = op.clone({old: new}) if copies else op
            _put(made, readers[0])
            _carry(op.results[0], made.results[0], readers, copies)


def _block_of(readers: Sequence[Operation]) -> Block:
    block = readers[0].parent
    assert block is not None
    return block


def _put(op: Operation, before: Operation) -> None:
    if op is before:
        return
    if op.parent is not None:
        op.detach()
    _block_of([before]).insert_op_before(op, before)
