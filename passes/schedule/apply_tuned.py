"""``apply-tuned``: kernels for which ``mlc tune`` has measured a better schedule get it; the others' are chosen.

    41b0…: contraction: S0 S1 | m/8 n/32v | k     # a line of the text: a kernel's digest and its schedule
      →   kernel.func @contract_0(…) attributes {schedule = "contraction: S0 S1 | m/8 n/32v | k", schedule_tuned} {…}

A kernel is known by its text before it is lowered, without its name, so that every model with the same one profits.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.passes.fuse.deduplicate_kernels import text_of
from mlc.passes.schedule.apply_schedules import TUNED
from mlc.passes.schedule.schedule import SCHEDULE


@dataclass(frozen=True)
class ApplyTuned(ModulePass):
    """``text`` has lines ``digest: schedule``; digests of other kernels are ignored."""

    name = "apply-tuned"
    text: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        tuned = {digest: schedule for digest, _, schedule in (line.partition(": ") for line in self.text.splitlines())}
        for fn in _kernels(op) if tuned else ():
            if schedule := tuned.get(_digest(fn)):
                fn.attributes |= {SCHEDULE: StringAttr(schedule), TUNED: UnitAttr()}


def digests(module: ModuleOp) -> dict[str, str]:
    """The digest of each kernel, by name; of kernels as ``form-kernels`` leaves them."""
    return {fn.sym_name.data: _digest(fn) for fn in _kernels(module)}


def _kernels(module: ModuleOp) -> list[kernel.FuncOp]:
    return [o for o in module.ops if isinstance(o, kernel.FuncOp)]


def _digest(fn: kernel.FuncOp) -> str:
    return hashlib.sha256(text_of(fn).encode()).hexdigest()[:32]
