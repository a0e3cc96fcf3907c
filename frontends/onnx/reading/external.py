"""Which files beside a model carry its data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from onnx import GraphProto, NodeProto, TensorProto

from mlc.frontends.onnx.reading.load import read


def external_files(path: Path) -> tuple[str, ...]:
    """The external data files of a model, as it names them: relative to its folder, sorted. Reads no tensor data."""
    proto = read(path).proto
    bodies = (tensor for function in proto.functions for tensor in _of_nodes(function.node))
    tensors = (*_of_graph(proto.graph), *bodies)
    return tuple(sorted({_location(t) for t in tensors if t.data_location == TensorProto.EXTERNAL}))


def _location(tensor: TensorProto) -> str:
    return next((entry.value for entry in tensor.external_data if entry.key == "location"), "")


def _of_graph(graph: GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    yield from _of_nodes(graph.node)


def _of_nodes(nodes: Iterable[NodeProto]) -> Iterator[TensorProto]:
    for attribute in (attribute for node in nodes for attribute in node.attribute):
        yield attribute.t
        yield from attribute.tensors
        for graph in (attribute.g, *attribute.graphs):
            yield from _of_graph(graph)
