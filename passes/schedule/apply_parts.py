"""User numbers of parts (``apply-parts``): into how many parts thread blocks split a sum, where a user's schedule gives
the number.

    contract_0_parts: contraction: S0 | part@8 part m/64p n/64vp | k/32     # a line of the text
      →   kernel.func @contract_0(…) attributes {origin = #kernel.origin<line = 1>, parts = 8}
    contract_0: contraction: S0 S1 | m/64p n/64vp | k/32                    # without parts: the sum stays whole
      →   kernel.func @contract_0(…) attributes {origin = #kernel.origin<line = 1>, parts = 1}

``split-reductions`` splits the sums into these numbers of parts. The kernels that it makes get their schedules from the
same lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import LoopNest, ScheduleError, parse_schedule
from mlc.passes.schedule.apply_schedules import line_error, lines
from mlc.passes.schedule.gpu.part_numbers import PARTS_SUFFIX, has_parts, number_of_parts


@dataclass(frozen=True)
class ApplyParts(ModulePass):
    """Set numbers of parts. ``text``: the text of ``apply-schedules``."""

    name = "apply-parts"
    text: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = {o.sym_name.data: o for o in op.ops if isinstance(o, kernel.FuncOp)}
        given = {name: (number, _parsed(name, number, text)) for number, name, text in lines(self.text)}
        for name, (number, nests) in given.items():
            whole = name in kernels and not has_parts(nests) and name + PARTS_SUFFIX not in given
            fn = kernels.get(name if whole else name.removesuffix(PARTS_SUFFIX))
            parts = 1 if whole else number_of_parts(nests) if name not in kernels else None
            if fn is not None and parts is not None:
                fn.parts, fn.origin = IntegerAttr(parts, i64), replace(fn.origin, line=number, tuned=False)


def _parsed(name: str, number: int, text: str) -> Sequence[LoopNest]:
    try:
        return parse_schedule(text)
    except ScheduleError as error:
        raise line_error(number, f"kernel '{name}': {error}") from error
