"""Operations of kernels that run as thread blocks of a GPU."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """All threads of a block reach it before one goes on, and see what the others wrote: ``kernel.barrier``."""

    name = "kernel.barrier"
    assembly_format = "attr-dict"


@irdl_op_definition
class TurnOp(IRDLOperation):
    """How many iterations of the parallel loop around it this block has done before: ``%n = kernel.turn``."""

    name = "kernel.turn"
    result = result_def(IndexType)
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])
