"""Structural checks of a graph, made before anything is translated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, ValueInfoProto

from mlc.errors import InputError
from mlc.frontends.onnx.opsets import domain_of

EXPERIMENTAL = frozenset({"ThresholdedRelu", "MeanVarianceNormalization"})
"""Standard operators that models had before, which onnxruntime defines for these."""


def label(node: NodeProto, index: int) -> str:
    """The name of a node, or ``OpType_index`` where it has none."""
    return node.name or f"{node.op_type}_{index}"


def check_graph(
    graph: GraphProto, opsets: Mapping[str, int], local: set[tuple[str, str]], outer: frozenset[str] = frozenset()
) -> None:
    """Check names, order and operator signatures of a graph and its subgraphs.

    Raises:
        InputError: a value defined twice or not at all, a cycle, a node that does not fit its operator's signature.
    """
    _check_graph_names(graph)
    defined = _once([i.name for i in graph.input], "input") | initialized(graph)
    _check_outputs(graph.node, defined)
    _check_order(graph.node, defined | outer)
    names = defined | {o for node in graph.node for o in node.output if o}
    for index, node in enumerate(graph.node):
        _check_signature(node, label(node, index), opsets, local)
        for body in subgraphs(node):
            _once([t.name for t in body.initializer], "initializer")  # of a model's, onnxruntime takes the last
            check_graph(body, opsets, local, frozenset(names | outer))
    for output in graph.output:
        if output.name not in names | outer:
            raise InputError(f"The graph's output '{output.name}' is computed by no node")


def initialized(graph: GraphProto) -> set[str]:
    """The names of values that have an initializer."""
    return {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}


def overridable(model: ModelProto) -> list[ValueInfoProto]:
    """Inputs that have an initializer, of which ONNX lets a caller give other values: from IR version 4 on, as before
    it every initializer had to be an input."""
    given = initialized(model.graph) if model.ir_version >= 4 else set[str]()
    return [info for info in model.graph.input if info.name in given]


def subgraphs(node: NodeProto) -> list[GraphProto]:
    """The bodies of a control-flow node."""
    found = [a.g for a in node.attribute if a.type == AttributeProto.GRAPH]
    return found + [g for a in node.attribute if a.type == AttributeProto.GRAPHS for g in a.graphs]


def check_functions(functions: Iterable[FunctionProto]) -> None:
    """Check the names in a model's functions. InputError where one is no string."""
    for f in functions:
        _check_names(f.node, [f.name, f.domain, f.overload, *f.input, *f.output, *f.attribute])


def _check_graph_names(graph: GraphProto) -> None:
    names = [graph.name, *(v.name for v in (*graph.input, *graph.output, *graph.initializer))]
    names += [d.dim_param for v in graph.input for d in v.type.tensor_type.shape.dim]
    names += [e.value for t in graph.initializer for e in t.external_data]
    _check_names(graph.node, names)


def _check_names(nodes: Iterable[NodeProto], names: list[str]) -> None:
    """Refuse names that are bytes: protobuf returns strings that are not UTF-8 as bytes, and valid models have none."""
    for node in nodes:
        names += [node.name, node.op_type, node.domain, node.overload, *node.input, *node.output]
        names += [name for a in node.attribute for name in (a.name, a.ref_attr_name)]
    broken = next((t for t in names if not isinstance(t, str)), None)
    if broken is not None:
        raise InputError(
            f"The name {broken!r} in the model is not valid text", hint="The file is damaged; export it again"
        )


def _once(names: Iterable[str], what: str) -> set[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"There are two {what}s named '{name}'")
        seen.add(name)
    return seen


def _check_outputs(nodes: Sequence[NodeProto], defined: set[str]) -> None:
    seen = set(defined)
    for index, node in enumerate(nodes):
        for name in node.output:
            if name in seen:
                raise InputError(f"Two values are named '{name}'", node=label(node, index), op=node.op_type)
            seen |= {name} if name else set()


def _check_order(nodes: Sequence[NodeProto], defined: set[str]) -> None:
    """Every input is defined before its use; says whether it comes later (in a cycle) or never."""
    later = {o for node in nodes for o in node.output if o}
    ready = set(defined)
    for index, node in enumerate(nodes):
        for name in {*node.input, *captured(node)} - {""} - ready:
            why = "before it is computed: the nodes form a cycle" if name in later else "but nothing defines it"
            raise InputError(f"Value '{name}' is used {why}", node=label(node, index), op=node.op_type)
        ready.update(node.output)


def captured(node: NodeProto) -> set[str]:
    """Names that the bodies of a node capture from the graphs around it."""
    found: set[str] = set()
    for body in subgraphs(node):
        own = (
            {i.name for i in body.input} | {t.name for t in body.initializer} | {o for n in body.node for o in n.output}
        )
        found |= {i for n in body.node for i in {*n.input, *captured(n)}} - own
        found |= {o.name for o in body.output} - own
    return found


def names_read(graph: GraphProto) -> set[str]:
    """The names that the nodes of a graph read, or that are its outputs."""
    return {i for node in graph.node for i in {*node.input, *captured(node)}} | {o.name for o in graph.output}


def _check_signature(node: NodeProto, name: str, opsets: Mapping[str, int], local: set[tuple[str, str]]) -> None:
    domain = domain_of(node)
    if domain not in opsets:
        raise InputError(f"The model imports no opset of domain '{domain or 'ai.onnx'}'", node=name, op=node.op_type)
    if (domain, node.op_type) in local or not onnx.defs.has(node.op_type, domain):
        return
    try:
        schema = onnx.defs.get_schema(node.op_type, opsets[domain], domain)
    except onnx.defs.SchemaError as e:
        if not domain and node.op_type in EXPERIMENTAL:
            return
        raise InputError(f"The operator does not exist in opset {opsets[domain]}", node=name, op=node.op_type) from e
    _check_counts(node, name, schema)
    _check_attributes(node, name, schema)


def _check_counts(node: NodeProto, name: str, schema: onnx.defs.OpSchema) -> None:
    limits = (
        ("inputs", node.input, schema.min_input, schema.max_input),
        ("outputs", node.output, schema.min_output, schema.max_output),
    )
    for what, given, low, high in limits:
        if not low <= len(given) <= high:
            raise InputError(
                f"The node has {len(given)} {what}; the operator takes {low} to {high}", node=name, op=node.op_type
            )


def _check_attributes(node: NodeProto, name: str, schema: onnx.defs.OpSchema) -> None:
    given = {a.name: a for a in node.attribute}
    kinds: Any = schema.attributes.values()
    for attribute in kinds:
        if attribute.name not in given:
            if attribute.required:
                raise InputError(f"Attribute '{attribute.name}' is missing", node=name, op=node.op_type)
            continue
        actual = given[attribute.name]
        if actual.type != int(attribute.type.value) and not actual.ref_attr_name:
            kind = AttributeProto.AttributeType.Name(actual.type)
            message = f"Attribute '{attribute.name}' is {kind} where the operator takes {attribute.type.name}"
            raise InputError(message, node=name, op=node.op_type)
