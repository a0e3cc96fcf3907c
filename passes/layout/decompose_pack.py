"""Lowering of packing (``decompose-pack``) to paddings, reshapes and transposes, which other passes fold and fuse.

    %p = graph.pack(%w : 64x90) {layout = #graph.layout<"Ba32b">} : 3x64x32

  → %0 = graph.pad(%w) {high = [0, 6]} : 64x96
    %1 = graph.reshape(%0) : 64x3x32
    %p = graph.transpose(%1) {perm = [1, 0, 2]} : 3x64x32

MLIR's linalg has the same under the name ``decomposePack``. Constant folding packs constants; a kernel packs any other
operand at run time.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import PackOp, SliceOp, UnpackOp
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import shape_of
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused


@dataclass(frozen=True)
class DecomposePack(ModulePass):
    """Replace graph.pack and graph.unpack by paddings, reshapes, transpositions and slices."""

    name = "decompose-pack"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            for each in [o for o in body.ops if isinstance(o, PackOp | UnpackOp)]:
                each.result.replace_all_uses_with(_packed(each) if isinstance(each, PackOp) else _unpacked(each))
                erase_unused([each])


def _packed(op: PackOp) -> SSAValue:
    builder, held, x = OpBuilder(op), op.layout, op.input
    dims = [(axis, "outer") for axis in range(len(held.order))]
    for axis, size in held.tiles:
        at = dims.index((axis, "outer"))
        x = builder.fill(x, at, size)
        shape = shape_of(x)
        x = builder.reshape(x, (*shape[:at], shape[at] // size, size, *shape[at + 1 :]))
        dims.insert(at + 1, (axis, "inner"))
    return builder.transpose(x, [dims.index(d) for d in _buffer(op)])


def _unpacked(op: UnpackOp) -> SSAValue:
    builder, held, buffer = OpBuilder(op), op.layout, _buffer(op)
    grouped = sorted(buffer, key=lambda d: (d[0], d[1] == "inner"))
    x = builder.transpose(op.input, [buffer.index(d) for d in grouped])
    wanted = shape_of(op.result)
    shape: list[DimLike] = [0] * len(held.order)
    for axis, extent in zip(held.order, shape_of(op.input), strict=False):
        shape[axis] = extent * (held.tile(axis) or 1)
    x = builder.reshape(x, tuple(shape))
    return x if shape_of(x) == wanted else builder.emit(SliceOp(x, [0] * len(wanted), wanted, [1] * len(wanted)))


def _buffer(op: PackOp | UnpackOp) -> list[tuple[int, str]]:
    """Return the dimensions of the buffer in order: the axis of the tensor that each comes from, and whether it counts
    tiles (outer) or elements of a tile (inner)."""
    return [*((axis, "outer") for axis in op.layout.order), *((axis, "inner") for axis, _ in op.layout.tiles)]
