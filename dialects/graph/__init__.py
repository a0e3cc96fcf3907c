"""The ``graph`` dialect: a neural network as pure operators on tensors, with no layout and no loops."""

from xdsl.ir import Dialect

from mlc.dialects.graph.base import (
    GraphOp,
    StructuredOp,
    broadcast_shapes,
    dims_of,
    ints_of,
    source_nodes,
    with_nodes,
)
from mlc.dialects.graph.bitcast import BitcastOp
from mlc.dialects.graph.compute import ComputeOp
from mlc.dialects.graph.contract import ContractOp, ConvOp
from mlc.dialects.graph.data import ConstantOp, WeightOp
from mlc.dialects.graph.library import LibraryOp
from mlc.dialects.graph.loop import IfOp, LoopOp, RegionOp, YieldOp
from mlc.dialects.graph.map import MapOp
from mlc.dialects.graph.move import BroadcastOp, ConcatOp, PadOp, ReshapeOp, SliceOp, TransposeOp
from mlc.dialects.graph.order import OrderOp, ScanOp
from mlc.dialects.graph.random import DrawOp, RunNumberOp
from mlc.dialects.graph.reduce import PoolOp, ReduceOp
from mlc.dialects.graph.routine import RoutineOp
from mlc.dialects.graph.scatter import ScatterOp
from mlc.dialects.graph.sizes import PositionsOp, SizedOp, SizeOp
from mlc.dialects.graph.suppress import SuppressOp
from mlc.dialects.graph.transposed import ConvTransposeOp
from mlc.dialects.graph.winograd import WinogradInputOp, WinogradOutputOp, WinogradRowsOp, WinogradSumsOp
from mlc.dialects.types import DimsAttr, TextType

Graph = Dialect(
    "graph",
    [
        MapOp,
        ContractOp,
        ConvOp,
        ConvTransposeOp,
        ReduceOp,
        PoolOp,
        ReshapeOp,
        BitcastOp,
        TransposeOp,
        BroadcastOp,
        SliceOp,
        PadOp,
        ConcatOp,
        ComputeOp,
        PositionsOp,
        SizeOp,
        RunNumberOp,
        DrawOp,
        OrderOp,
        ScanOp,
        SuppressOp,
        ScatterOp,
        LoopOp,
        IfOp,
        YieldOp,
        RoutineOp,
        WinogradRowsOp,
        WinogradInputOp,
        WinogradSumsOp,
        WinogradOutputOp,
        WeightOp,
        ConstantOp,
    ],
    [DimsAttr, TextType],
)

__all__ = [
    "Graph", "GraphOp", "StructuredOp", "MapOp", "ContractOp", "ConvOp", "ConvTransposeOp", "ReduceOp", "PoolOp",
    "ReshapeOp", "BitcastOp", "TransposeOp", "BroadcastOp", "SliceOp", "PadOp", "ConcatOp", "ComputeOp",
    "PositionsOp", "SizeOp", "SizedOp", "RoutineOp", "RunNumberOp", "DrawOp", "LibraryOp", "OrderOp", "ScanOp",
    "SuppressOp", "ScatterOp", "LoopOp", "IfOp", "RegionOp", "YieldOp",
    "WinogradRowsOp", "WinogradInputOp", "WinogradSumsOp", "WinogradOutputOp", "WeightOp", "ConstantOp",
    "broadcast_shapes", "dims_of", "ints_of", "source_nodes", "with_nodes",
]  # fmt: skip
