"""``pack-words``: weights that a sum unpacks from words are stored in panels of columns.

    %y = graph.compute "x0[i0, r0*8 + r1] * f32((x1[i1, r0] >> i32(r1*4)) & 15)"(%x, %w : 64x8) {reduce = ["8", "8"]}

  → %p = (%w padded, reshaped and transposed) : 2x8x32
    %y = graph.compute "x0[i0, r0*8 + r1] * f32((x1[i1//32, r0, i1%32] >> i32(r1*4)) & 15)"(%x, %p) {…}

What is read along the last axis of the result then stands together, as in ``pack-weights``, and is unpacked by vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.expr import Call, Const, Expr, Index, Load, loads, parse, substitute, walk
from mlc.dialects.graph import ComputeOp, dims_of
from mlc.dialects.types import shape_of
from mlc.passes.graph.constants import constant_values
from mlc.passes.graph.layout import Emitter
from mlc.passes.rewriter import bodies, erase_unused


@dataclass(frozen=True)
class PackWords(ModulePass):
    """Pack the constants of unpacking sums. ``block``: columns of a panel."""

    name = "pack-words"
    block: int = 32

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants = constant_values(body)
            for each in [o for o in body.ops if isinstance(o, ComputeOp) and o.monoid and o.monoid.data == "add"]:
                expr = parse(each.expr.data)
                packed = [n for n, v in enumerate(each.args) if v in constants and _by_columns(n, each, expr)]
                if packed and any(isinstance(e, Call) and e.fn == "shr" for e in walk(expr)):
                    _pack(each, expr, packed, self.block)


def _columns(op: ComputeOp) -> Index:
    return Index(f"i{len(dims_of(op.shape)) - 1}")


def _by_columns(operand: int, op: ComputeOp, expr: Expr) -> bool:
    """Whether an operand is read by column first, and the column is nowhere else."""
    reads = [load.index or () for load in loads(expr) if load.operand == operand]
    return all(at and at[0] == _columns(op) and _columns(op) not in _indices(at[1:]) for at in reads)


def _indices(at: tuple[Expr, ...]) -> Iterator[Expr]:
    return (e for i in at for e in walk(i) if isinstance(e, Index))


def _pack(op: ComputeOp, expr: Expr, packed: list[int], block: int) -> None:
    emitter, size, column = Emitter(op), Const(block), _columns(op)

    def load(node: Load) -> Expr:
        if node.operand not in packed:
            return node
        panel, lane = Call("floordiv", (column, size)), Call("mod", (column, size))
        return Load(node.operand, (panel, *(node.index or ())[1:], lane))

    args = [_panels(v, block, emitter) if n in packed else v for n, v in enumerate(op.args)]
    new = ComputeOp(str(substitute(expr, load)), args, dims_of(op.shape), dims_of(op.reduce), "add")
    op.result.replace_all_uses_with(emitter.emit(new))
    erase_unused([op])


def _panels(x: SSAValue, block: int, emitter: Emitter) -> SSAValue:
    """[N, X…] as [⌈N/b⌉, X…, b]."""
    split = emitter.split(x, 0, block)
    return emitter.transpose(split, [0, *range(2, len(shape_of(split))), 1])
