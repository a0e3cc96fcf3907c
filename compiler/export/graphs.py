"""A graph module as an ONNX model: inputs, outputs, loops and branches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import onnx
from onnx import TensorProto, ValueInfoProto, helper
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.graph import IfOp, LoopOp, SizeOp
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.semantics.interpreter import main_of, names
from mlc.dialects.types import element_of, shape_of
from mlc.dialects.weights import WeightStore
from mlc.errors import InputError
from mlc.export.blocks import written_block
from mlc.export.operators import written
from mlc.export.writer import Writer, onnx_type
from mlc.frontends.imported import Imported

OPSET, IR_VERSION = 20, 10


def model_of(imported: Imported) -> onnx.ModelProto:
    """The ONNX model of a graph module.

    Raises:
        InputError: an operator has no form in ONNX; names where it comes from.
    """
    main, writer = main_of(imported.module), Writer()
    block = main.body.block
    given, wanted = names(main.arg_attrs), names(main.res_attrs)
    for name, argument in zip(given, block.args, strict=True):
        writer.values[argument] = writer.fresh(name)
    for name in wanted:
        writer.fresh(name)
    for argument in block.args:
        _define_sizes(writer, argument)
    results = _written_block(writer, block, imported.weights)
    for name, value in zip(wanted, results, strict=True):
        writer.nodes.append(helper.make_node("Identity", [value], [name]))
    inputs = [_info(writer.values[x], x) for x in block.args]
    last = block.last_op
    assert isinstance(last, ReturnOp)
    outputs = [_info(name, x) for name, x in zip(wanted, last.operands, strict=True)]
    nodes = _without_identities(writer.nodes, wanted)
    used = {*_read(nodes)}
    kept = [tensor for tensor in writer.initializers if tensor.name in used]
    graph = helper.make_graph(nodes, imported.name, inputs, outputs, kept)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="mlc")
    made.ir_version = IR_VERSION
    return made


def _without_identities(nodes: Sequence[onnx.NodeProto], wanted: Sequence[str]) -> list[onnx.NodeProto]:
    """The nodes without identities that only rename: a node writes the output's name itself."""
    made = list(nodes)
    for name in wanted:
        copy = next(n for n in made if list(n.output) == [name])
        source = copy.input[0]
        users = [n for n in made if source in _read([n])]
        maker = next((n for n in made if source in n.output), None)
        if maker is not None and users == [copy] and source not in wanted:
            maker.output[list(maker.output).index(source)] = name
            made.remove(copy)
    return made


def _read(nodes: Iterable[onnx.NodeProto]) -> Iterator[str]:
    """The names that nodes read, in their bodies too."""
    for node in nodes:
        yield from node.input
        for attribute in node.attribute:
            yield from _read(attribute.g.node)
            yield from (output.name for output in attribute.g.output)


def _info(name: str, value: SSAValue) -> ValueInfoProto:
    shape = [d if isinstance(d, int) else str(d) for d in shape_of(value)]
    return helper.make_tensor_value_info(name, onnx_type(element_of(value)), shape)


def _define_sizes(writer: Writer, argument: SSAValue) -> None:
    """Define the symbols that the shape of an input determines."""
    for axis, extent in enumerate(shape_of(argument)):
        symbol = _symbol(extent)
        if symbol is not None and symbol not in writer.symbols:
            shape = writer.emit("Shape", writer.values[argument])
            writer.symbols[symbol] = writer.emit("Gather", shape, writer.scalar(axis, "i64"), axis=0)


def _symbol(extent: DimLike) -> str | None:
    """The name that a dimension is, and no expression of names."""
    symbols = list(extent.symbols()) if isinstance(extent, Dim) else []
    return symbols[0] if len(symbols) == 1 and extent == Dim.symbol(symbols[0]) else None


def _written_block(writer: Writer, block: Block, weights: WeightStore) -> list[str]:
    """Add the nodes of a block and return the names of its results."""
    return written_block(block, writer.values, lambda op: _write(writer, op, weights))


