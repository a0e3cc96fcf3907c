"""An ONNX model that is changed in place: its graphs with their constants, and names that it does not have yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]
CONTRIB = "com.microsoft"


@dataclass(eq=False)
class Scope:
    """A graph, the scope around it, and the name of the node whose body it is."""

    graph: GraphProto
    outer: Scope | None = None
    owner: str = ""
    constants: dict[str, TensorProto] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.constants = {tensor.name: tensor for tensor in self.graph.initializer}

    def tensor(self, name: str) -> TensorProto | None:
        """The constant of a name, also of the scopes around; None where it is no constant."""
        found = self.constants.get(name)
        return self.outer.tensor(name) if found is None and self.outer is not None else found

    def array(self, name: str) -> Array | None:
        """The elements of ``tensor``."""
        found = self.tensor(name)
        return None if found is None else numpy_helper.to_array(found)

    def add(self, name: str, array: Array) -> str:
        """Make a constant of this graph."""
        return self.add_tensor(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))

    def add_tensor(self, tensor: TensorProto) -> str:
        """Make a constant of this graph."""
        self.graph.initializer.append(tensor)
        self.constants[tensor.name] = self.graph.initializer[-1]
        return tensor.name

    def readers(self) -> dict[str, list[NodeProto]]:
        """The nodes of this graph that read each tensor, themselves or in their bodies."""
        found: dict[str, list[NodeProto]] = {}
        for node in self.graph.node:
            for name in reads(node):
                found.setdefault(name, []).append(node)
        return found

    def is_output(self, name: str) -> bool:
        return any(info.name == name for info in self.graph.output)


@dataclass(eq=False)
class Network:
    """A model, and every name in it."""

    proto: ModelProto
    names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for scope in self.scopes():
            for node in scope.graph.node:
                self.names.update((node.name, *node.input, *node.output))
            self.names.update(each.name for each in (*scope.graph.input, *scope.graph.initializer))

    @property
    def main(self) -> Scope:
        return Scope(self.proto.graph)

    def scopes(self) -> Iterator[Scope]:
        """The main graph, and the bodies of control flow in it."""
        yield from _scopes(self.main)

    def copy(self) -> Network:
        made = ModelProto()
        made.CopyFrom(self.proto)
        return Network(made, set(self.names))

    def fresh(self, wanted: str) -> str:
        """A name that begins with ``wanted`` and that nothing has."""
        name, count = wanted, 0
        while name in self.names:
            count += 1
            name = f"{wanted}_{count}"
        self.names.add(name)
        return name

    def opset(self, domain: str = "") -> int:
        """The version of a domain; 0 where the model does not import it."""
        same = {"", "ai.onnx"} if domain == "" else {domain}
        return max((each.version for each in self.proto.opset_import if each.domain in same), default=0)

    def need(self, domain: str) -> None:
        """Import version 1 of a domain."""
        if not self.opset(domain):
            self.proto.opset_import.append(helper.make_opsetid(domain, 1))

    def drop_unused(self) -> None:
        """Remove constants that no node reads."""
        for scope in self.scopes():
            used = {name for node in scope.graph.node for name in reads(node)}
            used |= {info.name for info in scope.graph.output}
            kept = [tensor for tensor in scope.graph.initializer if tensor.name in used]
            dropped = {tensor.name for tensor in scope.graph.initializer} - used
            if dropped:
                _replace(scope.graph.initializer, kept)
                _replace(scope.graph.input, [info for info in scope.graph.input if info.name not in dropped])


def _scopes(scope: Scope) -> Iterator[Scope]:
    yield scope
    for node in scope.graph.node:
        for body in bodies(node):
            yield from _scopes(Scope(body, scope, node.name))


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that a user may have meant, in whatever case; None where nothing is near."""
    folded = {each.casefold(): each for each in names}
    near = get_close_matches(name.casefold(), folded, 1)
    return folded[near[0]] if near else None


def bodies(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs of a control-flow node."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def reads(node: NodeProto) -> set[str]:
    """The names that a node reads, itself or in its bodies."""
    found = set(filter(None, node.input))
    for body in bodies(node):
        made = {name for each in body.node for name in each.output} | {each.name for each in body.input}
        inner = {name for each in body.node for name in reads(each)} | {each.name for each in body.output}
        found |= inner - made - {each.name for each in body.initializer}
    return found


def attribute(node: NodeProto, name: str, default: Any) -> Any:
    """The value of an attribute, or what it is without one."""
    return next((helper.get_attribute_value(each) for each in node.attribute if each.name == name), default)


def set_nodes(graph: GraphProto, nodes: Iterable[NodeProto]) -> None:
    """Give a graph these nodes, in an order in which values are computed before they are read."""
    _replace(graph.node, _ordered(list(nodes)))


def _ordered(nodes: list[NodeProto]) -> list[NodeProto]:
    makers = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    done, order = set[int](), list[NodeProto]()
    for start in range(len(nodes)):
        stack = [start]
        while stack:
            index = stack[-1]
            before = {makers[name] for name in reads(nodes[index]) if name in makers} - done - {index}
            if before and index not in done:
                stack.extend(sorted(before, reverse=True))
                continue
            stack.pop()
            if index not in done:
                done.add(index)
                order.append(nodes[index])
    return order


def _replace(field: Any, values: Iterable[Any]) -> None:
    copies = list(values)
    kept = [type(each).FromString(each.SerializeToString()) for each in copies]
    del field[:]
    field.extend(kept)
