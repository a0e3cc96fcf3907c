"""Each node of an ONNX model as a model of its own, interpreted on onnxruntime's operands.

    x, w → Conv → c → Relu → y        becomes        x', w → Conv → c?   beside c'
                                                     c' → Relu → y?      beside y'

A primed tensor is onnxruntime's. Operands of few elements are constants, since shapes, axes and scales must be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto, helper, numpy_helper

from mlc.debugging.report import Row
from mlc.debugging.rounding import is_rounding, sensitivity
from mlc.dialects.semantics.interpreter import interpret
from mlc.errors import MlcError
from mlc.frontends.onnx import import_model
from mlc.tools.difference import difference, worst_of

FEW = 64  # elements of an operand that is made a constant, of rank 1 at most
RANDOM = frozenset(
    ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial")
)


def compare_nodes(model: ModelProto, values: Mapping[str, Any], tolerance: float | None) -> Iterator[Row]:
    """A row for each node of the main graph. ``values``: onnxruntime's, of the inputs too."""
    constants = {each.name: each for each in model.graph.initializer}
    known = {**{name: numpy_helper.to_array(each) for name, each in constants.items()}, **values}
    for n, node in enumerate(model.graph.node):
        name = node.name or next(filter(None, node.output), f"node {n}")
        if node.op_type == "Constant" and not node.domain:
            continue
        yield _compared(model, node, name, known, tolerance)


def _compared(model: ModelProto, node: NodeProto, name: str, known: Mapping[str, Any], tolerance: float | None) -> Row:
    made, read = list(filter(None, node.output)), _read(node)
    if node.op_type in RANDOM:
        return Row(name, node.op_type, None, "it draws random numbers")
    if missing := [each for each in (*read, *made) if not _is_array(known.get(each))]:
        return Row(name, node.op_type, None, f"'{missing[0]}' is no tensor of numbers")
    given = {each: known[each] for each in read}
    try:
        imported = import_model(_alone(model, node, read, made, known))
        found = interpret(imported.module, imported.weights, given)
    except MlcError as error:
        return Row(name, node.op_type, None, f"it does not compile alone: {error.message.splitlines()[0]}")
    worst = worst_of(difference(found[each], known[each], tolerance) for each in made if each in found)
    if worst.right:
        return Row(name, node.op_type, worst)

    def again(operands: Sequence[Any]) -> list[Any]:
        return list(interpret(imported.module, imported.weights, dict(zip(read, operands, strict=True))).values())

    moves = sensitivity(again, list(given.values()), list(found.values()))
    return Row(name, node.op_type, worst, rounding=is_rounding(worst, moves))


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind not in "OSU"


def _read(node: NodeProto) -> list[str]:
    """The tensors that a node reads, itself or in its bodies."""
    found = dict.fromkeys(filter(None, node.input))
    for attribute in node.attribute:
        for body in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            found |= dict.fromkeys(_captured(body))
    return list(found)


def _captured(body: GraphProto) -> Iterator[str]:
    own = {each.name for each in (*body.input, *body.initializer)}
    own |= {name for node in body.node for name in node.output}
    for node in body.node:
        yield from (name for name in _read(node) if name not in own)
    yield from (each.name for each in body.output if each.name not in own)


def _alone(
    model: ModelProto, node: NodeProto, read: list[str], made: list[str], known: Mapping[str, Any]
) -> ModelProto:
    fixed = [each for each in read if known[each].ndim <= 1 and known[each].size <= FEW]
    inputs = [_info(each, known[each]) for each in read if each not in fixed]
    outputs = [helper.make_tensor_value_info(each, _element(known[each]), None) for each in made]
    constants = [numpy_helper.from_array(known[each], each) for each in fixed]
    graph = helper.make_graph([node], "alone", inputs, outputs, constants)
    alone = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    alone.functions.extend(model.functions)
    return alone


def _info(name: str, x: Any) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, _element(x), x.shape)


def _element(x: Any) -> int:
    return helper.np_dtype_to_tensor_dtype(x.dtype)
