"""The ``kernel`` dialect: isolated fused regions, and tile-sized reads and writes of linear buffers.

A ``kernel.func`` first contains graph operators on tensors and returns its results. Lowered, it has its inputs and then
its outputs as buffers (destination-passing style), and contains ``poly.statement``, then tiles, then loops.
"""

from xdsl.ir import Dialect

from mlc.dialects.kernel.access import TileAccess, valid_of
from mlc.dialects.kernel.async_copy import AsyncCopyOp, AsyncGatherOp, AsyncGroupOp, AsyncWaitOp, SubviewOp, root_of
from mlc.dialects.kernel.bulk_copy import (
    BulkCopyOp,
    MbarrierArriveOp,
    MbarrierExpectOp,
    MbarrierInitOp,
    MbarrierWaitOp,
    SpecializeOp,
    TensorMap,
)
from mlc.dialects.kernel.bulk_store import PART, WIDTH, BulkStoreOp, BulkStoreWaitOp, part_columns
from mlc.dialects.kernel.declared import loop_of, set_loop
from mlc.dialects.kernel.device import BarrierOp, ClusterBarrierOp, ClusterRankOp, IterationOp
from mlc.dialects.kernel.facts import (
    Fusion,
    FusionAttr,
    Launch,
    LaunchAttr,
    Loop,
    LoopAttr,
    Origin,
    OriginAttr,
    Scratch,
    ScratchAttr,
    Work,
    WorkAttr,
)
from mlc.dialects.kernel.func import CallOp, FuncOp, LibraryCallOp, LocalOp, ReturnOp
from mlc.dialects.kernel.iterators import IndexOp, SymbolOp
from mlc.dialects.kernel.linear_layout import LayoutAttr
from mlc.dialects.kernel.mma import (
    MMA_SHAPES,
    WARPGROUP_COLUMNS,
    MmaOp,
    MmaShape,
    MmaWaitOp,
    factor_element,
    is_of_warpgroup,
    warpgroup_shape,
)
from mlc.dialects.kernel.reduction import MultiReductionOp
from mlc.dialects.kernel.semaphore import ArriveOp, OthersArrivedOp
from mlc.dialects.kernel.sequence import CopyOp, RepeatOp, ViewOp
from mlc.dialects.kernel.tile import (
    WIDENING,
    GatherOp,
    LanewiseOp,
    PrefetchOp,
    ReadOp,
    ScatterOp,
    SlideOp,
    StepOp,
    WriteOp,
)

Kernel = Dialect(
    "kernel",
    [
        *(FuncOp, ReturnOp, CallOp, LocalOp, LibraryCallOp, IndexOp, SymbolOp),
        *(ReadOp, WriteOp, PrefetchOp, GatherOp, ScatterOp, SlideOp, StepOp, LanewiseOp),
        *(BarrierOp, ClusterBarrierOp, ClusterRankOp, IterationOp, MmaOp, MmaWaitOp, MultiReductionOp),
        *(ArriveOp, OthersArrivedOp, RepeatOp, ViewOp, CopyOp),
        *(AsyncCopyOp, AsyncGatherOp, AsyncGroupOp, AsyncWaitOp, SubviewOp),
        *(BulkCopyOp, MbarrierInitOp, MbarrierExpectOp, MbarrierArriveOp, MbarrierWaitOp, SpecializeOp),
        *(BulkStoreOp, BulkStoreWaitOp),
    ],
    [LaunchAttr, OriginAttr, FusionAttr, WorkAttr, ScratchAttr, LoopAttr, LayoutAttr],
)

__all__ = [
    "Kernel",
    "FuncOp",
    "Fusion",
    "Launch",
    "Origin",
    "Work",
    "Scratch",
    "Loop",
    "loop_of",
    "set_loop",
    "ReturnOp",
    "CallOp",
    "LocalOp",
    "LayoutAttr",
    "LibraryCallOp",
    "IndexOp",
    "SymbolOp",
    "ReadOp",
    "WriteOp",
    "PrefetchOp",
    "GatherOp",
    "ScatterOp",
    "SlideOp",
    "StepOp",
    "LanewiseOp",
    "WIDENING",
    "BarrierOp",
    "ClusterBarrierOp",
    "ClusterRankOp",
    "IterationOp",
    "ArriveOp",
    "OthersArrivedOp",
    "RepeatOp",
    "ViewOp",
    "CopyOp",
    "MMA_SHAPES",
    "factor_element",
    "MmaOp",
    "MmaWaitOp",
    "MmaShape",
    "WARPGROUP_COLUMNS",
    "is_of_warpgroup",
    "warpgroup_shape",
    "MultiReductionOp",
    "AsyncCopyOp",
    "AsyncGatherOp",
    "AsyncGroupOp",
    "AsyncWaitOp",
    "SubviewOp",
    "root_of",
    "BulkCopyOp",
    "BulkStoreOp",
    "BulkStoreWaitOp",
    "PART",
    "WIDTH",
    "part_columns",
    "MbarrierInitOp",
    "MbarrierExpectOp",
    "MbarrierArriveOp",
    "MbarrierWaitOp",
    "SpecializeOp",
    "TensorMap",
    "TileAccess",
    "valid_of",
]
