"""Packing (BLIS) of quantized weights (``pack-quantized-weights``): constant integers that a floating-point sum reads
by columns are stored in panels of columns, as are their scales and zero points.

    %y = graph.compute "x0[i0, r0] * (f32(x1[i1, r0]) * x2[i1])"(%x, %w : 64x80xi8, %s : 64) {reduce = ["80"]}

  → %p = graph.pack(%w) {layout = #graph.layout<"Ab32a">} : 2x80x32xi8, %q = graph.pack(%s) : 2x32
    %y = graph.compute "x0[i0, r0] * (f32(x1[i1//32, r0, i1%32]) * x2[i1//32, i1%32])"(%x, %p, %q) {…}

The type of the operand says that it is quantized: integers of 8 or 4 bits, or of 32 with several in each, which the sum
unpacks. Elements along the last axis of the result are then contiguous, as in ``pack-weights``, for vectors to convert.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects.graph import ComputeOp, PackOp, dims_of, layout
from mlc.dialects.semantics.expr import Call, Expr, Index, Load, loads, parse, substitute, walk
from mlc.dialects.types import element_of, is_float, shape_of
from mlc.passes.context import target_of
from mlc.passes.graph.patterns.constants import constant_values
from mlc.passes.layout.blocking.blocked_layout import LayoutBuilder
from mlc.passes.rewriter import bodies, erase_unused
from mlc.target import CpuTarget


@dataclass(frozen=True)
class PackQuantizedWeights(ModulePass):
    """Pack the constant operands of sums that read quantized weights, in panels of a few vectors of columns."""

    name = "pack-quantized-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants = constant_values(body)
            for each in [o for o in body.ops if isinstance(o, ComputeOp) and o.monoid and o.monoid.data == "add"]:
                expr = parse(each.expr.data)
                packed = [n for n, v in enumerate(each.args) if v in constants and _by_columns(n, each, expr)]
                if any(_quantized(n, each, expr) for n in packed):
                    _pack(each, expr, packed, _vectors(expr, target_of(ctx)) * target_of(ctx).lanes)


def _vectors(expr: Expr, target: CpuTarget) -> int:
    """Return the vectors in a panel. Unpacking is a long chain, so a row has as many independent sums as there are
    registers for. Dot products of bytes are chains of their own, and leave registers to more rows."""
    if any(isinstance(e, Call) and e.fn in ("dot4", "dot2x2") for e in walk(expr)):
        return 2
    return 4 if target.vector_registers >= 32 else 2


def _quantized(operand: int, op: ComputeOp, expr: Expr) -> bool:
    """Return whether an operand has integers that a sum of floats reads as numbers, not as indices."""
    indices = {load.operand for each in loads(expr) for i in each.index or () for load in loads(i)}
    integers = not is_float(element_of(op.args[operand])) and is_float(element_of(op.result))
    return integers and operand not in indices


def _columns(op: ComputeOp) -> Index:
    return Index(f"i{len(dims_of(op.shape)) - 1}")


def _by_columns(operand: int, op: ComputeOp, expr: Expr) -> bool:
    """Return whether the column of the result is the first index of an operand, and occurs in no other of its
    indices."""
    reads = [load.index or () for load in loads(expr) if load.operand == operand]
    return all(at and at[0] == _columns(op) and _columns(op) not in _indices(at[1:]) for at in reads)


def _indices(at: tuple[Expr, ...]) -> Iterator[Expr]:
    return (e for i in at for e in walk(i) if isinstance(e, Index))


def _pack(op: ComputeOp, expr: Expr, packed: list[int], block: int) -> None:
    builder = LayoutBuilder(op)
    panels = {n: layout(len(shape_of(op.args[n])), [(0, block)]) for n in packed}  # [⌈N/b⌉, X…, b]

    def load(node: Load) -> Expr:
        held = panels.get(node.operand)
        return Load(node.operand, held.index(node.index or ())) if held else node

    args = [builder.emit(PackOp(v, panels[n])) if n in panels else v for n, v in enumerate(op.args)]
    new = ComputeOp(str(substitute(expr, load)), args, dims_of(op.shape), dims_of(op.reduce), "add")
    op.result.replace_all_uses_with(builder.emit(new))
    erase_unused([op])
