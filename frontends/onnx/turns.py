"""Loops that stay so in the compiled model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlc.dialects.dims import Dim, DimLike
from mlc.dialects.graph import LoopOp, YieldOp
from mlc.dialects.graph.loop import size_bounds
from mlc.dialects.graph.sizes import sizes_of
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NeedsConstant, NotSupported
from mlc.frontends.onnx.fold import smaller
from mlc.frontends.onnx.scopes import Scope
from mlc.frontends.onnx.tensors import Tensor


@dataclass(frozen=True)
class Turn:
    """What a turn gives: the states, what is collected and where, and (of a loop on a condition) whether another one
    follows."""

    states: Sequence[Tensor]
    collected: Sequence[Tensor] = ()
    at: Sequence[DimLike] = ()
    goes_on: Tensor | None = None


class StateChanges(NotSupported):
    """A state has another shape or type behind a turn than before it, so no one place can hold it."""


def turns(
    build: Builder,
    trips: DimLike,
    states: Sequence[Tensor],
    turn: Callable[[Dim, list[Tensor]], Turn],
    limit: Tensor | None = None,
    active: Tensor | None = None,
    strict: str | None = None,
) -> list[Tensor]:
    """A loop of ``trips`` turns, or of fewer where ``limit`` (i64) or ``active`` and ``Turn.goes_on`` (i1) say so when
    the model runs: the last states, then what was collected, along a new first axis.

    Raises:
        StateChanges: a state does not keep its shape and type.
    """
    step = build.step(trips)
    number = Dim.symbol(step)
    with build.turn(number), build.region(*states) as scope:
        given = turn(number, [Tensor.of(a) for a in scope.block.args])
        if not all(isinstance(v, Tensor) for v in (*given.states, *given.collected)):
            raise NeedsConstant(
                "a number of iterations computed at run time, of a body that does not give tensors alone"
            )
        for n, (old, new) in enumerate(zip(states, given.states, strict=True)):
            if (old.element, old.shape) != (new.element, new.shape):
                raise StateChanges(f"state {n} is {old} before a turn and {new} behind it; give it one shape and type")
        _check_collected(scope, given.collected)
        goes_on = given.goes_on
        if goes_on is not None and goes_on.known is not None:
            trips = trips if bool(goes_on.known) else smaller(trips, 1)
            goes_on = None
        if active is not None or goes_on is not None:
            goes_on, active = goes_on or build.constant(True, "i1"), active or build.constant(True, "i1")
        values = [*([goes_on] if goes_on is not None else []), *given.states, *given.collected]
        scope.block.add_op(YieldOp(build.values(*values)))
    if trips == 0:
        return [*states, *(_nothing(build, x) for x in given.collected)]
    counted = limit is not None or active is not None
    op = LoopOp(
        step,
        trips,
        build.values(*states),
        scope.used,
        scope.block,
        given.at,
        None if limit is None else build.value(limit),
        None if active is None else build.value(active),
        build.size() if counted and given.collected else None,
        strict if given.collected else None,
    )
    return build.emit_all(op)


def _check_collected(scope: Scope, xs: Sequence[Tensor]) -> None:
    """NotSupported where turns may give tensors of different sizes."""
    made = size_bounds(scope.block.walk()).keys()
    for x in xs:
        if sizes_of(x.shape) & made:
            raise NotSupported(
                f"a loop that collects {x}, of a size that each turn computes; give the tensor one size, known before "
                "the loop, or pad it to its largest"
            )


def _nothing(build: Builder, x: Tensor) -> Tensor:
    """What no turn collected."""
    return build.broadcast(build.reshape(build.constant(0, x.element), [1] * (x.rank + 1)), (0, *x.shape))
