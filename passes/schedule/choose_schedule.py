"""``choose-schedule``: the first rule that answers decides how a kernel runs; the tiling pass obeys.

    kernel.func @k(…) {…}   →   kernel.func @k(…) attributes {schedule = "contraction: S0 S1 | n/32v m/14 | k"} {…}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.passes.schedule.contraction import contraction
from mlc.passes.schedule.dependences import components, one_point
from mlc.passes.schedule.elementwise import elementwise
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.rows import rows
from mlc.passes.schedule.schedule import SCHEDULE, Item, Nest
from mlc.passes.schedule.stages import stages
from mlc.passes.schedule.view import StatementView, statements_of
from mlc.passes.schedule.window import window

Rule = Callable[[Sequence[StatementView], Machine], Nest | None]
RULES: tuple[Rule, ...] = (contraction, window, rows, elementwise, stages)


@dataclass(frozen=True)
class ChooseSchedule(ModulePass):
    name = "choose-schedule"
    lanes: int = 16
    registers: int = 32

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = Machine(self.lanes, self.registers)
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            statements = statements_of(fn)
            if statements and SCHEDULE not in fn.attributes:  # one given by the user stays
                nests = schedule(statements, machine)
                fn.attributes[SCHEDULE] = StringAttr("; ".join(map(str, nests)))


def schedule(statements: Sequence[StatementView], machine: Machine) -> list[Nest]:
    """One nest for all statements if a rule can, else one for each component; on one thread where that cuts one."""
    whole = _first(statements, machine)
    if whole is not None:
        return [whole]
    parts = _merged(components(statements), machine)
    nests = [nest for part in parts for nest in _nests(part, machine)]
    return _serial(statements) if any(nest.serial for nest in nests) else nests


def _merged(parts: Sequence[list[StatementView]], machine: Machine) -> list[list[StatementView]]:
    """Neighbouring components go into one nest where one rule takes both, as the two ends of a padding."""
    out: list[list[StatementView]] = []
    for part in parts:
        if out and _first([*out[-1], *part], machine):
            out[-1] += part
        else:
            out.append(part)
    return out


def _nests(statements: Sequence[StatementView], machine: Machine) -> list[Nest]:
    nest = _first(statements, machine)
    return _serial(statements) if nest is None else [nest]


def _first(statements: Sequence[StatementView], machine: Machine) -> Nest | None:
    """What the first rule answers; a nest has one extent an iterator."""
    bounds = {(i, s.bounds[i]) for s in statements for i in s.iters}
    if len(bounds) != len({name for name, _ in bounds}):
        return None
    return next((nest for rule in RULES if (nest := rule(statements, machine)) is not None), None)


def fallback(statements: Sequence[StatementView]) -> Nest:
    """Plain loops, point by point, over the iterators all statements share."""
    first = statements[0]
    band = [i for i in first.parallel if all(i in s.parallel and s.bounds[i] == first.bounds[i] for s in statements)]
    inner = dict.fromkeys(i for s in statements for i in s.iters if i not in band)
    return Nest("fallback", tuple(s.name for s in statements), tuple(map(Item, band)), tuple(map(Item, inner)))


def _serial(statements: Sequence[StatementView]) -> list[Nest]:
    """Dependent statements: point by point in one nest if that keeps dependences in a point, else in several."""
    together = fallback(statements)
    if one_point(statements, [i.iterator for i in together.band]):
        return [together]
    return [Nest("serial", n.statements, n.band, n.inner) for n in (fallback([s]) for s in statements)]
