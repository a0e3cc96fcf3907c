"""External data: the files beside a model that hold its tensors, and the model with all data inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from onnx import GraphProto, ModelProto, NodeProto, TensorProto

from mlc.dialects.semantics.strings import StringTable
from mlc.dialects.weights import WeightStore
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.onnx.reading.data import TensorData
from mlc.frontends.onnx.reading.load import read


def external_files(path: Path) -> tuple[str, ...]:
    """The external data files of a model, as it names them: relative to its folder, sorted. Reads no tensor data."""
    tensors = _tensors(read(path).proto)
    return tuple(sorted({_location(t) for t in tensors if t.data_location == TensorProto.EXTERNAL}))


def read_whole(model: str | Path | bytes | ModelProto) -> ModelProto:
    """A model that carries all of its data itself, also what stands in files beside it. A proto in memory is the same.

    Raises:
        InputError: not a valid model; data of the wrong length, not there, or outside the model's folder.
    """
    source = read(model)
    data = TensorData(WeightStore(), source.file, StringTable())
    for tensor in _tensors(source.proto):
        try:
            found = data.raw(tensor) if tensor.external_data else None
        except NotSupported:  # of its element type, which translation names with its node
            continue
        if found is not None:
            tensor.raw_data = found
            tensor.ClearField("data_location")
            tensor.ClearField("external_data")
    return source.proto


def _tensors(proto: ModelProto) -> Iterator[TensorProto]:
    """The tensors of the graph, and of the functions."""
    yield from _of_graph(proto.graph)
    for function in proto.functions:
        yield from _of_nodes(function.node)


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
