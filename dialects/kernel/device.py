"""Operations of kernels that run as thread blocks of a GPU."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def, traits_def

from mlc.dialects.kernel.effects import PURE, Orders, ReadsPosition


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """A barrier of a block: all its threads reach the barrier before one goes on, and see what the others wrote:
    ``kernel.barrier``."""

    name = "kernel.barrier"
    traits = traits_def(Orders())
    assembly_format = "attr-dict"


@irdl_op_definition
class ClusterBarrierOp(IRDLOperation):
    """A barrier of a cluster: all threads of its blocks reach the barrier before one goes on:
    ``kernel.cluster_barrier``."""

    name = "kernel.cluster_barrier"
    traits = traits_def(Orders())
    assembly_format = "attr-dict"


@irdl_op_definition
class ClusterRankOp(IRDLOperation):
    """The number of this block in its cluster (PTX: %cluster_ctarank): ``%r = kernel.cluster_rank``."""

    name = "kernel.cluster_rank"
    result = result_def(IndexType)
    traits = traits_def(PURE)
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class IterationOp(IRDLOperation):
    """The number of iterations of the enclosing parallel loop that this block has done before: ``%n =
    kernel.iteration``."""

    name = "kernel.iteration"
    result = result_def(IndexType)
    traits = traits_def(ReadsPosition())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])
