"""The nodes of a graph during their import. Some can be imported once more with other values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from onnx import NodeProto

from mlc.frontends.onnx.reading.validate import captured, label


class Poison:
    """The value of a node that could not be imported: its users are not imported either."""


@dataclass
class Part:
    """The nodes of one graph or function and the values of its names so far.

    ``fixed`` are names whose values are not those that their nodes compute. ``inside``: it is the body of a
    control-flow node, which sees names of other graphs. ``drawn``: the number of random operators before a node.
    ``results``: names that the graph gives to what is around it. ``whole``: these are the outputs of the model.
    ``next``: the first node that is not imported.
    """

    nodes: Sequence[NodeProto]
    values: MutableMapping[str, Any]
    prefix: str = ""
    results: Sequence[str] = ()
    inside: bool = False
    whole: bool = False
    fixed: frozenset[str] = frozenset()
    drawn: dict[int, int] = field(default_factory=dict)
    next: int = 0

    def name(self, index: int) -> str:
        return self.prefix + label(self.nodes[index], index)

    @property
    def ends(self) -> bool:
        """Whether no node of the model follows."""
        return self.whole and self.next == len(self.nodes)

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
        return replace(self, values={**self.values, **given}, fixed=fixed)

    def beside(self, values: MutableMapping[str, Any]) -> Part:
        """A second import of the remaining nodes, with its own values."""
        return replace(self, values=values)

    def reads(self, index: int) -> Set[str]:
        """The names that a node reads."""
        return _read(self.nodes[index])

    def alive(self, names: Iterable[str]) -> list[str]:
        """The ones of ``names`` that nodes still to be imported read, or that are results."""
        last = self._last_read
        return [n for n in names if n and (n in self.results or last.get(n, -1) >= self.next)]

    @cached_property
    def _last_read(self) -> dict[str, int]:
        return {name: index for index, node in enumerate(self.nodes) for name in _read(node)}


def _read(node: NodeProto) -> Set[str]:
    """The names that a node reads; of a Gradient also the tensor that it differentiates."""
    differentiated = {a.s.decode() for a in node.attribute if node.op_type == "Gradient" and a.name == "y"}
    return {*node.input, *captured(node), *differentiated} - {""}
