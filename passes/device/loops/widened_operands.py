"""Widened operands: staged factors of 8 bits become halves in shared memory, as which tensor cores multiply them.

    kernel.write (kernel.read %B : 32x1x128xi8), %t     →     kernel.write (kernel.read %B : 32x1x128xi8), %t
                                                              kernel.write (f16(kernel.read %t : 32x128xi8)), %u

The copy from memory still copies bytes, so it can be asynchronous. Halves represent each value of 8 bits exactly.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, VectorType, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.types import element_of, float_type, is_unsigned

CASTS = (arith.SIToFPOp, arith.UIToFPOp, arith.TruncFOp, kernel.LanewiseOp)


def widen_operand(copy: kernel.WriteOp, wide: kernel.LocalOp) -> None:
    """After ``copy``, which writes bytes to a local array, write its elements as halves to ``wide``, of the same
    shape."""
    shape = list(wide.result.type.get_shape())
    strides, element = [shape[1], 1], element_of(copy.buffer)
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    held: Attribute = copy.value.type.element_type  # type: ignore[attr-defined]
    read = kernel.ReadOp(copy.buffer, zero.result, strides, VectorType(held, shape))
    casts = _casts(read.result, element, element_of(wide.result), shape)
    write = kernel.WriteOp(casts[-1].results[0], wide.result, zero.result, strides)
    assert (block := copy.parent) is not None
    block.insert_ops_after([zero, read, *casts, write], copy)


def copied_from(local: SSAValue) -> Operation | Block:
    """Return the read of memory whose elements are in the local array of a staged operand, widened or not."""
    write = next(u.operation for u in local.uses if isinstance(u.operation, kernel.WriteOp))
    op = write.value.owner
    while isinstance(op, CASTS):
        op = op.operands[0].owner
    held = isinstance(op, kernel.ReadOp) and isinstance(op.buffer.owner, kernel.LocalOp)
    return copied_from(op.buffer) if held else op  # type: ignore[union-attr]


def _casts(value: SSAValue, element: str, half: str, shape: list[int]) -> list[Operation]:
    """Return the casts of a vector of 8-bit elements to halves."""
    to, single = (VectorType(t, shape) for t in (float_type(half), f32))
    if element in kernel.WIDENING:
        wide = kernel.LanewiseOp(kernel.WIDENING[element], [value], {}, single)
        return [wide, arith.TruncFOp(wide.result, to)]
    return [(arith.UIToFPOp if is_unsigned(element) else arith.SIToFPOp)(value, to)]  # type: ignore[arg-type]
