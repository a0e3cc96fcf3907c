"""Schedule selection for GPUs (``choose-gpu-schedule``): a tile is what one thread block computes.

    kernel.func @k(…) {…}   →   kernel.func @k(…) attributes {
        schedule = #poly.schedule<"contraction: S0 S1 | m/64p n/64vp | k">} {…}

The rules are those of ``passes/schedule/gpu``. Statements to which no rule applies get one nest over their common
iterators, or run serially in one thread block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleAttr
from mlc.passes.context import gpu_of
from mlc.passes.schedule.choose_schedule import schedules
from mlc.passes.schedule.gpu.contraction import contraction
from mlc.passes.schedule.gpu.generic import elementwise, joint, long_rows, rows, window
from mlc.passes.schedule.gpu.part_numbers import with_number
from mlc.passes.schedule.gpu.streaming import streamed
from mlc.passes.schedule.gpu.strips import strips
from mlc.passes.schedule.gpu.tensor_cores import tensor_cores
from mlc.passes.schedule.polyhedral.bounded import ISL_OPERATIONS, IslLimit, bounded
from mlc.passes.schedule.polyhedral.statement_view import statements_of
from mlc.passes.schedule.rules.candidates import Rule
from mlc.passes.schedule.rules.fallback import give_up, note_refusal
from mlc.target import GpuTarget

Numerics = Literal["strict", "default", "relaxed"]


def rules_of(numerics: str) -> tuple[Rule, ...]:
    """Return the rules, in the order in which they are tried."""
    products = partial(tensor_cores, numerics=numerics)
    return (strips, products, contraction, long_rows, window, rows, elementwise)


def gpu_schedules(fn: kernel.FuncOp, target: GpuTarget, numerics: str = "default") -> Iterator[ScheduleAttr]:
    """Return candidates for a kernel's schedule, the best first. A kernel is streamed if the fuse stage has decided
    it."""
    together = partial(streamed, numerics=numerics) if fn.fusion.streamed else joint
    found = schedules(statements_of(fn), target, rules_of(numerics), together)
    return (with_number(schedule, fn) for schedule in found)


@dataclass(frozen=True)
class ChooseGpuSchedule(ModulePass):
    name = "choose-gpu-schedule"
    numerics: Numerics = "default"
    isl_operations: int = ISL_OPERATIONS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            statements = statements_of(fn)
            if statements and fn.schedule is None:  # those of the user are kept
                try:
                    with bounded(fn, self.name, self.isl_operations):
                        fn.schedule = next(gpu_schedules(fn, gpu_of(ctx), self.numerics))
                        note_refusal(fn)
                except IslLimit as error:
                    give_up(fn, statements, error)
