"""The nodes of a graph, as they are being imported: some can be imported once more, with other values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from onnx import NodeProto

from mlc.frontends.onnx.reading.validate import captured, label


@dataclass
class Part:
    """The nodes of one graph or function and the values of its names so far.

    ``fixed`` are names whose values are not those that their nodes compute. ``inside``: it is the body of a
    control-flow node, which sees names of other graphs. ``drawn``: the number of random operators before a node.
    """

    nodes: Sequence[NodeProto]
    values: dict[str, Any]
    prefix: str = ""
    inside: bool = False
    fixed: frozenset[str] = frozenset()
    drawn: dict[int, int] = field(default_factory=dict)

    def name(self, index: int) -> str:
        return self.prefix + label(self.nodes[index], index)

    def between(self, end: int, y: str) -> list[int]:
        """The nodes before ``end`` that depend on fixed names, and that ``y`` depends on."""
        changed, found = set(self.fixed), []
        for index, node in enumerate(self.nodes[:end]):
            if not changed.isdisjoint(_read(node)):
                found.append(index)
                changed.update(node.output)
        return self._needed(found, y)

    def _needed(self, indices: Sequence[int], y: str) -> list[int]:
        needed, found = {y} - self.fixed, []
        for index in reversed(indices):
            if not needed.isdisjoint(self.nodes[index].output):
                found.append(index)
                needed |= _read(self.nodes[index]) - self.fixed
        return found[::-1]

    def computes(self, y: str, end: int) -> bool:
        """Whether a node before ``end`` gives ``y``."""
        return any(y in node.output for node in self.nodes[:end])

    def with_values(self, given: Mapping[str, Any]) -> Part:
        """The import of the same nodes with other values of some names."""
        fixed = self.fixed | given.keys()
        return Part(self.nodes, {**self.values, **given}, self.prefix, self.inside, fixed, self.drawn)


def _read(node: NodeProto) -> Set[str]:
    """The names that a node reads; of a Gradient also the tensor that it differentiates."""
    differentiated = {a.s.decode() for a in node.attribute if node.op_type == "Gradient" and a.name == "y"}
    return {*node.input, *captured(node), *differentiated} - {""}
