"""Function bodies: those a model brings, and those ONNX defines for its composite operators."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, TypeProto, helper

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Pieces, Stack, Tensor
from mlc.frontends.onnx.node import Node
from mlc.frontends.onnx.reading.types import ELEMENT_OF_ONNX

CRASHING = ("SequenceMap",)  # onnx 1.23 crashes the process when it makes these bodies outside of its own inference
_ONNX_OF_ELEMENT = {element: data_type for data_type, element in ELEMENT_OF_ONNX.items()}


def body_of(node: Node) -> FunctionProto:
    """The function that ONNX defines an operator by, for this node's attributes and input types."""
    if node.op == "Attention" and not node.attr("softcap", 0.0) >= 0:  # the body would divide by it
        raise NotSupported(f"softcap {node.attr('softcap')}; it is positive, or 0 for none")
    schema: Any = onnx.defs.get_schema(node.op, node.opset, node.proto.domain)
    if schema.has_function:
        versions = [v for v in schema.function_opset_versions if v <= node.opset]
        body = schema.get_function_with_opset_version(max(versions)) if versions else b""
    else:
        versions = [v for v in schema.context_dependent_function_opset_versions if v <= node.opset]
        if any(isinstance(x, list | Stack | Pieces) for x in node.inputs) or node.op in CRASHING:
            raise NotSupported("operator not supported")
        types = [_type(x).SerializeToString() for x in node.inputs]
        proto = _with_identifiers(node.proto).SerializeToString()
        body = (
            schema.get_context_dependent_function_with_opset_version(max(versions), proto, types) if versions else b""
        )
    if not body:
        raise NotSupported("ONNX defines no function body for these inputs")
    return _with_defaults(FunctionProto.FromString(body), schema)


def _with_identifiers(node: NodeProto) -> NodeProto:
    """A node whose graphs name values by identifiers: onnx makes a body as text, which it cannot read with others."""
    result, renamed = NodeProto(), dict[str, str]()
    result.CopyFrom(node)

    def identifier(name: str) -> str:
        known = not name or re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)
        return name if known else renamed.setdefault(name, f"mlc_renamed_{len(renamed)}")

    def rename(graph: GraphProto) -> None:
        for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
            value.name = identifier(value.name)
        for each in graph.node:
            each.input[:], each.output[:] = map(identifier, each.input), map(identifier, each.output)
            for attribute in each.attribute:
                rename(attribute.g)

    for attribute in result.attribute:
        rename(attribute.g)
    return result


def _type(x: object) -> TypeProto:
    if not isinstance(x, Tensor):
        return TypeProto()
    dims = [d if isinstance(d, int) else str(d) for d in x.shape]
    return helper.make_tensor_type_proto(_ONNX_OF_ELEMENT[x.element], dims)


def _with_defaults(function: FunctionProto, schema: Any) -> FunctionProto:
    for name, attribute in schema.attributes.items():
        if attribute.default_value.type and name in function.attribute:
            function.attribute_proto.append(attribute.default_value)
    return function


def bound(function: FunctionProto, given: Mapping[str, AttributeProto]) -> list[NodeProto]:
    """The nodes of a function with references to its attributes replaced by values of the call, or defaults."""
    values = {a.name: a for a in function.attribute_proto} | dict(given)
    return [_bind(node, values) for node in function.node]


def _bind(node: NodeProto, values: Mapping[str, AttributeProto]) -> NodeProto:
    if not any(a.ref_attr_name or a.g.node for a in node.attribute):
        return node
    result = NodeProto()
    result.CopyFrom(node)
    del result.attribute[:]
    for attribute in node.attribute:
        result.attribute.extend(_resolved(attribute, values))
    return result


def _resolved(attribute: AttributeProto, values: Mapping[str, AttributeProto]) -> list[AttributeProto]:
    new = AttributeProto()
    if attribute.ref_attr_name:
        if attribute.ref_attr_name not in values:
            return []
        new.CopyFrom(values[attribute.ref_attr_name])
        new.name = attribute.name
        return [new]
    new.CopyFrom(attribute)
    for inner in new.g.node:
        inner.CopyFrom(_bind(inner, values))
    return [new]
