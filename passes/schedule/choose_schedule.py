"""``choose-schedule``: the first candidate of the first rule that answers decides how a kernel runs; tiling obeys.

    kernel.func @k(…) {…}   →   kernel.func @k(…) attributes {schedule = "contraction: S0 S1 | n/32v m/14 | k"} {…}

``numerics = strict`` cuts sums into blocks of about as many terms as there are blocks, for the least error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.passes.schedule.candidates import Rule, candidates, first_of, merged
from mlc.passes.schedule.chain import chain
from mlc.passes.schedule.contraction import contraction
from mlc.passes.schedule.dependences import one_point
from mlc.passes.schedule.elementwise import elementwise
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.rows import rows
from mlc.passes.schedule.schedule import SCHEDULE, Item, Nest, schedule_text
from mlc.passes.schedule.stages import stages
from mlc.passes.schedule.view import StatementView, statements_of
from mlc.passes.schedule.window import window

RULES: tuple[Rule, ...] = (contraction, window, rows, elementwise, stages)
STRICT: tuple[Rule, ...] = (partial(contraction, balanced=True), *RULES[1:])


@dataclass(frozen=True)
class ChooseSchedule(ModulePass):
    name = "choose-schedule"
    lanes: int = 16
    registers: int = 32
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine, rules = Machine(self.lanes, self.registers), STRICT if self.numerics == "strict" else RULES
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            statements = statements_of(fn)
            if statements and SCHEDULE not in fn.attributes:  # one given by the user, or tuned, stays
                fn.attributes[SCHEDULE] = StringAttr(next(schedules(statements, machine, rules)))


def schedules(
    statements: Sequence[StatementView], machine: Machine, rules: Sequence[Rule] = RULES
) -> Iterator[str]:
    """Candidates, the best first: one nest for all statements if a rule can, else one for each component."""
    whole = ([nest] for nest in candidates(statements, machine, rules))
    return (schedule_text(nests) for nests in first_of([whole, _nests(statements, machine, rules)]))


def _nests(statements: Sequence[StatementView], machine: Machine, rules: Sequence[Rule]) -> Iterator[list[Nest]]:
    """Nests side by side, the n-th candidate of each; on one thread where that cuts one."""
    parts = [_part(part, machine, rules) for part in merged(statements, machine, rules)]
    best: Sequence[list[Nest]] = ()
    for row in zip_longest(*parts):
        best = best or row
        nests = [nest for part, first in zip(row, best, strict=True) for nest in part or first]
        if any(nest.serial for nest in nests):
            yield _serial(statements)
            return
        yield nests


def _part(statements: Sequence[StatementView], machine: Machine, rules: Sequence[Rule]) -> Iterator[list[Nest]]:
    single = ([nest] for nest in candidates(statements, machine, rules))
    return first_of([single, chain(statements, machine, rules), map(_serial, [statements])])


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
