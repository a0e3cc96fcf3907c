"""Verifier of the device level (``verify-device``): what the kernels of a GPU have in each phase of the device passes.

| phase | from this pass on | kernels have, beside loops of tiles |
|---|---|---|
| ``staged`` | ``promote-locals`` | products of tensor cores |
| ``asynchronous`` | ``hoist-copies`` | asynchronous and bulk copies, mbarriers, specialized warps, clusters |
| ``distributed`` | ``distribute-values`` | the number of computing threads; the distribution of each vector over them |
| ``launched`` | ``set-launch-geometry`` | the grid, all threads of a block, and its shared memory |

A module for a CPU has none of these (``verify-loops``).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.passes.device.distribute_values import DISTRIBUTION, SOURCES
from mlc.passes.legality import IllegalIR, Level
from mlc.passes.loops.verify_loops import DEVICE_KERNELS, kernels, level

STAGED, DEVICE = level("device", kernels("kernel.mma")), level("device", DEVICE_KERNELS)


@dataclass(frozen=True)
class Phase:
    """The rules of a phase: ``level``; whether vectors are ``distributed`` over threads; whether the kernel is
    ``launched``."""

    level: Level
    distributed: bool = False
    launched: bool = False

    def verify(self, module: ModuleOp) -> None:
        """Check all kernels of ``module``.

        Raises:
            IllegalIR: the first violation.
        """
        self.level.verify(module)
        for fn in (o for o in module.ops if isinstance(o, kernel.FuncOp)):
            if self.launched and None in (fn.launch.grid, fn.launch.launched, fn.launch.shared):
                raise self.level.error(fn, "the geometry of its launch is not known")
            for op in fn.walk():
                self._verify_distribution(op)

    def _verify_distribution(self, op: Operation) -> None:
        found = op.attributes.get(DISTRIBUTION)
        if found is not None and not self.distributed:
            raise self.level.error(op, "it has a distribution before distribute-values")
        if self.distributed and found is None and _is_distributed(op):
            raise self.level.error(op, "the distribution of its result over threads is not known")


def _is_distributed(op: Operation) -> bool:
    """Return whether an operation must say which thread has which elements."""
    if isinstance(op, SOURCES):
        return isinstance(op.results[0].type, VectorType)
    return isinstance(op, kernel.AsyncCopyOp)


PHASES = {
    "staged": Phase(STAGED),
    "asynchronous": Phase(DEVICE),
    "distributed": Phase(DEVICE, distributed=True),
    "launched": Phase(DEVICE, distributed=True, launched=True),
}


@dataclass(frozen=True)
class VerifyDevice(ModulePass):
    """Raise IllegalIR if the module breaks a rule of a phase of the device level; change nothing."""

    name = "verify-device"
    phase: str = "launched"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.phase not in PHASES:
            raise IllegalIR(f"there is no phase {self.phase!r}; the phases are {', '.join(PHASES)}", stage=self.name)
        PHASES[self.phase].verify(op)
