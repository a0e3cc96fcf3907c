"""Graphs and nodes in pickles: a node is its graph and its number, so chains of any length need no deep stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import optree

from mlc.errors import InputError
from mlc.frontends.array.dataclass_trees import NAMESPACE
from mlc.graph.node import Node

if TYPE_CHECKING:
    from mlc.graph.graphs import Graph


class Number(NamedTuple):
    """A node of the graph that is pickled."""

    of: int


def node_of(graph: Graph, number: int) -> Node:
    """The node of a graph that was pickled with it."""
    return graph.nodes[number]


def state_of(graph: Graph) -> Any:
    """Classes and attributes of all nodes, with numbers in place of nodes.

    Raises:
        InputError: a node holds a function that has no name in a module.
    """
    numbers = {node: n for n, node in enumerate(graph.nodes)}
    rows = [(type(node), {**_attributes(node, numbers), "origin": node.where}) for node in graph.nodes]
    return rows, {key: (leaf, numbers[node]) for key, (leaf, node) in graph.owned.items()}


def _attributes(node: Node, numbers: dict[Node, int]) -> dict[str, Any]:
    def replaced(x: Any) -> Any:
        if isinstance(x, Node):
            return Number(numbers[x]) if x in numbers else x
        if "<" in getattr(x, "__qualname__", ""):
            what = f"Node '{node.name}' holds the function {x.__qualname__}, which cannot be pickled"
            raise InputError(what, hint="Define it by def at the top of a module")
        return x

    kept = {name: x for name, x in vars(node).items() if name not in ("graph", "origin")}
    return {name: optree.tree_map(replaced, x, namespace=NAMESPACE) for name, x in kept.items()}


def restore(graph: Graph, state: Any) -> None:
    """Fill a graph that is empty."""
    rows, owned = state
    graph.__init__()  # type: ignore[misc]
    graph.nodes = [cls.__new__(cls) for cls, _ in rows]

    def node(x: Any) -> Any:
        return graph.nodes[x.of] if isinstance(x, Number) else x

    def is_number(x: Any) -> bool:
        return isinstance(x, Number)

    for made, (_, attributes) in zip(graph.nodes, rows, strict=True):
        for name, x in attributes.items():
            setattr(made, name, optree.tree_map(node, x, is_leaf=is_number, namespace=NAMESPACE))
        made.graph = graph
        graph._by_name[made.name] = made
    graph.owned = {id(leaf): (leaf, graph.nodes[n]) for leaf, n in owned.values()}
