"""Control flow of traced functions: cond, switch, while_loop, fori_loop, scan. Source: JAX's functions of these names.

A body is traced once, on arguments of its own; what it captures becomes operands of the loop or branch.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.types import Shape, numpy_dtype
from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.creation import arange
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert
from mlc.frontends.array.public import publish
from mlc.frontends.array.record import Body, Record, new_argument
from mlc.frontends.array.transforms.bodies import results_like, results_of, traced
from mlc.frontends.array.transforms.regions import UNBOUNDED, branch, loop_counted, loop_scan, loop_while


def cond(predicate: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], *operands: Any) -> Any:
    """``true_fn(*operands)`` where the predicate holds, else ``false_fn(*operands)``; one of them runs.

    Raises:
        InputError: they return other trees, shapes or types.
    """
    _check_predicate("cond", as_array(predicate).shape)
    sides = [traced(f, operands) for f in (true_fn, false_fn)]
    (then, tree), (otherwise, other) = sides
    _check_same("cond", then.outputs, otherwise.outputs, tree, other)
    given = [as_array(predicate), *map(as_array, trees.leaves(operands))]
    return trees.unflatten(tree, results_like(branch, given, (then, otherwise), then.outputs))


def switch(index: Any, functions: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """``functions[index](*operands)``, where the index is clamped to those that there are."""
    at = as_array(index)
    if len(functions) == 1:
        return functions[0](*operands)
    rest = functions[:-1]
    last = FUNCTIONS["greater_equal"](at, len(rest))
    return cond(last, functions[-1], lambda *xs: switch(at, rest, *xs), *operands)


def _check_predicate(name: str, *shapes: Shape) -> None:
    if shapes != ((),):
        found = ", ".join(map(str, shapes)) or "none"
        raise InputError(
            f"mlc.{name} cannot take a predicate of shape {found}",
            hint="Give one of rank 0, as mlc.numpy.any(x) is",
        )


def while_loop(
    condition: Callable[[Any], Any], body: Callable[[Any], Any], init: Any, *, max_iterations: int | None = None
) -> Any:
    """``state = body(state)``, from ``init``, as long as ``condition(state)`` holds, and ``max_iterations`` times at
    most. Only with that bound it has derivatives in reverse mode, which save the state of each iteration.

    Raises:
        InputError: the body returns another tree, or other shapes or types than it takes.
    """
    states, tree, step, out = _settled(init, lambda state: traced(body, [state]))
    test, _ = traced(condition, [trees.unflatten(tree, states)])
    _check_predicate("while_loop", *(x.shape for x in test.outputs))
    most = UNBOUNDED if max_iterations is None else operator.index(max_iterations)
    _check_same("while_loop", [x.operand() for x in states], step.outputs, tree, out)
    return trees.unflatten(tree, results_like(loop_while, states, (test, step, most), step.outputs))


def fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], Any], init: Any) -> Any:
    """``state = body(i, state)`` for each i from ``lower`` to before ``upper``.

    The bounds are integers or dimensions; where one is an array it is a ``while_loop``, without derivatives in reverse.
    """
    if isinstance(lower, Array) or isinstance(upper, Array):
        return _between(lower, upper, body, init)
    first, end = (n if isinstance(n, Dim) else operator.index(n) for n in (lower, upper))
    if isinstance(first, int) and isinstance(end, int) and end <= first:
        return trees.tree_map(as_array, init)
    states, tree, step, out = _settled(init, lambda state: traced(body, [np.int64(0), state]))
    _check_same("fori_loop", [x.operand() for x in states], step.outputs, tree, out)
    params = (step, end - first, first, _varied(states, step))
    made = results_like(loop_counted, states, params, step.outputs)
    return trees.unflatten(tree, made)


def _between(lower: Any, upper: Any, body: Callable[[Any, Any], Any], init: Any) -> Any:
    """A loop whose bounds are known when it runs."""
    first, end = (convert(as_array(n), "i64") for n in (lower, upper))
    return while_loop(lambda s: s[0] < end, lambda s: (s[0] + 1, body(s[0], s[1])), (first, init))[1]


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: DimLike | None = None,
    reverse: bool = False,
    unroll: bool | int = False,
) -> tuple[Any, Any]:
    """``state, y = f(state, x)`` for each slice x of ``xs`` along its first axis: the last state, and all y together.

    Without ``xs``, ``length`` times with None. ``reverse``: from the last slice to the first. ``unroll``: straight-line
    code of each iteration; a number is a hint that is not needed.

    Raises:
        InputError: neither ``xs`` nor ``length``, different lengths, or another state is returned than taken.
    """
    if not trees.leaves(xs):
        if length is None:
            raise InputError("scan without xs has no known length", hint="Give length, the number of iterations")
        return scan(lambda state, _: f(state, xs), init, arange(length), reverse=reverse, unroll=unroll)
    slices = [as_array(x) for x in trees.leaves(xs)]
    if len({x.shape[:1] for x in slices}) > 1 or not slices[0].shape or length not in (None, slices[0].shape[0]):
        what = f"scan cannot go over arrays of shapes {[x.shape for x in slices]}"
        raise InputError(what, hint="Give arrays of one first extent, and that as length or none")
    if reverse:
        flipped = trees.unflatten(trees.flatten(xs)[1], [x[::-1] for x in slices])
        state, ys = scan(f, init, flipped, unroll=unroll)
        return state, trees.tree_map(lambda y: y[::-1], ys)
    if unroll is True:
        return _unrolled(f, init, xs, len(slices[0]))
    first = trees.unflatten(trees.flatten(xs)[1], [Array(new_argument(x.element, x.shape[1:], True)) for x in slices])
    states, _, body, out = _settled(init, lambda state: traced(f, [state, first]))
    _check_same("scan", [x.operand() for x in states], body.outputs[: len(states)])
    trips, collected = slices[0].shape[0], body.outputs[len(states) :]
    shapes = [*((y.element, y.shape) for y in body.outputs[: len(states)])]
    shapes += [(y.element, (trips, *y.shape)) for y in collected]
    params = (body, len(states), trips, _varied([*states, *slices], body))
    return trees.unflatten(out, results_of(loop_scan, [*states, *slices], params, shapes))


def _settled(
    init: Any, trace: Callable[[Any], tuple[Body, trees.Tree]]
) -> tuple[list[Array], trees.Tree, Body, trees.Tree]:
    """The states and their tree, and a body traced on them with the tree of its results. A Python number among the
    states takes the type of what the body makes of it, where that is of its kind."""
    leaves, tree = trees.flatten(init)
    states = [as_array(x) for x in leaves]
    while True:
        body, out = trace(trees.unflatten(tree, states))
        wider = [_beside(x, state, y) for x, state, y in zip(leaves, states, body.outputs, strict=False)]
        if len(wider) < len(states) or all(a is b for a, b in zip(wider, states, strict=True)):
            return states, tree, body, out
        states = wider


def _beside(given: Any, state: Array, after: Record) -> Array:
    same = dtypes.kind(after.element) == dtypes.kind(state.element) and not after.shape
    return convert(state, after.element) if type(given) in (int, float, complex) and same else state


def _unrolled(f: Callable[[Any, Any], tuple[Any, Any]], state: Any, xs: Any, steps: int) -> tuple[Any, Any]:
    from mlc.frontends.array.functions.shaping import stack

    leaves, tree = trees.flatten(xs)
    found = []
    for n in range(steps):
        state, y = f(state, trees.unflatten(tree, [as_array(x)[n] for x in leaves]))
        found.append(trees.flatten(y))
    columns = zip(*(ys for ys, _ in found), strict=True)
    return state, trees.unflatten(found[0][1], [stack(column) for column in columns])


def _check_same(
    what: str,
    before: Sequence[Record],
    after: Sequence[Record],
    tree: trees.Tree | None = None,
    other: trees.Tree | None = None,
) -> None:
    pairs = list(zip(before, after, strict=False))
    wrong = [(a, b) for a, b in pairs if (a.element, a.shape) != (b.element, b.shape)]
    if tree != other:
        raise InputError(f"{what}: results have the structure {other} in place of {tree}", hint="Return one structure")
    if wrong:
        (a, b), *_ = wrong
        types = [f"{numpy_dtype(x.element)}[{', '.join(map(str, x.shape))}]" for x in (a, b)]
        raise InputError(f"{what}: an array is {types[0]} on one side and {types[1]} on the other ({b.where})")


def _varied(given: Sequence[Array], body: Body) -> bool:
    """Whether a derivative may be taken through a loop."""
    return any(x.is_varied() for x in given) or any(Array(x).is_varied() for x in body.captured)


publish(globals(), ("cond", "fori_loop", "scan", "switch", "while_loop"), "mlc")
