"""Loops at run time: regions with loop-carried states and collected results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from mlc.dialects.graph import LoopOp, YieldOp
from mlc.dialects.graph.loop import size_bounds
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NeedsConstant, NotSupported
from mlc.frontends.build.folding.comparisons import smaller
from mlc.frontends.build.methods.scopes import Scope
from mlc.frontends.build.tensors import Tensor


@dataclass(frozen=True)
class Iteration:
    """Results of an iteration: loop-carried states, tensors to collect and their offsets, and (of a loop on a
    condition) whether another iteration follows."""

    states: Sequence[Tensor]
    collected: Sequence[Tensor] = ()
    at: Sequence[DimLike] = ()
    condition: Tensor | None = None


class StateChanges(NotSupported):
    """A loop-carried state has another shape or type after an iteration than before it; no one buffer can hold it."""


def emit_loop(
    build: Builder,
    trips: DimLike,
    states: Sequence[Tensor],
    body: Callable[[Dim, list[Tensor]], Iteration],
    limit: Tensor | None = None,
    active: Tensor | None = None,
    strict: str | None = None,
) -> list[Tensor]:
    """A loop of ``trips`` iterations, or of fewer where ``limit`` (i64) or ``active`` and ``Iteration.condition`` (i1)
    say so at run time: the last states, then the collected tensors along a new first axis.

    Raises:
        StateChanges: a state does not keep its shape and type.
    """
    step = build.loop_index(trips)
    index = Dim.symbol(step)
    with build.iteration(index), build.region(*states) as scope:
        given = body(index, [Tensor.of(a) for a in scope.block.args])
        _check_tensors(given)
        _check_states(states, given.states)
        _check_collected(scope, given.collected)
        condition = given.condition
        if condition is not None and condition.known is not None:
            trips = trips if bool(condition.known) else smaller(trips, 1)
            condition = None
        if active is not None or condition is not None:
            condition, active = condition or build.constant(True, "i1"), active or build.constant(True, "i1")
        values = [*([condition] if condition is not None else []), *given.states, *given.collected]
        scope.block.add_op(YieldOp(build.values(*values)))
    if trips == 0:
        return [*states, *(_empty(build, x) for x in given.collected)]
    first, most, still = build.values(*states), _value(build, limit), _value(build, active)
    counted = limit is not None or active is not None
    size = build.new_size() if counted and given.collected else None
    strict = strict if given.collected else None
    op = LoopOp(step, trips, first, scope.captured, scope.block, given.at, most, still, size, strict)
    return build.emit_all(op)


def _value(build: Builder, x: Tensor | None) -> SSAValue | None:
    return None if x is None else build.value(x)


def _check_tensors(given: Iteration) -> None:
    if not all(isinstance(v, Tensor) for v in (*given.states, *given.collected)):
        raise NeedsConstant("a number of iterations computed at run time, of a body that does not give tensors alone")


def _check_states(before: Sequence[Tensor], after: Sequence[Tensor]) -> None:
    """Raise StateChanges where an iteration gives a state another shape or type."""
    for n, (old, new) in enumerate(zip(before, after, strict=True)):
        if (old.element, old.shape) != (new.element, new.shape):
            raise StateChanges(
                f"state {n} is {old} before an iteration, {new} after it; give it one shape and type, or let each "
                "iteration add the same number of elements along one axis"
            )


def _check_collected(scope: Scope, xs: Sequence[Tensor]) -> None:
    """Raise NotSupported where iterations may give tensors of different sizes."""
    made = size_bounds(scope.block.walk()).keys()
    for x in xs:
        if sizes_of(x.shape) & made:
            raise NotSupported(
                f"a loop that collects {x}, of a size that each iteration computes; give the tensor one size, known "
                "before the loop, or pad it to its largest"
            )


def _empty(build: Builder, x: Tensor) -> Tensor:
    """The empty result of a loop without iterations."""
    return build.broadcast(build.reshape(build.constant(0, x.element), [1] * (x.rank + 1)), (0, *x.shape))
