"""The ``rt`` dialect: the host program of a model, which launches kernels on planned memory, in loops and branches."""

from xdsl.ir import Dialect

from mlc.dialects.rt.collectives import StartOp, WaitOp
from mlc.dialects.rt.control import HOST_STEPS, NESTS, STEPS, IfOp, LoopConditionOp, LoopOp, extents, walk
from mlc.dialects.rt.memory import (
    BufferOp,
    InputOp,
    OutputOp,
    RunCounterOp,
    StateOp,
    UpdateOp,
    ViewOp,
    WeightOp,
    in_host_memory,
    on_host,
    replaced,
    root,
    start,
)
from mlc.dialects.rt.program import ProgramOp
from mlc.dialects.rt.steps import BarrierOp, CopyOp, LaunchOp, NonzeroOp, RoutineOp, SizeOp

Rt = Dialect(
    "rt",
    [
        ProgramOp,
        InputOp,
        OutputOp,
        WeightOp,
        RunCounterOp,
        StateOp,
        UpdateOp,
        BufferOp,
        ViewOp,
        LaunchOp,
        CopyOp,
        NonzeroOp,
        SizeOp,
        RoutineOp,
        StartOp,
        WaitOp,
        BarrierOp,
        LoopConditionOp,
        LoopOp,
        IfOp,
    ],
    [],
)

__all__ = [
    "Rt", "ProgramOp", "InputOp", "OutputOp", "WeightOp", "RunCounterOp", "BufferOp", "ViewOp", "LaunchOp", "CopyOp",
    "NonzeroOp", "SizeOp", "RoutineOp", "BarrierOp", "LoopConditionOp", "LoopOp", "IfOp", "STEPS", "NESTS", "walk",
    "root", "extents", "start", "StateOp", "UpdateOp", "replaced", "on_host",
    "in_host_memory", "HOST_STEPS", "StartOp", "WaitOp",
]  # fmt: skip
