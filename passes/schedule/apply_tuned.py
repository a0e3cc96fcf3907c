"""Tuned schedules (``apply-tuned``): a kernel for which ``mlc tune`` has measured a better schedule gets that
schedule.

    41b0…: contraction: S0 S1 | m/8 n/32v | k     # a line of the text: a kernel's digest and its schedule
      →   kernel.func @contract_0(…) attributes {
            origin = #kernel.origin<tuned, digest = "41b0…">,
            schedule = #poly.schedule<"contraction: S0 S1 | m/8 n/32v | k">} {…}

The digest of a kernel is the hash of its text before lowering, without its name, so that equal kernels of all models
share a schedule. The kernel's ``origin`` keeps the digest: a kernel that has one is not hashed again, so that the pass
may run again for kernels that a later pass has made (``split-reductions``). ``41b0…_parts`` is the kernel that computes
the parts of the sum: its schedule, ``contraction: S0 | part@8 part m/64p …``, gives the number of parts.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleAttr, parse_schedule
from mlc.passes.fuse.deduplicate_kernels import text_of
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.schedule.gpu.part_numbers import PARTS_SUFFIX, number_of_parts


@dataclass(frozen=True)
class ApplyTuned(ModulePass):
    """Set tuned schedules. ``text`` has lines ``digest: schedule``; digests of other kernels are ignored."""

    name = "apply-tuned"
    text: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        tuned = {digest: schedule for digest, _, schedule in (line.partition(": ") for line in self.text.splitlines())}
        for fn in [o for o in _kernels(op) if o.schedule is None]:
            digest = _digest(fn)
            if schedule := tuned.get(digest):
                fn.origin = replace(fn.origin, tuned=True)
                with following(fn):
                    fn.schedule = ScheduleAttr.parsed(schedule)
            elif schedule := tuned.get(digest + PARTS_SUFFIX):
                _divide(fn, schedule)


def _digest(fn: kernel.FuncOp) -> str:
    digest = fn.origin.digest or hashlib.sha256(text_of(fn).encode()).hexdigest()[:32]
    fn.origin = replace(fn.origin, digest=digest)
    return digest


def _divide(fn: kernel.FuncOp, schedule: str) -> None:
    """Set the number of parts of a kernel's sum, which the schedule of the kernel of the parts gives."""
    fn.origin = replace(fn.origin, tuned=True)
    with following(fn):
        parts = number_of_parts(parse_schedule(schedule))
    if parts is not None:
        fn.parts = IntegerAttr(parts, i64)


def digests(module: ModuleOp) -> dict[str, str]:
    """Return the digest of each kernel, by the kernel's name."""
    return {fn.sym_name.data: fn.origin.digest for fn in _kernels(module) if fn.origin.digest}


def _kernels(module: ModuleOp) -> list[kernel.FuncOp]:
    return [o for o in module.ops if isinstance(o, kernel.FuncOp)]
