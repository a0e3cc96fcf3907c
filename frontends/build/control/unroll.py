"""Loop unrolling at import: straight-line code of the iterations of a loop, whose states may change their shapes.

A condition that is computed at run time freezes the states once it is false.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NeedsConstant, NotSupported
from mlc.frontends.build.tensors import Tensor

UNROLLED = 16  # iterations up to which straight-line code comes first: it needs no barrier for an iteration
MAX_STEPS = 2048  # that are unrolled where a loop cannot stay one

Body = Callable[[int, Tensor, list[Any]], tuple[Any, list[Any], list[Any]]]
"""(index, condition, states) to (condition of the next iteration, states, values to collect)."""


class UndecidedTripCount(NeedsConstant):
    """Whether there is another iteration is computed at run time."""


def unrolled_loop(
    build: Builder,
    count: int | None,
    active: Tensor | None,
    states: Sequence[Any],
    collects: int,
    body: Body,
    decided: bool = False,
) -> list[Any]:
    """The last states, then ``collects`` tensors of what the iterations collect, along a new first axis.

    ``count`` iterations, or as many as conditions say; ``decided``: these must be known at import.

    Raises:
        UndecidedTripCount: a condition is computed at run time, and values are collected or a state changes its shape.
    """
    states = list(states)
    collected: list[list[Any]] = [[] for _ in range(collects)]
    for step in range(MAX_STEPS if count is None else min(count, MAX_STEPS)):
        if active is not None and active.known is not None and not bool(active.known.reshape(())):
            break
        flag = build.constant(True, "i1") if active is None else active
        if flag.known is None and (decided or collected):
            raise UndecidedTripCount("a loop that ends on a condition computed at run time")
        with build.iteration(step):
            condition, new, values = body(step, flag, states)
        if flag.known is None:
            new = [_frozen(build, flag, n, o) for n, o in zip(new, states, strict=True)]
        states, active = new, _continues(build, flag, condition)
        for seen, value in zip(collected, values, strict=True):
            seen.append(value)
    else:
        if count is None or count > MAX_STEPS:
            raise NotSupported(f"a loop of unknown length, or of more than {MAX_STEPS} iterations")
    return [*states, *(stacked(build, c, 0) for c in collected)]


def _frozen(build: Builder, condition: Tensor, new: Any, old: Any) -> Any:
    """``new``, or ``old`` where the condition is false.

    Raises:
        UndecidedTripCount: they have other shapes, or numbers of elements.
    """
    if isinstance(new, list) and new != old:
        raise UndecidedTripCount("a sequence that an iteration changes, in a loop whose end depends on data")
    if not isinstance(new, Tensor) or not isinstance(old, Tensor):
        return new if not isinstance(new, Tensor) and new is not None else old  # what could not be imported stays so
    if new.shape != old.shape or new.element != old.element:
        raise UndecidedTripCount(
            f"a state that is {old} before an iteration and {new} after it, whose end depends on data"
        )
    return build.map("where(x0, x1, x2)", build.reshape(condition, ()), new, old)


def _continues(build: Builder, flag: Tensor, condition: Any) -> Tensor:
    if not isinstance(condition, Tensor):
        return flag
    scalar = build.reshape(condition, ())
    return scalar if flag.known is not None else build.map("x0 & x1", build.reshape(flag, ()), scalar)


def stacked(build: Builder, xs: Sequence[Any], axis: int) -> Any:
    """Tensors of one shape along a new axis.

    Raises:
        NotSupported: there are none.
    """
    if not xs:
        raise NotSupported("a loop of no iterations that collects values")
    if not all(isinstance(x, Tensor) for x in xs):
        return next(x for x in xs if not isinstance(x, Tensor))
    return build.concat([build.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:])) for x in xs], axis)
