"""Schedule selection (``choose-schedule``): a kernel gets the best candidate of the first schedule rule that applies.

    kernel.func @k(…) {…}   →   kernel.func @k(…) attributes {
        schedule = #poly.schedule<"contraction: S0 S1 | n/32v m/14 | k">} {…}

``numerics = strict`` splits a sum of n terms into about √n blocks of √n terms, for the smallest error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import LoopNest, ScheduleAttr
from mlc.passes.context import cpu_facts, target_of
from mlc.passes.schedule.blocks.term_blocks import term_blocks
from mlc.passes.schedule.polyhedral.bounded import ISL_OPERATIONS, IslLimit, bounded
from mlc.passes.schedule.polyhedral.statement_view import StatementView, statements_of
from mlc.passes.schedule.rules.candidates import Rule, candidates, first_of, merged
from mlc.passes.schedule.rules.contraction import contraction, in_row_blocks
from mlc.passes.schedule.rules.elementwise import elementwise
from mlc.passes.schedule.rules.fallback import give_up, note_refusal, serial
from mlc.passes.schedule.rules.nest_fusion import nest_fusion
from mlc.passes.schedule.rules.rows import rows
from mlc.passes.schedule.rules.stages import stages
from mlc.passes.schedule.rules.streaming import streaming
from mlc.passes.schedule.rules.window import window
from mlc.target import CpuTarget, Target

Joint = Callable[[Sequence[StatementView], Any, Sequence[Rule]], Iterator[list[LoopNest]]]
"""A function that returns candidates, of several nests each, for dependent statements to which no rule applies
together."""


def streamed(statements: Sequence[StatementView], target: CpuTarget, rules: Sequence[Rule]) -> Iterator[list[LoopNest]]:
    """Return candidates whose nests run block by block: with running reductions if possible (``streaming``), else by
    ``nest_fusion``."""
    return first_of(rule(statements, target, rules) for rule in (streaming, nest_fusion))


RULES: tuple[Rule, ...] = (contraction, window, rows, elementwise, stages)
STRICT: tuple[Rule, ...] = (partial(contraction, balanced=True), *RULES[1:])


@dataclass(frozen=True)
class ChooseSchedule(ModulePass):
    name = "choose-schedule"
    numerics: str = "default"
    isl_operations: int = ISL_OPERATIONS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target, rules = target_of(ctx), STRICT if self.numerics == "strict" else RULES
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            statements = statements_of(fn)
            if statements and fn.schedule is None:  # those of the user and tuned ones are kept
                try:
                    with bounded(fn, self.name, self.isl_operations):
                        fn.schedule = next(cpu_schedules(fn, target, rules))
                        note_refusal(fn)
                except IslLimit as error:
                    give_up(fn, statements, error)


def cpu_schedules(fn: kernel.FuncOp, target: CpuTarget, rules: Sequence[Rule] = RULES) -> Iterator[ScheduleAttr]:
    """Return candidates for a kernel's schedule, the best first. A kernel is streamed if the fuse stage has decided
    it."""
    statements = statements_of(fn)
    found = schedules(statements, target, rules, streamed if fn.fusion.streamed else nest_fusion)
    return (ScheduleAttr(in_row_blocks(nest, statements, target) for nest in each.data) for each in found)


def schedules(
    statements: Sequence[StatementView], target: Target, rules: Sequence[Rule], joint: Joint
) -> Iterator[ScheduleAttr]:
    """Return candidates for a schedule, the best first: one nest for all statements if a rule has one, otherwise one
    nest for each component. A statement without instances, for which no rule has tiles, gets a plain schedule."""
    if any(extent == 0 for s in statements for extent in s.bounds.values()):
        return iter([ScheduleAttr(serial(statements))])
    ways = [_single(statements, target, rules), _nests(statements, target, rules, joint)]
    return (ScheduleAttr(nests) for nests in first_of(ways))


def _single(statements: Sequence[StatementView], target: Target, rules: Sequence[Rule]) -> Iterator[list[LoopNest]]:
    """Yield the blocks of a sum that outgrows the caches, then candidates with one nest."""
    if target.blocks_terms:
        yield from term_blocks(statements, cpu_facts(target), rules)
    yield from ([nest] for nest in candidates(statements, target, rules))


def _nests(
    statements: Sequence[StatementView], target: Target, rules: Sequence[Rule], joint: Joint
) -> Iterator[list[LoopNest]]:
    """Yield candidates with one nest for each component: the n-th one has the n-th candidate of each. If a component
    has no parallel nest, the kernel runs on one thread."""
    parts = [_part(part, target, rules, joint) for part in merged(statements, target, rules)]
    best: Sequence[list[LoopNest]] = ()
    for row in zip_longest(*parts):
        best = best or row
        nests = [nest for part, first in zip(row, best, strict=True) for nest in part or first]
        if any(nest.serial for nest in nests):
            yield serial(statements)
            return
        yield nests


def _part(
    statements: Sequence[StatementView], target: Target, rules: Sequence[Rule], joint: Joint
) -> Iterator[list[LoopNest]]:
    return first_of([_single(statements, target, rules), joint(statements, target, rules), map(serial, [statements])])
