"""Functions that are traced as bodies, and records with several results that contain such bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.record import Body, Emit, Record, Unique, item, new_argument, record
from mlc.frontends.array.transforms.captured import with_tables


def traced(f: Callable[..., Any], operands: Sequence[Any]) -> tuple[Body, trees.Tree]:
    """A function traced on arguments like ``operands``, and the tree of its results."""
    leaves, tree = trees.flatten(tuple(operands))
    return traced_on(f, tree, [new_argument(x.element, x.shape, True) for x in map(as_array, leaves)])


def traced_on(f: Callable[..., Any], tree: trees.Tree, arguments: Sequence[Record]) -> tuple[Body, trees.Tree]:
    """A function traced on a tree of ``arguments``, and the tree of its results."""
    results, out = trees.flatten(with_tables(f)(*trees.unflatten(tree, [Array(x) for x in arguments])))
    return Body(arguments, [as_array(y).operand() for y in results]), out


def results_like(emit: Emit, given: Sequence[Array], params: tuple[Any, ...], like: Sequence[Record]) -> list[Array]:
    return results_of(emit, given, params, [(y.element, y.shape) for y in like])


def results_of(emit: Emit, given: Sequence[Array], params: tuple[Any, ...], shapes: Sequence[Any]) -> list[Array]:
    """The results of a record. The values that its bodies capture become further operands."""
    captured = [each for body in params if isinstance(body, Body) for each in body.captured]
    operands = (*(x.operand() for x in given), *captured)
    made = Record(emit, operands, (*params, Unique()), "", ())
    return [Array(record(item, (made,), (n,), element, tuple(shape))) for n, (element, shape) in enumerate(shapes)]
