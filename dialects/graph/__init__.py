"""The ``graph`` dialect: a neural network as pure operators on tensors, with no loops."""

from xdsl.ir import Dialect

from mlc.dialects.graph.argsort import ArgsortOp
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
from mlc.dialects.graph.contract import ContractOp
from mlc.dialects.graph.conv import ConvOp
from mlc.dialects.graph.coupling import CouplingOp
from mlc.dialects.graph.data import ConstantOp, WeightOp
from mlc.dialects.graph.factors import CholeskyOp, LuOp, TriangularSolveOp
from mlc.dialects.graph.forest import ForestOp
from mlc.dialects.graph.in_layouts import LayoutOp
from mlc.dialects.graph.layouts import LayoutAttr, layout
from mlc.dialects.graph.library import LibraryOp
from mlc.dialects.graph.loop import IfOp, LoopOp, RegionOp, YieldOp
from mlc.dialects.graph.map import MapOp
from mlc.dialects.graph.move import BroadcastOp, ConcatOp, ReshapeOp, SliceOp, TransposeOp
from mlc.dialects.graph.non_max_suppression import NonMaxSuppressionOp
from mlc.dialects.graph.pack import PackOp, UnpackOp
from mlc.dialects.graph.pad import PadOp
from mlc.dialects.graph.piecewise import PiecewiseOp
from mlc.dialects.graph.random import RandomDrawOp, RunCounterOp
from mlc.dialects.graph.reduce import PoolOp, ReduceOp
from mlc.dialects.graph.routine import RoutineOp
from mlc.dialects.graph.scan import ScanOp
from mlc.dialects.graph.scatter import ScatterOp
from mlc.dialects.graph.sizes import NonzeroOp, SizedOp, SizeOp
from mlc.dialects.graph.transposed import ConvTransposeOp
from mlc.dialects.graph.winograd import WinogradInputOp, WinogradRowsOp
from mlc.dialects.graph.winograd_gradient import WinogradPointsOp, WinogradTapRowsOp, WinogradTapsOp
from mlc.dialects.graph.winograd_output import WinogradOutputOp, WinogradSumsOp
from mlc.dialects.types import DimsAttr, StringType

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
        PackOp,
        UnpackOp,
        ComputeOp,
        PiecewiseOp,
        NonzeroOp,
        SizeOp,
        RunCounterOp,
        RandomDrawOp,
        ArgsortOp,
        ScanOp,
        NonMaxSuppressionOp,
        ScatterOp,
        ForestOp,
        CouplingOp,
        CholeskyOp,
        LuOp,
        TriangularSolveOp,
        LoopOp,
        IfOp,
        YieldOp,
        RoutineOp,
        WinogradRowsOp,
        WinogradInputOp,
        WinogradSumsOp,
        WinogradOutputOp,
        WinogradPointsOp,
        WinogradTapRowsOp,
        WinogradTapsOp,
        WeightOp,
        ConstantOp,
    ],
    [DimsAttr, LayoutAttr, StringType],
)

__all__ = [
    "Graph", "GraphOp", "StructuredOp", "MapOp", "ContractOp", "ConvOp", "ConvTransposeOp", "ReduceOp", "PoolOp",
    "ReshapeOp", "BitcastOp", "TransposeOp", "BroadcastOp", "SliceOp", "PadOp", "ConcatOp", "PackOp", "UnpackOp",
    "ComputeOp", "PiecewiseOp", "NonzeroOp", "SizeOp", "SizedOp", "RoutineOp", "RunCounterOp", "RandomDrawOp",
    "LibraryOp",
    "ArgsortOp", "ScanOp", "NonMaxSuppressionOp", "ScatterOp", "ForestOp", "CouplingOp", "LoopOp", "IfOp",
    "CholeskyOp", "LuOp", "TriangularSolveOp",
    "RegionOp", "YieldOp",
    "WinogradRowsOp", "WinogradInputOp", "WinogradSumsOp", "WinogradOutputOp", "WinogradPointsOp", "WinogradTapRowsOp",
    "WinogradTapsOp", "WeightOp", "ConstantOp",
    "broadcast_shapes", "dims_of", "LayoutAttr", "LayoutOp", "layout", "ints_of", "source_nodes", "with_nodes",
]  # fmt: skip
