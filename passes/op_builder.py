"""Operation builder: creates graph operators at an insertion point (MLIR's ``OpBuilder``)."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import BitcastOp, PadOp, ReshapeOp, TransposeOp, source_nodes, with_nodes
from mlc.dialects.types import Shape, shape_of


class OpBuilder:
    """An insertion point: ``emit`` inserts operations before ``anchor``, with the source nodes ``nodes`` (default:
    those of ``anchor``)."""

    def __init__(self, anchor: Operation, nodes: tuple[str, ...] = ()) -> None:
        self.anchor = anchor
        self.nodes = nodes or source_nodes(anchor)

    def emit(self, op: Operation) -> SSAValue:
        block = self.anchor.parent
        assert block is not None
        block.insert_op_before(with_nodes(op, self.nodes), self.anchor)
        return op.results[0]

    def reshape(self, x: SSAValue, shape: Shape) -> SSAValue:
        return x if shape_of(x) == tuple(shape) else self.emit(ReshapeOp(x, shape))

    def transpose(self, x: SSAValue, perm: list[int]) -> SSAValue:
        return x if perm == sorted(perm) else self.emit(TransposeOp(x, perm))

    def fill(self, x: SSAValue, axis: int, multiple: int) -> SSAValue:
        """Return ``x`` padded with zeros at the end of ``axis``, so that the extent of that axis is a multiple of
        ``multiple``."""
        shape = shape_of(x)
        more = -shape[axis] % multiple
        high = [more if n == axis else 0 for n in range(len(shape))]
        return self.emit(PadOp(x, [0] * len(shape), high)) if more else x

    def packed(self, x: SSAValue) -> SSAValue:
        """Return ``x``, a tensor of bytes or bf16, as i32 elements: each holds four bytes, or two bf16, that are
        neighbours along the last axis."""
        return self.emit(BitcastOp(x))
