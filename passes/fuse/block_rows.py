"""``block-rows``: rows of scores that do not stay in the cache become blocks of rows, an axis of their own.

    %s = graph.contract "bmk,bkn->bmn"(%q, %k)         %r = graph.reshape(%q) : 12x1024x64 -> 12x32x32x64
    … softmax …                                     →  %s = graph.contract "bcmk,bkn->bcmn"(%r, %k) : 12x32x32x1024
    %o = graph.contract "bmk,bkn->bmn"(%p, %v)         … %o reshaped to 12x1024x64

A cascade (``passes/fuse/cascades.py``) of such blocks is one kernel.
"""

from __future__ import annotations

import string
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, MapOp, ReduceOp, ReshapeOp, ints_of, source_nodes, with_nodes
from mlc.dialects.types import Shape, shape_of
from mlc.passes.fuse.cascades import BLOCK, Cascade, block_bytes, cascades, stays
from mlc.passes.rewriter import bodies

ROWS = 8  # fewest rows that make a register tile worth while


@dataclass(frozen=True)
class BlockRows(ModulePass):
    name = "block-rows"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            for each in cascades(list(body.ops)):
                rows = rows_of(each.scores)
                if rows is not None:
                    _Blocking(each, rows).run()


def rows_of(scores: Shape) -> int | None:
    """The most rows that divide all of them and fill half of what stays in the cache; None where all rows of a matrix
    stay there, or too few do."""
    *batch, m, n = scores
    if block_bytes(scores) <= BLOCK:
        return None
    most = BLOCK // 2 // block_bytes((1, n))
    rows = next((d for d in range(most, ROWS - 1, -1) if m % d == 0), None)
    return rows if rows is not None and stays((*batch, m // rows, rows, n)) else None


class _Blocking:
    """Rebuilds the operators of a cascade with one axis more."""

    def __init__(self, found: Cascade, rows: int):
        self.found, self.rows = found, rows
        self.axis = len(found.scores) - 2
        self.count = found.scores[self.axis] // rows
        self.new: dict[SSAValue, SSAValue] = {}

    def run(self) -> None:
        for op in self.found.ops:
            made = self._rebuilt(op)
            self._insert(made, op)
            self.new[op.results[0]] = made.results[0]
        last = self.found.ops[-1]
        back = self._insert(ReshapeOp(self.new[last.results[0]], shape_of(last.results[0])), last)
        last.results[0].replace_all_uses_with(back.results[0])
        for op in reversed(self.found.ops):
            op.detach()
            op.erase()

    def _insert(self, made: Operation, old: Operation) -> Operation:
        assert (block := old.parent) is not None
        block.insert_op_before(with_nodes(made, source_nodes(old)), self.found.ops[-1])
        return made

    def _rebuilt(self, op: Operation) -> Operation:
        if isinstance(op, ReduceOp):
            return ReduceOp(op.fn.data, self.new[op.input], [a + 1 for a in ints_of(op.axes)], keepdims=True)
        if isinstance(op, MapOp):
            return MapOp(op.scalar, [self._operand(v, op) for v in op.args])
        assert isinstance(op, ContractOp)
        return self._product(op)

    def _operand(self, value: SSAValue, op: Operation) -> SSAValue:
        """A mask's rows become blocks as well; what is the same for all rows stays so."""
        axis = self.axis - (len(self.found.scores) - len(shape_of(value)))
        return self.new.get(value) or (self._split(value, axis, op) if axis >= 0 else value)

    def _split(self, value: SSAValue, axis: int, op: Operation) -> SSAValue:
        shape = shape_of(value)
        blocks = (1, 1) if shape[axis] == 1 else (self.count, self.rows)
        return self._insert(ReshapeOp(value, [*shape[:axis], *blocks, *shape[axis + 1 :]]), op).results[0]

    def _product(self, op: ContractOp) -> ContractOp:
        """The first product has blocks of its left operand's rows, the last of the scores'."""
        lhs, rhs, result = op.terms
        row = result[self.axis] if op is self.found.ops[0] else lhs[self.axis]
        block = next(c for c in string.ascii_letters if c not in lhs + rhs)
        left, out = (term.replace(row, block + row) for term in (lhs, result))
        operand = self.new.get(op.lhs) or self._split(op.lhs, lhs.index(row), op)
        return ContractOp(f"{left},{rhs}->{out}", operand, op.rhs, product=op.product)
