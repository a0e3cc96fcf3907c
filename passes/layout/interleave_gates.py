"""Gate interleaving (``interleave-gates``): each panel gets columns of all parts of a product, so that one kernel
computes the product of a row and the elementwise operators on its parts.

    %q = graph.contract "mk,kn->mn"(%h, %w) {layouts = ["ab", "Ba64b", "ab"]} : (1x256, 16x256x64)
    %z = graph.map "x0 + x1"(%xw, %q)
    %i, %o, %f, %g = slices of 256 columns of %z
    %c1 = graph.map "sigmoid(x1) * x0 + sigmoid(x2) * tanh(x3)"(%c, %f, %i, %g) : 1x256

  → %q = graph.contract "mk,pkgl->pgml"(%h, %v) : (1x256, 16x256x4x16)       # in each panel 16 columns of each part
    %c1 = graph.compute "sigmoid(x1[0, 512 + 16*i0 + i1] + x0[i0, 2, 0, i1]) * …"(%q, %xw, %c) : 16x16

The pass permutes the columns of the packed operand, for any number of parts: the gates of an LSTM (Hochreiter and
Schmidhuber 1997), of a GRU (Cho et al. 2014), or of any other cell. The kernel also computes the elementwise operators
that only a later product reads, so that the product itself stays in registers. One step of the cell is then one kernel,
in which no thread waits for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ComputeOp, ContractOp, MapOp, SliceOp, UnpackOp, source_nodes
from mlc.dialects.graph.base import broadcast_index
from mlc.dialects.semantics.expr import Const, Expr, Index, Load, parse, substitute
from mlc.dialects.types import shape_of
from mlc.passes.context import target_of
from mlc.passes.graph.patterns.constants import constant_values
from mlc.passes.layout.blocking.blocked_layout import LayoutBuilder
from mlc.passes.layout.blocking.column_parts import Parts, column_parts, producers
from mlc.passes.rewriter import bodies, erase_unused


@dataclass(frozen=True)
class InterleaveGates(ModulePass):
    """Interleave the columns of the parts of each product that has at least one panel for each thread."""

    name = "interleave-gates"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants, positions = constant_values(body), {o: n for n, o in enumerate(body.ops)}
            for contract in [o for o in body.ops if isinstance(o, ContractOp) and o.rhs in constants]:
                if (parts := column_parts(contract, positions)) and (block := parts.block(target_of(ctx))):
                    _Interleaving(parts, block, positions).run()


class _Interleaving:
    """The rewriting of one product, whose panels get ``block`` columns of each part.

    All new operators are inserted where the first operator on the parts was, before any reader, so that no other kernel
    can come between them.

    All that is computed stands where the first of it stood, before any reader: no other kernel can come in between.
    """

    def __init__(self, parts: Parts, block: int, positions: dict[Operation, int]) -> None:
        self.parts, self.block, self.positions = parts, block, positions
        self.anchor = parts.maps[0]
        self.product = self._product()
        self.computed: dict[SSAValue, SSAValue] = {}  # results of maps, by panels

    def run(self) -> None:
        maps, left = self.parts.maps, self.parts.left
        self._hoist()
        for op in maps:
            self._emit(op, op.args, op.scalar)
        for cut in left:
            self._emit(cut, [cut.result], Load(0))
        erase_unused([*reversed(maps), *left])

    def _hoist(self) -> None:
        """Move the operands of the elementwise operators on the parts, except those that depend on the product, before
        ``anchor``."""
        own = {*self.parts.slices, *(m.result for m in self.parts.maps)}
        read = {v for m in self.parts.maps for v in m.args if v not in own}
        start, block = self.positions[self.anchor], self.anchor.parent
        for op in sorted(producers(read, start, self.positions), key=self.positions.__getitem__):
            assert block is not None
            op.detach()
            block.insert_op_before(op, self.anchor)
            self.positions[op] = start

    def _product(self) -> SSAValue:
        """Return the product in panels: [P, parts, 1, block]."""
        parts, builder = self.parts, _PlacedBuilder(self.parts.contract, self.positions)
        matrix = builder.emit(UnpackOp(parts.contract.rhs, parts.held))
        separate = builder.reshape(matrix, (shape_of(matrix)[0], parts.count, parts.width))
        panels = builder.pack(separate, (2, self.block), order=(2, 0, 1))  # [N/b, K, parts, b]
        return builder.emit(ContractOp("mk,pkgl->pgml", parts.contract.lhs, panels))

    def _emit(self, op: MapOp | SliceOp, values: Sequence[SSAValue], scalar: Expr) -> None:
        """Insert an operator that computes ``scalar`` of ``values`` by panels, and let the readers of ``op`` read its
        result."""
        builder, parts = _PlacedBuilder(self.anchor, self.positions, source_nodes(op)), self.parts
        beside = [v for v in parts.args if v is not parts.contract.result]
        read = [v for value in values for v in (beside if value in parts.slices else [value])]
        args = [self.product, *dict.fromkeys(read)]
        expr = substitute(scalar, lambda x: self._element(values[x.operand], args))
        shape = (parts.width // self.block, self.block)
        result = builder.emit(ComputeOp(str(expr), [self.computed.get(v, v) for v in args], shape))
        row = builder.reshape(result, (1, parts.width))
        op.result.replace_uses_with_if(row, lambda use: use.operation not in parts.maps)
        if isinstance(op, MapOp):
            self.computed[op.result] = result

    def _element(self, value: SSAValue, args: list[SSAValue]) -> Expr:
        """Return the element of ``value`` at a position in the panels, as an expression of the operands ``args``."""
        if value in self.computed:
            return parse(f"x{args.index(value)}[i0, i1]")
        if (part := self.parts.slices.get(value)) is None:
            return self._at(value, args, 0)
        return substitute(self.parts.scalar, lambda x: self._at(self.parts.args[x.operand], args, part))

    def _at(self, value: SSAValue, args: list[SSAValue], part: int) -> Expr:
        """Return the element of ``value``, a row or a value that broadcasts to one, at a column of part ``part``."""
        if value is self.parts.contract.result:
            return parse(f"x0[i0, {part}, 0, i1]")
        point = [Const(0), parse(f"{part * self.parts.width} + {self.block}*i0 + i1")]
        at = parse(f"x{args.index(value)}{broadcast_index(shape_of(value), 2)}")
        return substitute(at, index=lambda i: point[int(i.name[1:])] if isinstance(i, Index) else Const(0))


class _PlacedBuilder(LayoutBuilder):
    """A builder that records the position in the block of the operators that it inserts."""

    def __init__(self, anchor: Operation, positions: dict[Operation, int], nodes: tuple[str, ...] = ()) -> None:
        super().__init__(anchor, nodes)
        self.positions = positions

    def emit(self, op: Operation) -> SSAValue:
        self.positions[op] = self.positions[self.anchor]
        return super().emit(op)
