"""The ``rt`` dialect: the host program of a model: launches over planned memory, in order, in turns and in branches."""

from xdsl.ir import Dialect

from mlc.dialects.rt.control import NESTS, STEPS, DecideOp, IfOp, LoopOp, extents, walk
from mlc.dialects.rt.program import (
    BarrierOp,
    BufferOp,
    CopyOp,
    InputOp,
    LaunchOp,
    OutputOp,
    PositionsOp,
    ProgramOp,
    RoutineOp,
    RunNumberOp,
    SizeOp,
    ViewOp,
    WeightOp,
    root,
    start,
)

Rt = Dialect(
    "rt",
    [
        ProgramOp,
        InputOp,
        OutputOp,
        WeightOp,
        RunNumberOp,
        BufferOp,
        ViewOp,
        LaunchOp,
        CopyOp,
        PositionsOp,
        SizeOp,
        RoutineOp,
        BarrierOp,
        DecideOp,
        LoopOp,
        IfOp,
    ],
    [],
)

__all__ = [
    "Rt", "ProgramOp", "InputOp", "OutputOp", "WeightOp", "RunNumberOp", "BufferOp", "ViewOp", "LaunchOp", "CopyOp",
    "PositionsOp", "SizeOp", "RoutineOp", "BarrierOp", "DecideOp", "LoopOp", "IfOp", "STEPS", "NESTS", "walk",
    "root", "extents", "start",
]  # fmt: skip
