"""``verify-plan``: what is true of a planned module: a program of launches; buffers and weights have places."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects import kernel, rt
from mlc.passes.legality import VECTORS, Level, calls
from mlc.passes.loops.verify_loops import KERNELS

PLACES = "rt.input rt.output rt.weight rt.buffer rt.view"
MODULE = {"builtin.module": "rt.program kernel.func", "rt.program": f"{PLACES} rt.launch rt.copy rt.barrier"}
LEVEL = Level("plan", MODULE | KERNELS, VECTORS, frozenset({"rt.launch"}))


@dataclass(frozen=True)
class VerifyPlan(ModulePass):
    """Raises IllegalIR where the module is not one of the plan level; changes nothing."""

    name = "verify-plan"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        LEVEL.verify(op)
        _verify_launches(op)
        for each in (o for function in op.ops for o in function.regions[0].block.ops):
            if isinstance(each, rt.BufferOp) and each.offset is None and each.after is None:
                raise LEVEL.error(each, "it has no place in the arena")
            if isinstance(each, rt.WeightOp) and each.offset is None:
                raise LEVEL.error(each, "it has no place in the weights")


def _verify_launches(module: ModuleOp) -> None:
    taken = {o.sym_name.data: list(o.block.arg_types) for o in module.ops if isinstance(o, kernel.FuncOp)}
    for launch, callee in calls(module, "rt.launch"):
        if callee not in taken:
            raise LEVEL.error(launch, f"there is no kernel @{callee}")
        if taken[callee] != list(launch.operand_types):
            raise LEVEL.error(launch, f"kernel @{callee} takes other buffers than it gets")
