"""From a parsed model to a graph module: its inputs become arguments of ``@main``, its outputs the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from onnx import ValueInfoProto
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Block, SSAValue

from mlc.dialects.graph.base import FIXED
from mlc.dialects.weights import WeightStore
from mlc.errors import InputError
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.prove import assuming
from mlc.frontends.build.module import argument, graph_module, returned
from mlc.frontends.build.tensors import Maps, Stack, Tensor
from mlc.frontends.onnx.errors import Unsupported
from mlc.frontends.onnx.graphs.cache_state import state_of, updates_of
from mlc.frontends.onnx.graphs.subgraph import Part, Poison
from mlc.frontends.onnx.importer import Importer
from mlc.frontends.onnx.opsets import domain_of, opsets_of
from mlc.frontends.onnx.reading.caches import Caches
from mlc.frontends.onnx.reading.data import TensorData
from mlc.frontends.onnx.reading.dims import DimNames
from mlc.frontends.onnx.reading.load import Source
from mlc.frontends.onnx.reading.ranks import Ranks
from mlc.frontends.onnx.reading.types import element_of_onnx
from mlc.frontends.onnx.reading.validate import check_functions, check_graph, overridable
from mlc.frontends.onnx.sequences import parts_of

Translated = tuple[ModuleOp, WeightStore, str, list[Unsupported]]


def translated(source: Source, names: DimNames, ranks: Ranks, caches: Caches) -> Translated:
    """(module, weights, name, unsupported operators); the module is only complete where there are none.

    Raises:
        Fixed: the model can only be right where that dimension has one extent.
    """
    proto, weights = source.proto, WeightStore()
    opsets = opsets_of(proto)
    check_functions(proto.functions)
    check_graph(proto.graph, opsets, {(domain_of(f), f.name) for f in proto.functions})
    block = Block()
    build = Builder(block, weights)
    importer = Importer(build, TensorData(weights, source.file, build.string_table), opsets, proto.functions)
    values = importer.tensors(proto.graph)
    inputs = _inputs(caches, importer, names, values, ranks)
    states = state_of(caches, build, values)
    with assuming(build.guards):
        importer.nodes(Part(proto.graph.node, values, results=[o.name for o in proto.graph.output], whole=True))
        named = {o.name: o for o in proto.graph.output}.values()  # a value may be an output twice, and is so once
        left = [o for o in named if o.name not in caches.pairs.values()]
        outputs = _distinct(pair for o in left for pair in _named(o, values, importer))
        updates = {} if importer.unsupported else updates_of(states, build, values)
    if importer.unsupported:
        return ModuleOp([]), weights, source.name, importer.unsupported
    if not outputs:
        what = "computes nothing: its outputs are empty sequences" if len(proto.graph.output) else "has no outputs"
        raise InputError(f"The model {what}", hint="Make a tensor an output")
    optional = {name: value.optional for name, value in values.items() if isinstance(value, Tensor)}
    aliases = [(n, len(inputs) + n) for n in range(len(updates))]
    first = {argument: "" for _, argument in aliases}
    module = graph_module(build, [*inputs, *caches.pairs], updates | outputs, aliases, first, optional)
    if fixed := overridable(proto):
        module.attributes[FIXED] = ArrayAttr(StringAttr(info.name) for info in fixed)
    return module, weights, source.name, []


def _inputs(caches: Caches, importer: Importer, names: DimNames, values: dict[str, Any], ranks: Ranks) -> list[str]:
    """Make the block arguments of the inputs that no initializer gives a value."""
    found = [i for i in caches.interface() if i.name not in values]
    values |= {name: Tensor.from_known(value) for name, value in caches.constants().items()}
    names.note(found)
    for info in found:
        values[info.name] = Poison()
        with importer.rejecting("Input", info.name):
            values[info.name] = _argument(info, names, importer.build, ranks.get(info.name))
    names.check_used()
    return [name for i in found for name in parts_of(i)]


def _argument(info: ValueInfoProto, names: DimNames, build: Builder, rank: int | None) -> Tensor | Maps:
    """An input; a map of n keys is two tensors, [n] keys and [n] values. A sparse tensor is taken with its zeros."""
    if info.type.HasField("map_type"):
        type_, shape, (key, value) = info.type.map_type, (names.count(info.name),), parts_of(info)
        keys = argument(build, key, element_of_onnx(type_.key_type), shape)
        values = argument(build, value, element_of_onnx(type_.value_type.tensor_type.elem_type), shape)
        return Maps(keys, build.reshape(values, (1, *shape)))
    if info.type.HasField("sparse_tensor_type"):
        type_ = info.type.sparse_tensor_type
        return argument(build, info.name, element_of_onnx(type_.elem_type), names.shape(type_, info.name, rank))
    if not info.type.HasField("tensor_type"):
        raise NotSupported(_why_no_argument(info))
    type_ = info.type.tensor_type
    return argument(build, info.name, element_of_onnx(type_.elem_type), names.shape(type_, info.name, rank))


def _why_no_argument(info: ValueInfoProto) -> str:
    kind = info.type.WhichOneof("value")
    if kind is None:
        return "an input without a type; export the model again, with the types of its inputs"
    session = "mlc.InferenceSession, which compiles it for the inputs of each run"
    if kind == "optional_type":
        return f"an input that is an optional; say that it is given, --dim {info.name}=1, or run it by {session}"
    number = f"say how many elements it has, --dim {info.name}=2 (inputs {info.name}.0 and {info.name}.1)"
    return f"an input that is a {kind.removesuffix('_type')}; {number}, or run it by {session}"


def _named(info: ValueInfoProto, values: Mapping[str, Any], importer: Importer) -> list[tuple[str, SSAValue]]:
    """The names and values of an output. Operators made only for it, such as the elements of a shape, get the output's
    name as their node.
    """
    found: list[tuple[str, SSAValue]] = []
    with importer.build.at(info.name), importer.rejecting("Output", info.name):
        found += _outputs(info, values, importer)
    return found


def _outputs(info: ValueInfoProto, values: Mapping[str, Any], importer: Importer) -> Iterator[tuple[str, SSAValue]]:
    """The tensors of an output. A missing optional has none.

    Of a sequence ``y`` those are ``y.0``, ``y.1``, …, of a sequence of maps ``y.keys`` and ``y.values``.
    """
    value = values.get(info.name)
    if isinstance(value, Tensor):
        yield info.name, returned(importer.build, value)
    elif isinstance(value, list | Stack):
        value = importer.build.elements(value) if isinstance(value, Stack) else value
        yield from ((f"{info.name}.{n}", returned(importer.build, each)) for n, each in enumerate(value))
    elif isinstance(value, Maps):
        yield f"{info.name}.keys", returned(importer.build, value.keys)
        yield f"{info.name}.values", returned(importer.build, value.values)
    elif not importer.unsupported and not info.type.HasField("optional_type"):
        raise NotSupported("outputs that are not tensors are not supported")


def _distinct(pairs: Iterable[tuple[str, SSAValue]]) -> dict[str, SSAValue]:
    found: dict[str, SSAValue] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"Two outputs have the name '{name}'", hint="Rename one, or the sequence it belongs to")
        found[name] = value
    return found
