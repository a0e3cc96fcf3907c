"""Rebuild a cascade (``cascades.py``) with one axis of its scores as two, of which the outer counts blocks."""

from __future__ import annotations

import string
from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue

from mlc.dialects.dims import DimLike
from mlc.dialects.graph import ContractOp, MapOp, ReduceOp, ReshapeOp, ints_of, source_nodes, with_nodes
from mlc.dialects.types import shape_of
from mlc.passes.fuse.cascades import Cascade


class SplitCascade:
    """``axis`` of the scores becomes two axes of ``parts`` elements; ``shared`` are, for right operands of the products
    that repeat matrices along the inner one, these matrices themselves."""

    def __init__(
        self, found: Cascade, axis: int, parts: tuple[DimLike, DimLike], shared: Mapping[SSAValue, SSAValue]
    ):
        self.found, self.axis, self.parts, self.shared = found, axis, parts, shared
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
        """A mask has the same blocks; what is the same for all of them stays so."""
        axis = self.axis - (len(self.found.scores) - len(shape_of(value)))
        return self.new.get(value) or (self._split(value, axis, op) if axis >= 0 else value)

    def _split(self, value: SSAValue, axis: int, op: Operation) -> SSAValue:
        shape = shape_of(value)
        parts = (1, 1) if shape[axis] == 1 else self.parts
        return self._insert(ReshapeOp(value, [*shape[:axis], *parts, *shape[axis + 1 :]]), op).results[0]

    def _product(self, op: ContractOp) -> ContractOp:
        """The first product has blocks of its left operand, the last of the scores'."""
        lhs, rhs, result = op.terms
        inner = result[self.axis] if op is self.found.ops[0] else lhs[self.axis]
        block = next(c for c in string.ascii_letters if c not in lhs + rhs)
        left, out = (term.replace(inner, block + inner) for term in (lhs, result))
        operand = self.new.get(op.lhs) or self._split(op.lhs, lhs.index(inner), op)
        right = self.shared.get(op.rhs, op.rhs)
        return ContractOp(f"{left},{rhs.replace(inner, block)}->{out}", operand, right, product=op.product)
