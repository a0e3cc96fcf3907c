"""``verify-plan``: what is true of a planned module: a program of launches; buffers and weights have places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from mlc.dialects import kernel, rt
from mlc.dialects.dims import parse_dim
from mlc.dialects.graph.loop import STEP, local_symbols
from mlc.dialects.graph.sizes import SIZE, sizes_of
from mlc.dialects.types import shape_of
from mlc.passes.codegen.c_kernel import kernel_symbols
from mlc.passes.legality import VECTORS, Level, calls
from mlc.passes.loops.verify_loops import KERNELS

PLACES = "rt.input rt.output rt.weight rt.run_number rt.buffer rt.view"
STEPS = "rt.launch rt.copy rt.positions rt.size rt.routine rt.decide rt.barrier rt.loop rt.if"
MODULE = {"builtin.module": "rt.program kernel.func", "rt.program": f"{PLACES} {STEPS}"}
MODULE |= dict.fromkeys(("rt.loop", "rt.if"), f"{PLACES} {STEPS}")
LEVEL = Level("plan", MODULE | KERNELS, VECTORS, frozenset({"rt.launch"}))


@dataclass(frozen=True)
class VerifyPlan(ModulePass):
    """Raises IllegalIR where the module is not one of the plan level; changes nothing."""

    name = "verify-plan"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        LEVEL.verify(op)
        _verify_launches(op)
        for each in op.walk():
            if isinstance(each, rt.BufferOp) and each.offset is None and each.after is None:
                raise LEVEL.error(each, "it has no place in the arena")
            if isinstance(each, rt.WeightOp) and each.offset is None:
                raise LEVEL.error(each, "it has no place in the weights")
        named = {o.sym_name.data: set(kernel_symbols(o)) for o in op.ops if isinstance(o, kernel.FuncOp)}
        for program in (o for o in op.ops if isinstance(o, rt.ProgramOp)):
            _verify_sizes(program.body.block, named, set())


def _verify_sizes(block: Block, named: Mapping[str, set[str]], known: set[str]) -> None:
    """A step needs no size that is found out behind it, or before it and no barrier stands between; and the number of a
    turn only inside its loop. A loop or branch begins behind a barrier, and its regions end with one.
    """
    known, found = set(known), set[str]()
    pending = False
    for op in block.ops:
        pending = isinstance(op, rt.STEPS) or (pending and not isinstance(op, rt.BarrierOp))
        if isinstance(op, rt.BarrierOp):
            known |= found
        if isinstance(op, rt.PositionsOp | rt.SizeOp):
            found.add(op.symbol.data)
        if isinstance(op, rt.DecideOp) and op.size is not None:
            found.add(op.size.data)
        if isinstance(op, rt.NESTS):
            if pending:
                raise LEVEL.error(op, "a step in front of it is not behind a barrier")
            inside = {op.step.data} if isinstance(op, rt.LoopOp) else set()
            for region in op.regions:
                _verify_sizes(region.block, named, known | inside)
        if missing := _sizes_needed(op, named) - known:
            raise LEVEL.error(op, f"the size {min(missing)} is not known here")
    if pending and not isinstance(block.parent_op(), rt.ProgramOp):
        raise LEVEL.error(block.parent_op() or op, "no barrier ends its region")


def _sizes_needed(op: Operation, named: Mapping[str, set[str]]) -> set[str]:
    """Sizes in the shapes and places of what a step touches, and those that its kernel reads."""
    if isinstance(op, rt.PositionsOp):
        return sizes_of(shape_of(op.mask))
    if isinstance(op, rt.SizeOp):
        return local_symbols([parse_dim(op.most.data)])
    touched = op.operands if isinstance(op, rt.LaunchOp | rt.CopyOp | rt.RoutineOp) else ()
    read = named.get(op.callee.root_reference.data, set()) if isinstance(op, rt.LaunchOp) else set()
    read = {symbol for symbol in read if SIZE.fullmatch(symbol) or STEP.fullmatch(symbol)}
    return read.union(*(local_symbols([*shape_of(v), rt.start(v)]) for v in touched))


def _verify_launches(module: ModuleOp) -> None:
    taken = {o.sym_name.data: list(o.block.arg_types) for o in module.ops if isinstance(o, kernel.FuncOp)}
    for launch, callee in calls(module, "rt.launch"):
        if callee not in taken:
            raise LEVEL.error(launch, f"there is no kernel @{callee}")
        if taken[callee] != list(launch.operand_types):
            raise LEVEL.error(launch, f"kernel @{callee} takes other buffers than it gets")
