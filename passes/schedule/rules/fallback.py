"""Schedules without a cost model: plain loops for statements to which no rule applies, and a schedule that is always
legal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mlc.dialects import kernel
from mlc.dialects.poly import LoopNest, ScheduleAttr, ScheduleError, TiledLoop, schedule_of
from mlc.passes.schedule.polyhedral.dependences import one_point
from mlc.passes.schedule.polyhedral.statement_view import StatementView


def fallback(statements: Sequence[StatementView]) -> LoopNest:
    """Return a nest of plain loops, point by point, over the common iterators of all statements."""
    first = statements[0]
    band = [i for i in first.parallel if all(i in s.parallel and s.bounds[i] == first.bounds[i] for s in statements)]
    inner = dict.fromkeys(i for s in statements for i in s.iters if i not in band)
    names = tuple(s.name for s in statements)
    return LoopNest("fallback", names, tuple(map(TiledLoop, band)), tuple(map(TiledLoop, inner)))


def serial(statements: Sequence[StatementView]) -> list[LoopNest]:
    """Return a schedule for dependent statements: one nest, point by point, if all dependences are within a point;
    otherwise a serial nest for each statement."""
    nest = fallback(statements)
    return [nest] if one_point(statements, [i.iterator for i in nest.band]) else plain(statements)


def plain(statements: Sequence[StatementView]) -> list[LoopNest]:
    """Return a serial nest for each statement, in program order. It is legal for any dependences, so no proof is
    needed."""
    return [LoopNest("serial", n.statements, n.band, n.inner) for n in (fallback([s]) for s in statements)]


def chosen_by_rule(fn: kernel.FuncOp) -> bool:
    """Return whether a rule chose the kernel's schedule, rather than the user or the tuner."""
    return fn.schedule is not None and not fn.origin.given


def note_refusal(fn: kernel.FuncOp) -> None:
    """Record why a kernel that the fuse stage decided to stream has a schedule without blocks of the reduction."""
    streamed = any(split.streamed for nest in schedule_of(fn) for split in nest.partitions)
    if fn.fusion.form == "attention" and fn.fusion.streamed and not streamed:
        fn.fusion = replace(fn.fusion, streamed=False, refused="no blocks of rows and keys fit in fast memory")


def give_up(fn: kernel.FuncOp, statements: Sequence[StatementView], reason: ScheduleError) -> None:
    """Replace the kernel's schedule by the plain one, and record the reason: ``"rows: S0 S1 | i | j"`` → ``"serial: S0
    | i | j; serial: S1 | i j |"``.

    Raises:
        ScheduleError: ``reason``, where the user or the tuner gave the schedule, or it is already the plain one.
    """
    attr = ScheduleAttr(plain(statements))
    if fn.origin.given or fn.schedule == attr:
        raise reason
    fn.schedule, fn.origin = attr, replace(fn.origin, plain=str(reason))
