"""Operations of kernels that run as thread blocks of a GPU."""

from __future__ import annotations

from xdsl.irdl import IRDLOperation, irdl_op_definition


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """All threads of a block reach it before one goes on, and see what the others wrote: ``kernel.barrier``."""

    name = "kernel.barrier"
    assembly_format = "attr-dict"
