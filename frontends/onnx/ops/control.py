"""Control flow: If and Loop (opset 1 and newer).

What is known when the model is imported is followed then: the taken branch, the iterations of a short loop. The rest
stays control flow (``turns.py``, ``branches.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from mlc.dialects.dims import Dim, DimLike
from mlc.frontends.onnx.branches import branches
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NeedsConstant, NotSupported
from mlc.frontends.onnx.fold import symbolic
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.tensors import Tensor
from mlc.frontends.onnx.turns import Turn, turns

MAX_STEPS = 2048  # that are unrolled where a loop cannot stay one
UNROLLED = 16  # iterations up to which straight-line code comes first: it needs no barrier for a turn
FOREVER = 1 << 62
COLLECTED = 4096  # iterations for which there is memory where nothing says how many there are


@onnx_op("If")
def if_(node: Node) -> tuple[Any, ...]:
    """The taken branch where the condition is known, else both as branches of which one runs.

    Both are computed, and one is taken, where they are a few cheap maps: that costs less than a branch.
    """
    condition, names = node[0], ("then_branch", "else_branch")
    if condition.known is not None:
        return tuple(node.branch(node.attr(names[not bool(condition.known.reshape(()))]), ()))
    scalar = node.build.reshape(condition, ())
    found = branches(node.build, [partial(node.branch, node.attr(name), ()) for name in names])
    if found.are_cheap:
        sides = [node.branch(node.attr(name), ()) for name in names]
        return tuple(node.build.map("where(x0, x1, x2)", scalar, a, b) for a, b in zip(*sides, strict=True))
    return tuple(found.emit(scalar))


@onnx_op("Loop")
def loop(node: Node) -> tuple[Any, ...]:
    """A loop, or the code of its iterations where these are few, or change the shapes of states, or carry sequences."""
    count, known = node.get(0), _known_count(node.get(0))
    short = count is None or (known is not None and known <= UNROLLED)
    if not all(isinstance(s, Tensor) for s in node.inputs[2:]):
        return _unrolled(node)
    if short and (straight := node.attempt(lambda: _unrolled(node, decided=True))) is not None:
        return straight
    if known is None or known > MAX_STEPS:
        return _in_turns(node)
    return node.attempt(lambda: _in_turns(node)) or _unrolled(node)


def _known_count(count: Tensor | None) -> int | None:
    if count is None or count.known is None or symbolic([count.known]):
        return None
    return int(count.known.reshape(()))


# -- in turns


def _in_turns(node: Node) -> tuple[Tensor, ...]:
    build, active, states = node.build, node.get(1), [node[n] for n in range(2, len(node))]
    trips, limit, strict = _trips(node, collects=node.outputs > len(states))
    if active is not None and active.known is not None:
        trips, active = (trips, None) if bool(active.known.reshape(())) else (0, None)

    def turn(step: Dim, before: list[Tensor]) -> Turn:
        number = build.compute(f"i64({step})", [], ())
        number.range, number.trace = (0, trips - 1), partial(np.array, step, object)
        goes_on, *results = node.branch(node.attr("body"), [number, build.constant(True, "i1"), *before])
        goes_on = build.reshape(goes_on, ()) if isinstance(goes_on, Tensor) else goes_on
        rest = results[len(before) :]
        return Turn(results[: len(before)], rest, [step] * len(rest), goes_on)

    first = None if active is None else build.reshape(active, ())
    return tuple(turns(build, trips, states, turn, limit, first, strict))


def _trips(node: Node, collects: bool) -> tuple[DimLike, Tensor | None, str | None]:
    """(the most iterations there are or may be, the number that data gives, what is said where that is too many)."""
    count = node.get(0)
    if count is not None and count.known is not None:
        value = count.known.reshape(()).item()
        return (value if isinstance(value, Dim) else max(int(value), 0)), None, None
    limit = None if count is None else _scalar(node.build, count)
    if not collects:
        return FOREVER, limit, None
    most = None if count is None else count.range[1]
    bound = COLLECTED if most is None else most
    why = (
        f"Loop '{node.name}' needs more than the {COLLECTED} iterations that there is memory for; give it a trip count"
    )
    if limit is not None and node.build.is_outside(limit):  # every turn of the loop round this one collects as many
        with node.build.around(limit):
            number = node.build.numbers.of(limit).item()
            return node.build.numbers.size(f"max({number}, 0)", why, bound), None, None
    return bound, limit, why.replace('"', "'").replace("\\", "/") if most is None else None


def _scalar(build: Builder, count: Tensor) -> Tensor:
    """The number as i64, in the block that it comes from."""
    with build.around(count):
        return build.reshape(build.cast(count, "i64"), ())


# -- unrolled


class _Undecided(NeedsConstant):
    """Whether there is another iteration is computed at run time."""


def _unrolled(node: Node, decided: bool = False) -> tuple[Any, ...]:
    """A known number of iterations. A condition computed at run time (``decided``: not there) freezes the values once
    it is false."""
    build, body = node.build, node.attr("body")
    count, active = _known_count(node.get(0)), node.get(1)
    states: list[Any] = list(node.inputs[2:])
    collected: list[list[Any]] = [[] for _ in range(node.outputs - len(states))]
    if node.has(0) and count is None:
        raise _Undecided("the number of iterations is computed at run time")
    for step in range(MAX_STEPS if count is None else min(count, MAX_STEPS)):
        if active is not None and active.known is not None and not bool(active.known.reshape(())):
            break
        flag = build.constant(True, "i1") if active is None else active
        if flag.known is None and (decided or collected):
            raise _Undecided("a loop that ends on a condition computed at run time")
        with build.turn(step):
            results = node.branch(body, [build.constant(step, "i64"), flag, *states])
        new, outs = results[1 : 1 + len(states)], results[1 + len(states) :]
        if flag.known is None:
            new = [_selected(build, flag, n, o) for n, o in zip(new, states, strict=True)]
        states = new
        active = _continues(build, flag, results[0])
        for seen, out in zip(collected, outs, strict=True):
            seen.append(out)
    else:
        if count is None or count > MAX_STEPS:
            raise NotSupported(f"a loop of unknown length, or of more than {MAX_STEPS} iterations")
    return (*states, *(stacked(build, c, 0) for c in collected))


def _selected(build: Builder, condition: Tensor, a: Any, b: Any) -> Any:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return a if not isinstance(a, Tensor) and a is not None else b  # what could not be imported stays so
    if a.shape != b.shape or a.element != b.element:
        raise _Undecided(f"a state that is {b} before an iteration and {a} behind it, whose end depends on data")
    return build.map("where(x0, x1, x2)", build.reshape(condition, ()), a, b)


def _continues(build: Builder, flag: Tensor, condition: Any) -> Tensor:
    if not isinstance(condition, Tensor):
        return flag
    scalar = build.reshape(condition, ())
    return scalar if flag.known is not None else build.map("x0 & x1", build.reshape(flag, ()), scalar)


def stacked(build: Builder, xs: Sequence[Any], axis: int) -> Tensor:
    """Values of one shape along a new axis.

    Raises:
        NotSupported: there are none.
    """
    if not xs:
        raise NotSupported("a loop of no iterations that collects values")
    if not all(isinstance(x, Tensor) for x in xs):
        return next(x for x in xs if not isinstance(x, Tensor))
    return build.concat([build.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:])) for x in xs], axis)
