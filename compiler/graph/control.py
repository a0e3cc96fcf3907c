"""Branches and loops on nodes: their bodies are functions that make nodes, of which one branch runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import as_array
from mlc.frontends.array.transforms import control
from mlc.graph.ends import End
from mlc.graph.graphs import get_default_graph, name_scope
from mlc.graph.node import Node, Prepared

if TYPE_CHECKING:
    from mlc.graph.plan import Planning, Subgraph


class Argument(End):
    """A node that stands for an argument of a body."""


class Body(NamedTuple):
    """A function of nodes as the nodes that it makes, ``inside``, from ``arguments`` to a tree of results."""

    name: str
    arguments: list[Argument]
    inside: list[Node]
    leaves: list[Any]
    structure: trees.Tree

    def planned(self, planning: Planning) -> Subgraph:
        """The body's nodes as a function.

        Raises:
            InputError: an update or an operation of the host is among them.
        """
        from mlc.graph.plan import Subgraph
        from mlc.graph.updates import Update

        outputs = [x for x in self.leaves if isinstance(x, Node)]
        made = Subgraph(planning, outputs, self.arguments, frozenset(self.inside))
        wrong = next((x for x in made.nodes if isinstance(x, Update) or planning[x].on_host), None)
        if wrong is not None:
            what = f"the body of {self.name} has the node '{wrong.name}' ({wrong.kind}), which is not compiled"
            raise InputError(what, hint="Make it outside of the body, which may read its value")
        return made

    def results(self, planned: Subgraph, arguments: Sequence[Any], captured: Sequence[Any]) -> Any:
        """The tree of results for values."""
        found = iter(planned(arguments, captured))
        made = [next(found) if isinstance(x, Node) else as_array(x) for x in self.leaves]
        return trees.unflatten(self.structure, made)


def body_of(name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Body:
    """A function called on nodes that stand for ``arguments``."""
    leaves, structure = trees.flatten(arguments)
    graph = get_default_graph()
    first = len(graph.nodes)
    with name_scope(name):
        given = [Argument(name="argument") for _ in leaves]
        results = function(*trees.unflatten(structure, given))
    return Body(name, given, graph.nodes[first:], *trees.flatten(results))


class Bodies(Node):
    """``function(*values of inputs, *bodies)``, where each body is a function of its arguments."""

    def __init__(self, function: Callable[..., Any], inputs: Any, bodies: Sequence[Body]) -> None:
        self.function, self.bodies = function, list(bodies)
        self.given, self.structure = trees.flatten(inputs)
        super().__init__([x for x in self.given if isinstance(x, Node)], function.__name__)

    @property
    def dependencies(self) -> list[Node]:
        return [*self.input_nodes, *(x for body in self.bodies for x in body.leaves if isinstance(x, Node))]

    def prepared(self, planning: Planning) -> Prepared:
        planned = [each.planned(planning) for each in self.bodies]
        captured = list(dict.fromkeys(x for each in planned for x in each.captured))

        def run(*values: Any) -> Any:
            own = iter(values[: len(self.input_nodes)])
            around = dict(zip(captured, values[len(self.input_nodes) :], strict=True))
            given = trees.unflatten(self.structure, [next(own) if isinstance(x, Node) else x for x in self.given])
            return self.function(*given, *(_function(b, p, around) for b, p in zip(self.bodies, planned, strict=True)))

        return Prepared([*self.input_nodes, *captured], run, False, [x for each in planned for x in each.nodes])


def _function(body: Body, planned: Subgraph, around: dict[Node, Any]) -> Callable[..., Any]:
    captured = [around[each] for each in planned.captured]
    return lambda *arguments: body.results(planned, trees.leaves(arguments), captured)


def cond(predicate: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], *operands: Any) -> Bodies:
    """``true_fn(*operands)`` where the predicate, of rank 0, holds, else ``false_fn(*operands)``; one of them runs.

    The functions make nodes, also of nodes around them.
    """
    bodies = [body_of("cond", f, operands) for f in (true_fn, false_fn)]
    return Bodies(_cond, (predicate, operands), bodies)


def _cond(predicate: Any, operands: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any]) -> Any:
    return control.cond(predicate, true_fn, false_fn, *operands)


def while_loop(
    condition: Callable[..., Any], body: Callable[..., Any], init: Any, *, max_iterations: int | None = None
) -> Bodies:
    """``state = body(state)``, from ``init``, as long as ``condition(state)`` holds. Where the condition has a
    parameter for each of several states, both functions are given them one by one.

    ``max_iterations``: a bound, with which it has derivatives.
    """
    several = isinstance(init, list | tuple) and len(init) > 1 and len(inspect.signature(condition).parameters) > 1
    state = tuple(init) if several else (init,)

    def packed(*given: Any) -> tuple[Any, ...]:
        found = body(*given)
        return tuple(found) if several else (found,)

    bodies = [body_of("while", f, state) for f in (condition, packed)]
    loop = Bodies(_while_loop, (state, max_iterations), bodies)
    return loop if several else loop[0]  # type: ignore[return-value]


def _while_loop(
    state: Any, most: int | None, condition: Callable[..., Any], body: Callable[..., Any]
) -> Any:
    return control.while_loop(lambda s: condition(*s), lambda s: body(*s), state, max_iterations=most)
