"""Results of a graph that are views: of its arguments, or of other results.

AOTAutograd replaces such a result by a view of a caller's tensor, at the offset that the result has in its own
memory. So torch itself makes them, in no time:

    def f(x): return x[2:], x * 2          model: y1 = x * 2          views: y0 = x[2:]
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.fx import Graph, Node

from mlc.frontends.torch.importer import resolved, results_of
from mlc.frontends.torch.ops.sizes import SYMBOLIC

SIZES = frozenset(("aten::sym_size", "aten::sym_stride", "aten::sym_numel", "aten::sym_storage_offset"))
"""Operators that read a size of a tensor."""


class Views:
    """``results``: which results of the graph are views; ``needed``: the nodes that make them, in order."""

    def __init__(self, graph: Graph) -> None:
        given = results_of(graph)
        made = {x for x in given if isinstance(x, Node) and x.op != "placeholder"}
        known = {x for x in made if not _is_view(x)}  # what the model computes
        for node in graph.nodes:
            if node.op == "placeholder" or (_is_cheap(node) and known.issuperset(node.all_input_nodes)):
                known.add(node)
        views = {x for x in made if x in known and _is_view(x)}
        self.results = frozenset(n for n, x in enumerate(given) if isinstance(x, Node) and x in views)
        self.needed = _ancestors(graph, views)
        self.bases = {x: n for n, x in enumerate(given) if isinstance(x, Node) and n not in self.results}
        self.given = given
        self.placeholders = [node for node in graph.nodes if node.op == "placeholder"]

    def __call__(self, args: Sequence[Any], results: list[Any]) -> list[Any]:
        """``results`` with the views among them."""
        values: dict[Node, Any] = dict(zip(self.placeholders, args, strict=True))
        values |= {node: results[n] for node, n in self.bases.items()}
        for node in self.needed:
            if node not in values:
                values[node] = _evaluated(node, values)
        return [values[x] if n in self.results else y for n, (x, y) in enumerate(zip(self.given, results, strict=True))]


def _is_view(node: Node) -> bool:
    """Whether it gives a view of its first operand, or one of several."""
    if node.target is operator.getitem:
        return isinstance(node.args[0], Node) and _is_view(node.args[0])
    schema = getattr(node.target, "_schema", None)
    aliases = [each.alias_info for each in schema.returns] if schema is not None else []
    return bool(aliases) and all(alias is not None and not alias.is_write for alias in aliases)


def _is_cheap(node: Node) -> bool:
    """Whether it is a view, or a size."""
    name = getattr(getattr(node.target, "_schema", None), "name", "")
    return node.op == "call_function" and (_is_view(node) or node.target in SYMBOLIC or name in SIZES)


def _ancestors(graph: Graph, views: set[Node]) -> list[Node]:
    """The nodes that views are made of, which are cheap, in order."""
    wanted = set(views)
    for node in reversed(graph.nodes):
        if node in wanted and _is_cheap(node):
            wanted.update(node.all_input_nodes)
    return [node for node in graph.nodes if node in wanted and _is_cheap(node)]


def _evaluated(node: Node, values: Mapping[Node, Any]) -> Any:
    with torch.no_grad():
        return node.target(*resolved(node.args, values), **resolved(node.kwargs, values))
