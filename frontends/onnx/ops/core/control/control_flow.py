"""Control flow: If and Loop (opset 1 and newer).

Control flow that is known at import is followed: the branch of a known condition, the iterations of a short loop. The
rest stays control flow (``frontends/build/control``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from onnx import GraphProto

from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control.growing import Growth, growing_loop, growth, settled
from mlc.frontends.build.control.loops import Iteration, emit_loop
from mlc.frontends.build.control.unroll import MAX_STEPS, UNROLLED, UndecidedTripCount, unrolled_loop
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.folding.fold import symbolic
from mlc.frontends.build.tensors import Appended, Stack, Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.control.sequence import with_rows

UNBOUNDED = 1 << 62
COLLECTED = 4096  # iterations for whose results memory is planned where they have no upper bound


@onnx_op("If")
def if_(node: Node) -> tuple[Any, ...]:
    """The branch that a known condition selects. Otherwise both become a branch at run time where possible
    (``Choice``).
    """
    condition, names = node[0], ("then_branch", "else_branch")
    if condition.known is not None and not symbolic([condition.known]):
        return tuple(node.branch(node.attr(names[not bool(condition.known.reshape(()))]), ()))
    return node.choose(condition, [partial(_branch, node.attr(name)) for name in names])


def _branch(graph: GraphProto, node: Node) -> list[Any]:
    return node.branch(graph, ())


@onnx_op("Loop")
def loop(node: Node) -> tuple[Any, ...]:
    """A loop. It is unrolled where its iterations are few, or change states and sequences in ways that no loop has."""
    count, known = node.get(0), _known_count(node.get(0))
    short = count is None or (known is not None and known <= UNROLLED)
    tensors = all(isinstance(s, Tensor) for s in node.inputs[2:])
    if not all(isinstance(s, Tensor | list | Stack) for s in node.inputs[2:]):
        return _unrolled(node)
    if short and (straight := node.attempt(lambda: _unrolled(node, decided=True))) is not None:
        return straight
    if (made := _in_some_form(node)) is not None:
        return made
    states = settled(node.build, node.inputs[2:], _after(node)) if tensors else node.inputs[2:]
    if any(new is not old for new, old in zip(states, node.inputs[2:], strict=True)):
        node.inputs = [*node.inputs[:2], *states]
        if (made := _in_some_form(node)) is not None:
            return made
    return _as_loop(node) if tensors and (known is None or known > MAX_STEPS) else _unrolled(node)


def _in_some_form(node: Node) -> tuple[Tensor, ...] | None:
    forms = (_as_loop, _after_the_first, _growing)
    made = (node.attempt(partial(form, node)) for form in forms)
    return next((each for each in made if each is not None), None)


def _known_count(count: Tensor | None) -> int | None:
    if count is None or count.known is None or symbolic([count.known]):
        return None
    return int(count.known.reshape(()))


# -- as a loop


def _as_loop(node: Node) -> tuple[Tensor, ...]:
    build, active, states = node.build, node.get(1), _states(node)
    trips, limit, strict = _trips(node, collects=node.outputs > len(states))
    if active is not None and active.known is not None:
        trips, active = (trips, None) if bool(active.known.reshape(())) else (0, None)
    first = None if active is None else build.reshape(active, ())
    found = emit_loop(build, trips, states, partial(_iteration, node, trips, 0), limit, first, strict)
    return _outputs(node, found[: len(states)], found[len(states) :])


def _after_the_first(node: Node) -> tuple[Tensor, ...]:
    """A loop after its first iteration, which gives states their shapes: Paddle's variables that begin undefined.

    Raises:
        NotSupported: it may have no iteration.
    """
    build, active, states = node.build, node.get(1), _states(node)
    trips, limit, strict = _trips(node, collects=node.outputs > len(states))
    begins = active is None or active.known is not None and bool(active.known.reshape(()))
    if limit is not None or not begins or not at_least(trips, 1):
        raise NotSupported("a loop that may have no iteration, whose first one gives a state another shape")
    with build.iteration(0):
        once = _iteration(node, 1, 0, 0, states)
    again = partial(_iteration, node, trips, 1)
    results = emit_loop(build, trips - 1, once.states, again, None, once.condition, strict)
    whole = [build.reshape(x, (1, *x.shape)) for x in once.collected]
    rows = [build.concat(pair, 0) for pair in zip(whole, results[len(states) :], strict=True)]
    return _outputs(node, results[: len(states)], rows)


def _growing(node: Node) -> tuple[Tensor, ...]:
    """A loop of which an iteration gives a state more elements along an axis, as a cache of keys grows.

    Raises:
        NotSupported: no state grows by the same number of elements in each iteration.
    """
    build, active, states = node.build, node.get(1), _states(node)
    trips, limit, strict = _trips(node, collects=True)
    if active is not None and active.known is not None:
        trips, active = (trips, None) if bool(active.known.reshape(())) else (0, None)
    growths = _growths(node, states)
    body, first = partial(_iteration, node, trips, 0), None if active is None else build.reshape(active, ())
    found = growing_loop(build, trips, states, growths, body, limit, first, strict)
    return _outputs(node, found[: len(states)], found[len(states) :])


def _growths(node: Node, states: Sequence[Tensor]) -> list[Growth | None]:
    """How the first iteration changes the states."""
    found = [growth(old, new) for old, new in zip(states, _after(node), strict=False)]
    if not any(found):
        raise NotSupported("a loop whose states do not grow")
    return found


def _after(node: Node) -> list[Tensor]:
    """The states after the first iteration, of which only shapes and types matter. It is imported, and undone."""
    found: list[Tensor] = []

    def probe() -> None:
        trips, _, _ = _trips(node, collects=True)
        with node.build.region(*_states(node)) as scope:
            inner = [Tensor.of(a) for a in scope.block.args]
            found.extend(_iteration(node, trips, 0, 0, inner).states)
        raise NotSupported("only the shapes are wanted")

    node.attempt(probe)
    return found


def _states(node: Node) -> list[Tensor]:
    """The states that are tensors. Sequences to which each iteration appends a tensor are collected ones."""
    return [s for s in node.inputs[2:] if isinstance(s, Tensor)]


def _outputs(node: Node, last: Sequence[Tensor], collected: Sequence[Tensor]) -> tuple[Any, ...]:
    """The outputs of the node: of what an iteration collects, the tensors that it appends to sequences come last."""
    states, rows = iter(last), iter(collected[node.outputs - len(node) + 2 :])
    carried = [
        with_rows(node.build, s, next(rows)) if isinstance(s, Stack | list) else next(states) for s in node.inputs[2:]
    ]
    return (*carried, *collected[: node.outputs - len(carried)])


def _iteration(node: Node, trips: DimLike, begin: int, step: DimLike, before: Sequence[Tensor]) -> Iteration:
    """The body at iteration ``begin + step`` of ``trips``.

    Raises:
        NotSupported: it does not append one tensor to a sequence.
    """
    build, index = node.build, begin + step
    number = build.compute(f"i64({index})", [], ()) if isinstance(index, Dim) else build.constant(index, "i64")
    number.range, number.trace = (0, trips - 1), partial(np.array, index, object)
    given = iter(before)
    carried = [next(given) if isinstance(s, Tensor) else Appended([]) for s in node.inputs[2:]]
    condition, *results = node.branch(node.attr("body"), [number, build.constant(True, "i1"), *carried])
    condition = build.reshape(condition, ()) if isinstance(condition, Tensor) else condition
    pairs = list(zip(carried, results, strict=False))
    states = [new for old, new in pairs if isinstance(old, Tensor)]
    rest = results[len(carried) :] + [_appended(new) for old, new in pairs if isinstance(old, Appended)]
    return Iteration(states, rest, [step] * len(rest), condition)


def _appended(sequence: Any) -> Any:
    """The tensor that an iteration appends to a sequence; what could not be imported stays so."""
    if isinstance(sequence, Appended) and len(sequence.last) == 1:
        return sequence.last[0]
    if isinstance(sequence, Appended | list | Stack):
        raise NotSupported("a loop that changes a sequence other than by appending one tensor in each iteration")
    return sequence


def _trips(node: Node, collects: bool) -> tuple[DimLike, Tensor | None, str | None]:
    """(an upper bound of the iterations, the run-time trip count, the message where that is too large)."""
    count = node.get(0)
    if count is not None and count.known is not None:
        value = count.known.reshape(()).item()
        return (value if isinstance(value, Dim) else max(int(value), 0)), None, None
    limit = None if count is None else _scalar(node.build, count)
    if not collects:
        return UNBOUNDED, limit, None
    most = None if count is None else count.range[1]
    bound = COLLECTED if most is None else most
    why = (
        f"Loop '{node.name}' needs more than the {COLLECTED} iterations that there is memory for; give it a trip count"
    )
    if limit is not None and node.build.is_outside(limit):  # each iteration of the outer loop collects as many
        with node.build.at_definition(limit):
            number = node.build.scalars.of(limit).item()
            return node.build.scalars.dim(f"max({number}, 0)", why, bound), None, None
    return bound, limit, why.replace('"', "'").replace("\\", "/") if most is None else None


def _scalar(build: Builder, count: Tensor) -> Tensor:
    """The trip count as i64, in the block that defines it."""
    with build.at_definition(count):
        return build.reshape(build.cast(count, "i64"), ())


# -- unrolled


def _unrolled(node: Node, decided: bool = False) -> tuple[Any, ...]:
    """Straight-line code of the iterations; ``decided``: their number must be known at import."""
    build, count, states = node.build, _known_count(node.get(0)), list(node.inputs[2:])
    if node.has(0) and count is None:
        way = "such a loop may change a sequence only by appending one tensor in each iteration"
        raise UndecidedTripCount(f"the number of iterations is computed at run time; {way}")

    def body(step: int, flag: Tensor, before: list[Any]) -> tuple[Any, list[Any], list[Any]]:
        condition, *results = node.branch(node.attr("body"), [build.constant(step, "i64"), flag, *before])
        return condition, results[: len(before)], results[len(before) :]

    return tuple(unrolled_loop(build, count, node.get(1), states, node.outputs - len(states), body, decided))
