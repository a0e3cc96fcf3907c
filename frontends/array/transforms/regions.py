"""Emission of control flow: records whose bodies become the regions of loops and branches.

A loop that is differentiated runs in segments where saving the states of all iterations would take more than ``SAVED``
bytes: its pullback saves the state before each segment, and those within one segment at a time.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from math import isqrt
from typing import Any

from mlc.dialects.semantics.dims import Dim, DimLike, floordiv, product
from mlc.dialects.types import ITEMSIZE
from mlc.frontends.array.lowering import lower_records
from mlc.frontends.array.record import Body, Unique
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control import branches
from mlc.frontends.build.control.loops import Iteration, emit_loop
from mlc.frontends.build.control.scan import scan_loop
from mlc.frontends.build.tensors import Tensor

UNBOUNDED = 1 << 62  # iterations of a loop on a condition
SAVED = 1 << 24  # bytes of states that a loop saves without segments, which would compute each iteration once more
SEGMENT = 32  # iterations of a segment of a loop over an open dimension


def inside(build: Builder, body: Body, arguments: Sequence[Tensor], captured: Sequence[Tensor]) -> list[Tensor]:
    """Emit a body at the Builder's insertion point and return its results."""
    given = [*body.arguments, *body.captured]
    return lower_records(build, body.outputs, dict(zip(given, [*arguments, *captured], strict=True)))


def branch(build: Builder, operands: Sequence[Tensor], then: Body, otherwise: Body, unique: Unique) -> list[Tensor]:
    predicate, *rest = operands
    count = len(then.arguments)
    arguments, captured = rest[:count], rest[count:]
    of_then, of_other = captured[: len(then.captured)], captured[len(then.captured) :]
    sides = [
        functools.partial(inside, build, then, arguments, of_then),
        functools.partial(inside, build, otherwise, arguments, of_other),
    ]
    if predicate.known is not None:
        return sides[not bool(predicate.known.reshape(()))]()
    found = branches.branches(build, sides)
    return found.select(predicate) if found.are_cheap else found.emit(predicate)


def loop_while(
    build: Builder, operands: Sequence[Tensor], test: Body, step: Body, most: int, unique: Unique
) -> list[Tensor]:
    """A loop on a condition; one of at most ``most`` iterations counts them, as its pullback needs."""
    count = len(step.arguments)
    states, captured = operands[:count], operands[count:]
    of_test, of_step = captured[: len(test.captured)], captured[len(test.captured) :]
    counted = [build.constant(True, "i1")] if most < UNBOUNDED else []

    def iteration(index: Dim, before: list[Tensor]) -> Iteration:
        after = inside(build, step, before, of_step)
        return Iteration(after, counted, [index] * len(counted), inside(build, test, after, of_test)[0])

    active = inside(build, test, states, of_test)[0]
    return emit_loop(build, most, states, iteration, active=active)[:count]


def loop_counted(
    build: Builder, operands: Sequence[Tensor], body: Body, trips: DimLike, first: int, varied: bool, unique: Unique
) -> list[Tensor]:
    count = len(body.arguments) - 1
    states, captured = operands[:count], operands[count:]

    def loop(first: DimLike, trips: DimLike, states: Sequence[Tensor]) -> list[Tensor]:
        def iteration(index: Dim, before: list[Tensor]) -> Iteration:
            number = build.compute(f"i64({first + index})", [], ())
            number.range = first, first + trips - 1
            return Iteration(inside(build, body, [number, *before], captured))

        return emit_loop(build, trips, states, iteration)

    segment, segments = _segments(trips, states, varied)
    if segment == trips:
        return loop(first, trips, states)

    def outer(n: Dim, before: list[Tensor]) -> Iteration:
        return Iteration(loop(first + n * segment, segment, before))

    done = segments * segment
    return loop(first + done, trips - done, emit_loop(build, segments, states, outer))


def loop_scan(
    build: Builder, operands: Sequence[Tensor], body: Body, count: int, trips: DimLike, varied: bool, unique: Unique
) -> list[Tensor]:
    total = len(body.arguments)
    states, slices, captured = operands[:count], operands[count:total], operands[total:]
    no, none = [False] * len(slices), [False] * (len(body.outputs) - count)
    segment, segments = _segments(trips, states, varied)
    done = segment * segments

    def iteration(before: list[Any], parts: list[Tensor]) -> tuple[list[Any], list[Any]]:
        made = inside(build, body, [*before, *parts], captured)
        return made[:count], made[count:]

    def outer(before: list[Any], parts: list[Tensor]) -> tuple[list[Any], list[Any]]:
        made = scan_loop(build, before, parts, segment, iteration, no, none)
        return made[:count], made[count:]

    if segment == trips:
        return scan_loop(build, states, slices, trips, iteration, no, none)
    parts = [build.reshape(build.cut(x, 0, 0, done), (segments, segment, *x.shape[1:])) for x in slices]
    made = scan_loop(build, states, parts, segments, outer, no, none)
    rest = [build.cut(x, 0, done, trips - done) for x in slices]
    last = scan_loop(build, made[:count], rest, trips - done, iteration, no, none)
    rows = [build.reshape(y, (done, *y.shape[2:])) for y in made[count:]]
    return [*last[:count], *(build.concat([y, z], 0) for y, z in zip(rows, last[count:], strict=True))]


def _segments(trips: DimLike, states: Sequence[Tensor], varied: bool) -> tuple[DimLike, DimLike]:
    """(iterations of a segment, segments) of a loop; iterations that are left over follow."""
    size = trips * sum((product(x.shape) * ITEMSIZE[x.element] for x in states), 0)
    if not varied or trips == 0 or (isinstance(size, int) and size <= SAVED):
        return trips, 1
    segment = SEGMENT if isinstance(trips, Dim) else isqrt(trips - 1) + 1
    return segment, floordiv(trips, segment)
