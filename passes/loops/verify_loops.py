"""Verifier of the loops level (``verify-loops``): structured control flow around operations on register tiles."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects.graph.base import NODE
from mlc.dialects.kernel.declared import LOOP
from mlc.passes.kernel.verify_kernel import MAIN
from mlc.passes.legality import TENSORS, VECTORS, Level

LOOPS = "scf.for scf.if"
MEMORY = "kernel.read kernel.write kernel.prefetch kernel.gather kernel.scatter"
TILES = "kernel.symbol kernel.slide kernel.step kernel.lanewise kernel.multi_reduction"
COPIES = "kernel.subview kernel.async_copy kernel.async_gather kernel.async_group kernel.async_wait"
BULK = "kernel.bulk_copy kernel.bulk_store kernel.mbarrier_expect kernel.mbarrier_arrive kernel.mbarrier_wait"
WARPS = "kernel.mbarrier_init kernel.specialize kernel.cluster_barrier"
BLOCKS = "kernel.barrier kernel.iteration kernel.cluster_rank kernel.arrive kernel.others_arrived"
BODY = f"{MEMORY} {COPIES} {BULK} {BLOCKS} kernel.mma kernel.mma_wait {TILES} arith.* math.* vector.*"
KERNELS = {
    "kernel.func": f"kernel.local kernel.library_call kernel.return {WARPS} scf.parallel {LOOPS} {BODY}",
    "kernel.specialize": "scf.parallel kernel.bulk_store_wait arith.*",
    "scf.parallel": f"{LOOPS} {BODY} scf.reduce",
    "scf.for": f"scf.parallel {LOOPS} {BODY} scf.yield",
    "scf.if": f"scf.parallel {LOOPS} {BODY} scf.yield",
    "scf.reduce": "",
}
MODULE = {"builtin.module": "func.func kernel.func", **MAIN}
ATTRIBUTES = {name: frozenset({LOOP, NODE}) for name in ("scf.for", "scf.parallel", "scf.if")}
LEVEL = Level("loops", MODULE | KERNELS, VECTORS | TENSORS, frozenset({"kernel.call"}), ATTRIBUTES)


@dataclass(frozen=True)
class VerifyLoops(ModulePass):
    """Raise IllegalIR if the module breaks a rule of the loops level; change nothing."""

    name = "verify-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        LEVEL.verify(op)
