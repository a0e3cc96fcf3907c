"""Semaphores in the device's memory, by which a block finds out whether it is the last of the blocks that share a
tile.

A semaphore counts the arrivals of blocks, and is 0 again after the last one of a tile. No block waits for another.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def

from mlc.dialects.kernel.effects import Accesses, Orders


@irdl_op_definition
class ArriveOp(IRDLOperation):
    """An arrival of one of ``%n`` blocks at a semaphore: ``%last = kernel.arrive %s[%t] of %n : memref<216xi32>``.

    The result is true in the last block that arrives, which then sees what the other blocks wrote before they arrived
    (CUDA: ``atom.acq_rel.gpu.inc`` between two barriers of the block). A single block is the last one and accesses no
    semaphore.
    """

    name = "kernel.arrive"
    buffer = operand_def(MemRefType)
    at = operand_def(IndexType)
    blocks = operand_def(IndexType)
    result = result_def(IntegerType(1))
    traits = traits_def(Orders())
    assembly_format = "$buffer `[` $at `]` `of` $blocks attr-dict `:` type($buffer)"

    def __init__(self, buffer: SSAValue, at: SSAValue, blocks: SSAValue):
        super().__init__(operands=[buffer, at, blocks], result_types=[IntegerType(1)])


@irdl_op_definition
class OthersArrivedOp(IRDLOperation):
    """Whether all other blocks of a tile have arrived. If so, this block is the last one and need not write its partial
    sums.

    ``%c = kernel.others_arrived %s[%t] of %n when %f : memref<216xi32>``: the result is false if ``%f`` is. It may also
    be false although the others have arrived since: ``kernel.arrive`` decides (CUDA: ``ld.acquire.gpu``).
    """

    name = "kernel.others_arrived"
    buffer = operand_def(MemRefType)
    at = operand_def(IndexType)
    blocks = operand_def(IndexType)
    when = operand_def(IntegerType(1))
    result = result_def(IntegerType(1))
    traits = traits_def(Accesses(reads=("buffer",)))
    assembly_format = "$buffer `[` $at `]` `of` $blocks `when` $when attr-dict `:` type($buffer)"

    def __init__(self, buffer: SSAValue, at: SSAValue, blocks: SSAValue, when: SSAValue):
        super().__init__(operands=[buffer, at, blocks, when], result_types=[IntegerType(1)])
