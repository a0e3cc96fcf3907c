"""``expand-contractions``: reshape folding by expansion: a contraction reads through the broadcast and reshape that
repeat an operand, and the operators after it work on its axes.

    %b = graph.broadcast(%k) : 4x1x256x64 -> 4x2x256x64
    %r = graph.reshape(%b) : 8x256x64                      %g = graph.reshape(%q) : 8x1x64 -> 4x2x1x64
    %s = graph.contract "amk,ank->amn"(%q, %r)          →  %s = graph.contract "abmk,ank->abmn"(%g, %k) : 4x2x1x256
    … softmax, and the same of the values …                … %o reshaped to 8x1x64

The axis of 8 heads is split into two axes. %k has only one of them, so each group of queries reads its keys in place.
A transposition of %k, which the repetition has hidden, then becomes part of the equation as well.
Maps, row reductions and contractions after it are rewritten to both axes, because a reshape between them would separate
them into kernels. Any other reader reads a reshape with the one axis.

MLIR does so in ``linalg`` (``FoldReshapeWithGenericOpByExpansion``). Models: Ainslie et al., GQA: Training generalized
multi-query transformer models, 2023.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, MapOp, ReduceOp, ReshapeOp, ints_of, source_nodes, with_nodes
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import shape_of
from mlc.passes.fuse.grouping.repeated import repeated
from mlc.passes.graph.patterns.contract_patterns import contract_moved
from mlc.passes.graph.patterns.move_patterns import drop_identity, merge_reshapes
from mlc.passes.rewriter import bodies, erase_unused, rewrite


@dataclass(frozen=True)
class ExpandContractions(ModulePass):
    name = "expand-contractions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            _ReshapeFolding(body).run()
        rewrite(op, {ReshapeOp: [drop_identity, merge_reshapes], ContractOp: [contract_moved]})


@dataclass(frozen=True)
class _Expanded:
    """A value whose original axis ``axis`` is split into two neighbouring axes with the extents ``parts``."""

    value: SSAValue
    axis: int
    parts: tuple[DimLike, DimLike]


class _ReshapeFolding:
    """The state of one walk over a block. ``held`` maps each value that exists on expanded axes to its expanded
    form."""

    def __init__(self, body: Block):
        self.body = body
        self.held: dict[SSAValue, _Expanded] = {}

    def run(self) -> None:
        for op in list(self.body.ops):
            found = self._expanded(op)
            if found is not None:
                self._replace(op, found)

    def _replace(self, op: Operation, found: _Expanded) -> None:
        """Let the readers of ``op`` read a reshape of the expanded value; it is erased later if no operator needs
        it."""
        old = op.results[0]
        merged = self._insert(ReshapeOp(found.value, shape_of(old)), op)
        merged.name_hint = old.name_hint
        old.replace_all_uses_with(merged)
        self.held[merged] = found
        erase_unused([op])

    def _insert(self, made: Operation, before: Operation) -> SSAValue:
        self.body.insert_op_before(with_nodes(made, source_nodes(before)), before)
        return made.results[0]

    def _expanded(self, op: Operation) -> _Expanded | None:
        match op:
            case ContractOp(layouts=None):
                return self._contract(op)
            case MapOp():
                return self._map(op)
            case ReduceOp() if (held := self.held.get(op.input)) and op.keepdims:
                axes = [a + (a > held.axis) for a in ints_of(op.axes)]
                if held.axis not in ints_of(op.axes):
                    return _Expanded(self._insert(ReduceOp(op.fn.data, held.value, axes, keepdims=True), op),
                                     held.axis, held.parts)  # fmt: skip
        return None

    def _map(self, op: MapOp) -> _Expanded | None:
        """Rewrite a map that reads expanded values; its other operands are split. Return None if it reads none, or
        several that are expanded differently."""
        found = [self.held[v] for v in op.args if v in self.held and len(shape_of(v)) == len(shape_of(op.result))]
        if not found or any((h.axis, h.parts) != (found[0].axis, found[0].parts) for h in found):
            return None
        axis, parts = found[0].axis, found[0].parts
        args = [self._split(v, axis - len(shape_of(op.result)) + len(shape_of(v)), parts, op) for v in op.args]
        return _Expanded(self._insert(MapOp(op.scalar, args), op), axis, parts)

    def _split(self, value: SSAValue, axis: int, parts: Sequence[DimLike], user: Operation) -> SSAValue:
        """Return ``value`` with ``axis`` split into ``parts``; unchanged if ``axis`` is negative, since the value has
        no such axis."""
        held, shape = self.held.get(value), shape_of(value)
        if held and (held.axis, held.parts) == (axis, parts):
            return held.value
        if axis < 0:
            return value
        split = (1, 1) if shape[axis] == 1 else parts
        return self._insert(ReshapeOp(value, [*shape[:axis], *split, *shape[axis + 1 :]]), user)

    def _contract(self, op: ContractOp) -> _Expanded | None:
        """Rewrite a contraction that has an expanded axis, or one along which an operand is repeated, in its result;
        return None for other contractions."""
        for term, value in zip(op.terms, op.operands, strict=False):
            if (held := self.held.get(value)) and op.terms[2].count(term[held.axis]) == 1:
                return self._expand(op, term[held.axis], held.parts)
        for term, value in zip(op.terms, op.operands, strict=False):
            if (found := repeated(value)) and all(each.count(term[found.axis]) == 1 for each in op.terms):
                return self._expand(op, term[found.axis], found.parts)
        return None

    def _expand(self, op: ContractOp, letter: str, parts: tuple[DimLike, DimLike]) -> _Expanded:
        """Return the contraction with the axis ``letter`` split into two axes. A repeated operand has only one of
        them; if both operands lack the same axis, the second one is split, so that the axis has an operand."""
        other = next(c for c in string.ascii_letters if c not in op.equation.data)
        terms: list[str] = []
        operands: list[SSAValue] = []
        for term, value in zip(op.terms, op.operands, strict=False):
            axis, found = term.find(letter), repeated(value)
            read = term.replace(letter, (other + letter)[found.kept]) if found else ""
            lacks = bool(terms) and not {other, letter} <= {*terms[0], *read}
            if found and (found.axis, found.parts) == (axis, parts) and value not in self.held and not lacks:
                terms.append(read)
                operands.append(found.insert_before(op))
                continue
            terms.append(term.replace(letter, other + letter))
            operands.append(self._split(value, axis, parts, op))
        result = op.terms[2].replace(letter, other + letter)
        lhs, rhs = operands
        made = ContractOp(f"{terms[0]},{terms[1]}->{result}", lhs, rhs, product=op.product)
        return _Expanded(self._insert(made, op), op.terms[2].index(letter), parts)