def _write(writer: Writer, op: Operation, weights: WeightStore) -> None:
    if isinstance(op, LoopOp):
        results = _loop(writer, op, weights)
    elif isinstance(op, IfOp):
        results = _branch(writer, op, weights)
    elif isinstance(op, SizeOp):
        results = [writer.emit("Cast", writer.values[op.value], to=TensorProto.INT64)]
        writer.symbols[op.size.data] = results[0]
    else:
        results = [written(writer, op, weights)]
    writer.values.update(zip(op.results, results, strict=True))


def _loop(writer: Writer, op: LoopOp, weights: WeightStore) -> list[str]:
    if op.strict is not None:
        raise InputError("export_onnx: a loop that fails after its last iteration has no form in ONNX")
    trips, step = writer.dim(op.most), Dim.symbol(op.step.data)
    if op.limit is not None:
        limit = writer.emit("Cast", writer.values[op.limit], to=TensorProto.INT64)
        trips = writer.emit("Min", trips, writer.emit("Reshape", limit, writer.ints([])))
    number, before, after = (writer.fresh(f"{op.step.data}_{what}") for what in ("number", "before", "after"))
    carried = [writer.fresh("carried") for _ in op.carried]
    active = None if op.active is None else writer.values[op.active]
    with writer.body({op.step.data: number}) as nodes:
        block = op.body.block
        used = [writer.values[x] for x in op.used]
        writer.values.update(zip(block.args, [*carried, *used], strict=True))
        results = _written_block(writer, block, weights)
        goes_on = results.pop(0) if op.active is not None else before
        results = [goes_on, *results]
        outputs = [writer.emit("Identity", x) for x in results]  # an output of a body may be no value from around it
        nodes[-len(outputs)].output[0] = after
        outputs[0] = after
    kinds = [element_of(x) for x in op.carried]
    yielded = op.body.block.last_op.operands[op.active is not None :]  # type: ignore[union-attr]
    inputs = [helper.make_tensor_value_info(number, TensorProto.INT64, []),
              helper.make_tensor_value_info(before, TensorProto.BOOL, [])]  # fmt: skip
    inputs += [_untyped(name, kind) for name, kind in zip(carried, kinds, strict=True)]
    infos = [helper.make_tensor_value_info(after, TensorProto.BOOL, [])]
    infos += [_untyped(name, element_of(x)) for name, x in zip(outputs[1:], yielded, strict=True)]
    body = helper.make_graph(nodes, "body", inputs, infos)
    start = [trips, active or writer.constant(True), *(writer.values[x] for x in op.states)]
    made = writer.emit_all("Loop", start, len(op.res), body=body)
    for n, at in enumerate(op.collect_at, len(op.states)):
        made[n] = _in_order(writer, made[n], at, step, op.most)
    if op.size is not None:
        shape = writer.emit("Shape", made[len(op.states)])
        writer.symbols[op.size.data] = writer.emit("Gather", shape, writer.scalar(0, "i64"), axis=0)
    return made


def _in_order(writer: Writer, x: str, at: DimLike, step: Dim, trips: DimLike) -> str:
    """Reorder collected values: iteration ``step`` goes to index ``at``."""
    if at == step:
        return x
    if at == trips - 1 - step:
        first, end, axis, by = ([-1], [-(1 << 31)], [0], [-1])
        return writer.emit("Slice", x, *map(writer.ints, (first, end, axis, by)))
    raise InputError(f"export_onnx: a loop that collects at index {at} has no form in ONNX")


def _untyped(name: str, element: str) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, onnx_type(element), None)


def _branch(writer: Writer, op: IfOp, weights: WeightStore) -> list[str]:
    bodies: dict[str, Any] = {}
    for key, block in (("then_branch", op.then.block), ("else_branch", op.otherwise.block)):
        with writer.body({}) as nodes:
            writer.values.update(zip(block.args, [writer.values[x] for x in op.used], strict=True))
            results = [writer.emit("Identity", x) for x in _written_block(writer, block, weights)]
        infos = [_untyped(name, element_of(x)) for name, x in zip(results, op.res, strict=True)]
        bodies[key] = helper.make_graph(nodes, key, [], infos)
    return writer.emit_all("If", [writer.values[op.condition]], len(op.res), **bodies)
