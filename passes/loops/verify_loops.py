"""Verifier of the loops level (``verify-loops``): structured control flow around operations on register tiles.

These are the kernels of a CPU, and of a GPU before its device passes, which add the operations of thread blocks
(``verify-device``).
"""

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


def kernels(within: str = "", outside: str = "") -> dict[str, str]:
    """Return what regions of kernels may contain: more operations ``within`` loops, and ``outside`` of them."""
    body = f"{LOOPS} {MEMORY} {TILES} {within} arith.* math.* vector.*"
    return {
        "kernel.func": f"kernel.local kernel.library_call kernel.return {outside} scf.parallel {body}",
        "scf.parallel": f"{body} scf.reduce",
        "scf.for": f"scf.parallel {body} scf.yield",
        "scf.if": f"scf.parallel {body} scf.yield",
        "scf.reduce": "",
    }


SEQUENCE = "kernel.repeat kernel.view kernel.copy"
"""The operations of kernels that are made of others (``outline-loops``)."""


def sequences() -> dict[str, str]:
    """Return what regions of kernels may contain after ``outline-loops``."""
    rules = kernels(f"kernel.local kernel.library_call {SEQUENCE}")
    return rules | {"kernel.repeat": rules["scf.for"].removesuffix(" scf.yield")}


ATTRIBUTES = {name: frozenset({LOOP, NODE}) for name in ("scf.for", "scf.parallel", "scf.if")}


def level(name: str, nested: dict[str, str]) -> Level:
    """Return the rules of a module whose main function calls kernels of loops."""
    module = {"builtin.module": "func.func kernel.func", **MAIN}
    return Level(name, module | nested, VECTORS | TENSORS, frozenset({"kernel.call"}), ATTRIBUTES)


LEVEL = level("loops", kernels())

COPIES = "kernel.subview kernel.async_copy kernel.async_gather kernel.async_group kernel.async_wait"
BULK = "kernel.bulk_copy kernel.bulk_store kernel.mbarrier_expect kernel.mbarrier_arrive kernel.mbarrier_wait"
BLOCKS = "kernel.barrier kernel.iteration kernel.cluster_rank kernel.arrive kernel.others_arrived"
WITHIN = f"kernel.mma kernel.mma_wait {COPIES} {BULK} {BLOCKS}"
"""The operations of thread blocks, in loops."""
OUTSIDE = "kernel.mbarrier_init kernel.specialize kernel.cluster_barrier"
"""The operations of thread blocks, outside of loops."""
DEVICE_KERNELS = {**kernels(WITHIN, OUTSIDE), "kernel.specialize": "scf.parallel kernel.bulk_store_wait arith.*"}
"""What kernels of a GPU may contain from the first copies on (``verify-device``)."""


@dataclass(frozen=True)
class VerifyLoops(ModulePass):
    """Raise IllegalIR if the module breaks a rule of the loops level; change nothing."""

    name = "verify-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        LEVEL.verify(op)
