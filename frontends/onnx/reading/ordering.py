"""Nodes in the order in which they can run.

ONNX asks for this order; onnxruntime sorts the nodes itself, and so files exist whose nodes are in another one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, MutableSequence, Sequence

from onnx import GraphProto, ModelProto, NodeProto

from mlc.frontends.onnx.reading.validate import captured, subgraphs


def in_order(model: ModelProto) -> ModelProto:
    """The model itself where each node comes after those that it needs; else a copy, with its nodes sorted.

    A node stays as near to its place as it can. Nodes in a cycle stay where they are: ``check_graph`` names them.
    """
    if all(_order(nodes) is None for nodes in _lists(model)):
        return model
    sorted_model = ModelProto()
    sorted_model.CopyFrom(model)
    for nodes in _lists(sorted_model):
        _sort(nodes)
    return sorted_model


def _lists(model: ModelProto) -> Iterator[MutableSequence[NodeProto]]:
    """The lists of nodes of the graph, of its bodies, and of the functions. Inner lists come first."""
    for part in (model.graph, *model.functions):
        yield from _within(part.node)


def _within(nodes: MutableSequence[NodeProto]) -> Iterator[MutableSequence[NodeProto]]:
    bodies: list[GraphProto] = [body for node in nodes for body in subgraphs(node)]
    for body in bodies:
        yield from _within(body.node)
    yield nodes


def _sort(nodes: MutableSequence[NodeProto]) -> None:
    order = _order(nodes)
    if order is not None:
        copies = [nodes[index] for index in order]
        kept = [NodeProto.FromString(node.SerializeToString()) for node in copies]
        del nodes[:]
        nodes.extend(kept)


def _order(nodes: Sequence[NodeProto]) -> list[int] | None:
    """The indices in an order of dependences; None if that is the present one, or if there is none."""
    maker = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    needs = [{maker[name] for name in {*node.input, *captured(node)} if name in maker} for node in nodes]
    if all(max(before, default=-1) < index for index, before in enumerate(needs)):
        return None
    users: list[list[int]] = [[] for _ in nodes]
    for index, before in enumerate(needs):
        for each in before:
            users[each].append(index)
    missing = [len(before) for before in needs]
    ready = [index for index, count in enumerate(missing) if not count]
    order = list(_emptied(ready, users, missing))
    return order if len(order) == len(nodes) else None


def _emptied(ready: list[int], users: list[list[int]], missing: list[int]) -> Iterator[int]:
    """A topological order by Kahn's algorithm. Among the nodes that can run, the first in the file comes first."""
    while ready:
        index = heapq.heappop(ready)
        yield index
        for user in users[index]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, user)
