"""Tuned schedules (``apply-tuned``): a kernel for which ``mlc tune`` has measured a better schedule gets it.

    41b0…: contraction: S0 S1 | m/8 n/32v | k     # a line of the text: a kernel's digest and its schedule
      →   kernel.func @contract_0(…) attributes {
            schedule = #poly.schedule<"contraction: S0 S1 | m/8 n/32v | k">, schedule_tuned} {…}

The key of a kernel is the hash of its text before lowering, without its name, so that equal kernels of all models share
a schedule. The attribute ``digest`` keeps it: kernels that have one are as they are, so that the pass may run again for
those that a later pass has made (``split-reductions``).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import SCHEDULE, ScheduleAttr
from mlc.passes.fuse.deduplicate_kernels import text_of
from mlc.passes.schedule.apply_schedules import TUNED, following

DIGEST = "digest"
"""The attribute of a kernel with its digest."""


@dataclass(frozen=True)
class ApplyTuned(ModulePass):
    """``text`` has lines ``digest: schedule``; digests of other kernels are ignored."""

    name = "apply-tuned"
    text: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        tuned = {digest: schedule for digest, _, schedule in (line.partition(": ") for line in self.text.splitlines())}
        for fn in [o for o in _kernels(op) if DIGEST not in o.attributes]:
            digest = hashlib.sha256(text_of(fn).encode()).hexdigest()[:32]
            fn.attributes[DIGEST] = StringAttr(digest)
            if schedule := tuned.get(digest):
                fn.attributes[TUNED] = UnitAttr()
                with following(fn):
                    fn.attributes[SCHEDULE] = ScheduleAttr.parsed(schedule)


def digests(module: ModuleOp) -> dict[str, str]:
    """The digest of each kernel, by name."""
    found = {fn.sym_name.data: fn.attributes.get(DIGEST) for fn in _kernels(module)}
    return {name: digest.data for name, digest in found.items() if isinstance(digest, StringAttr)}


def _kernels(module: ModuleOp) -> list[kernel.FuncOp]:
    return [o for o in module.ops if isinstance(o, kernel.FuncOp)]
