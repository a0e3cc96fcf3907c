"""From a parsed model to a graph module: its inputs become arguments of ``@main``, its outputs what that returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from onnx import GraphProto, ModelProto, ValueInfoProto
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from mlc.dialects.dims import DimLike, evaluate
from mlc.dialects.graph import RoutineOp
from mlc.dialects.texts import escaped
from mlc.dialects.types import TEXT, Shape, tensor
from mlc.dialects.weights import WeightStore
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.data import TensorData
from mlc.frontends.onnx.dims import DimNames
from mlc.frontends.onnx.errors import NotSupported, Unsupported
from mlc.frontends.onnx.extents import Fixed
from mlc.frontends.onnx.importer import STANDARD, Importer, Poison
from mlc.frontends.onnx.load import Source, read
from mlc.frontends.onnx.part import Part
from mlc.frontends.onnx.sequences import parts_of
from mlc.frontends.onnx.tensors import Maps, Stack, Tensor, element_of_onnx
from mlc.frontends.onnx.validate import check_functions, check_graph
from mlc.runtime.errors import InputError

Translated = tuple[ModuleOp, WeightStore, str, list[Unsupported]]


def translate(model: str | Path | bytes | ModelProto, dims: Mapping[str, int]) -> Translated:
    """(module, weights, name, what is not supported); the module is only complete where the last is empty."""
    source, fixed = read(model), dict[str, DimLike](dims)
    while True:
        try:
            return _translated(source, fixed)
        except Fixed as found:
            fixed = {name: evaluate(d, {found.symbol: found.extent}) for name, d in fixed.items()}
            fixed[found.symbol] = found.extent


def _translated(source: Source, dims: Mapping[str, DimLike]) -> Translated:
    """As ``translate``.

    Raises:
        Fixed: the model can only be right where that dimension has one extent.
    """
    proto, weights = source.proto, WeightStore()
    opsets = {STANDARD.get(o.domain, o.domain): o.version for o in proto.opset_import} or {"": 1}
    check_functions(proto.functions)
    check_graph(proto.graph, opsets, {(STANDARD.get(f.domain, f.domain), f.name) for f in proto.functions})
    block = Block()
    build = Builder(block, weights)
    importer = Importer(build, TensorData(weights, source.file, build.texts), opsets, proto.functions)
    values = importer.tensors(proto.graph)
    inputs = _inputs(proto.graph, importer, DimNames(dims), values, block)
    importer.nodes(Part(proto.graph.node, values))
    outputs = _distinct(pair for o in proto.graph.output for pair in _named(o, values, importer))
    module = ModuleOp([]) if importer.unsupported else _module(block, inputs, outputs, importer.build)
    return module, weights, source.name, importer.unsupported


def _inputs(graph: GraphProto, importer: Importer, names: DimNames, values: dict[str, Any], block: Block) -> list[str]:
    """Make the block arguments of the inputs that no initializer gives a value."""
    found = [i for i in graph.input if i.name not in values]
    names.note(found)
    for info in found:
        values[info.name] = Poison()
        with importer.rejecting("Input", info.name):
            values[info.name] = _argument(info, names, importer.build)
    names.check_used()
    return [name for i in found for name in parts_of(i)]


def _argument(info: ValueInfoProto, names: DimNames, build: Builder) -> Tensor | Maps:
    """An input; a map of n keys is two tensors, [n] keys and [n] values."""
    if info.type.HasField("map_type"):
        type_, shape, (key, value) = info.type.map_type, (names.count(info.name),), parts_of(info)
        keys = _taken(key, element_of_onnx(type_.key_type), shape, build)
        values = _taken(value, element_of_onnx(type_.value_type.tensor_type.elem_type), shape, build)
        return Maps(keys, build.reshape(values, (1, *shape)))
    if not info.type.HasField("tensor_type"):
        kind = str(info.type.WhichOneof("value")).removesuffix("_type")
        way = "make it of tensors in the model, or run it by mlc.frontends.onnx.backend"
        raise NotSupported(f"an input that is a {kind}; {way}")
    type_ = info.type.tensor_type
    return _taken(info.name, element_of_onnx(type_.elem_type), names.shape(type_, info.name), build)


def _taken(name: str, element: str, shape: Shape, build: Builder) -> Tensor:
    """An argument; of texts their numbers."""
    given = Tensor.of(build.block.insert_arg(tensor(element, shape), len(build.block.args)))
    if element != TEXT:
        return given
    with build.at(name):
        return build.text("intern", given, element=TEXT)


def _named(info: ValueInfoProto, values: Mapping[str, Any], importer: Importer) -> list[tuple[str, SSAValue]]:
    """What is computed only for an output, as the elements of a shape, comes from a node of the output's name."""
    found: list[tuple[str, SSAValue]] = []
    with importer.build.at(info.name), importer.rejecting("Output", info.name):
        found += _outputs(info, values, importer)
    return found


def _outputs(info: ValueInfoProto, values: Mapping[str, Any], importer: Importer) -> Iterator[tuple[str, SSAValue]]:
    """The tensors of an output; of a missing optional none.

    Of a sequence ``y`` those are ``y.0``, ``y.1``, …, of a sequence of maps ``y.keys`` and ``y.values``.
    """
    value = values.get(info.name)
    if isinstance(value, Tensor):
        yield info.name, _returned(value, importer.build)
    elif isinstance(value, list | Stack):
        value = importer.build.elements(value) if isinstance(value, Stack) else value
        yield from ((f"{info.name}.{n}", _returned(each, importer.build)) for n, each in enumerate(value))
    elif isinstance(value, Maps):
        yield f"{info.name}.keys", _returned(value.keys, importer.build)
        yield f"{info.name}.values", _returned(value.values, importer.build)
    elif not importer.unsupported and not info.type.HasField("optional_type"):
        raise NotSupported("outputs that are not tensors are not supported")


def _returned(value: Tensor, build: Builder) -> SSAValue:
    """What a caller gets: of texts the texts, not their numbers."""
    number = build.value(value)
    return build.value(build.emit(RoutineOp("text.extern", [number], value.shape))) if value.element == TEXT else number


def _distinct(pairs: Iterable[tuple[str, SSAValue]]) -> dict[str, SSAValue]:
    found: dict[str, SSAValue] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"Two outputs have the name '{name}'", hint="Rename one, or the sequence it belongs to")
        found[name] = value
    return found


def _module(block: Block, inputs: list[str], outputs: Mapping[str, SSAValue], build: Builder) -> ModuleOp:
    block.add_op(ReturnOp(*outputs.values()))
    types = [a.type for a in block.args], [o.type for o in outputs.values()]
    results = _names(list(outputs))
    main = FuncOp("main", types, Region(block), arg_attrs=_names(inputs), res_attrs=results)
    if build.guards:
        main.attributes["graph.guards"] = ArrayAttr(StringAttr(str(g)) for g in build.guards)
    if any(isinstance(op, RoutineOp) and op.fn.data.startswith("text.") for op in block.ops):
        main.attributes["graph.texts"] = ArrayAttr(StringAttr(escaped(text)) for text in build.texts.known)
    if not outputs:
        raise InputError("The model has no outputs")
    return ModuleOp([main])


def _names(names: list[str]) -> ArrayAttr[DictionaryAttr]:
    entries: list[dict[str, Attribute]] = [{"graph.name": StringAttr(n)} for n in names]
    return ArrayAttr(DictionaryAttr(e) for e in entries)
