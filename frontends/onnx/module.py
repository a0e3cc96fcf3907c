"""From a parsed model to a graph module: its inputs become arguments of ``@main``, its outputs what that returns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onnx import GraphProto, ModelProto, ValueInfoProto
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from mlc.dialects.types import tensor
from mlc.dialects.weights import WeightStore
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.data import TensorData
from mlc.frontends.onnx.dims import DimNames
from mlc.frontends.onnx.errors import NotSupported, Unsupported
from mlc.frontends.onnx.importer import STANDARD, Importer, Poison
from mlc.frontends.onnx.load import read
from mlc.frontends.onnx.tensors import Tensor, element_of_onnx
from mlc.frontends.onnx.validate import check_graph
from mlc.runtime.errors import InputError

Translated = tuple[ModuleOp, WeightStore, str, list[Unsupported]]


def translate(model: str | Path | bytes | ModelProto, dims: Mapping[str, int]) -> Translated:
    """(module, weights, name, what is not supported); the module is only complete where the last is empty."""
    source = read(model)
    proto, weights = source.proto, WeightStore()
    opsets = {STANDARD.get(o.domain, o.domain): o.version for o in proto.opset_import} or {"": 1}
    check_graph(proto.graph, opsets, {(STANDARD.get(f.domain, f.domain), f.name) for f in proto.functions})
    block = Block()
    importer = Importer(Builder(block, weights), TensorData(weights, source.file), opsets, proto.functions)
    values = importer.tensors(proto.graph)
    inputs = _inputs(proto.graph, importer, DimNames(dims), values, block)
    importer.nodes(proto.graph.node, values)
    outputs = [_output(o, values, importer) for o in proto.graph.output]
    module = ModuleOp([]) if importer.unsupported else _module(block, inputs, proto.graph, outputs, importer.build)
    return module, weights, source.name, importer.unsupported


def _inputs(graph: GraphProto, importer: Importer, names: DimNames, values: dict[str, Any], block: Block) -> list[str]:
    """Make the block arguments of the inputs that no initializer gives a value."""
    found = [i for i in graph.input if i.name not in values]
    names.note(found)
    for info in found:
        values[info.name] = Poison()
        with importer.rejecting("Input", info.name):
            values[info.name] = _argument(info, names, block)
    names.check_used()
    return [i.name for i in found]


def _argument(info: ValueInfoProto, names: DimNames, block: Block) -> Tensor:
    if not info.type.HasField("tensor_type"):
        raise NotSupported(f"inputs of {info.type.WhichOneof('value')} are not supported")
    type_ = info.type.tensor_type
    element = element_of_onnx(type_.elem_type)
    shape = names.shape(type_, info.name)
    return Tensor.of(block.insert_arg(tensor(element, shape), len(block.args)))


def _output(info: ValueInfoProto, values: Mapping[str, Any], importer: Importer) -> SSAValue | None:
    value = values.get(info.name)
    if isinstance(value, Tensor):
        return importer.build.value(value)
    if not importer.unsupported:
        with importer.rejecting("Output", info.name):
            raise NotSupported("outputs that are not tensors are not supported")
    return None


def _module(block: Block, inputs: list[str], graph: GraphProto, outputs: list[Any], build: Builder) -> ModuleOp:
    block.add_op(ReturnOp(*outputs))
    types = [a.type for a in block.args], [o.type for o in outputs]
    results = _names([o.name for o in graph.output])
    main = FuncOp("main", types, Region(block), arg_attrs=_names(inputs), res_attrs=results)
    if build.guards:
        main.attributes["graph.guards"] = ArrayAttr(StringAttr(str(g)) for g in build.guards)
    if not outputs:
        raise InputError("The model has no outputs")
    return ModuleOp([main])


def _names(names: list[str]) -> ArrayAttr[DictionaryAttr]:
    entries: list[dict[str, Attribute]] = [{"graph.name": StringAttr(n)} for n in names]
    return ArrayAttr(DictionaryAttr(e) for e in entries)
