"""What is done to a model before it is quantized: functions inlined, opset raised, constants collected, batch
normalization folded into convolutions, nodes named.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, inliner, numpy_helper, version_converter
from onnx.reference import ReferenceEvaluator

from mlc.errors import InputError
from mlc.frontends.onnx import read_whole
from mlc.quantization.network import Array, Network, Scope, attribute, set_nodes

QDQ_OPSET = 13  # the first whose QuantizeLinear has a scale a channel
HALF_OPSET = 19  # the first whose QuantizeLinear takes f16
FOLDED = frozenset((
    *("Transpose", "Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Concat", "Slice", "Expand"),
    *("Add", "Sub", "Mul", "Div", "Neg", "Sqrt", "Reciprocal", "Round", "Pow"),
))  # fmt: skip
"""Operators of constants that are computed, so that a weight is a constant where it is multiplied."""


def prepared(model: str | Path | bytes | ModelProto) -> Network:
    """The model, ready to be quantized; ``model`` itself stays as it is.

    Raises:
        InputError: not a valid model, or its opset cannot be raised to 13.
    """
    if not isinstance(model, str | Path | bytes | ModelProto):
        raise InputError(f"A {type(model).__name__} cannot be quantized", hint="Give an ONNX model; mlc.export_onnx")
    proto = read_whole(model)
    if isinstance(model, ModelProto):
        proto = ModelProto()
        proto.CopyFrom(read_whole(model))
    if proto.functions:
        proto = inliner.inline_local_functions(proto)
    network = Network(raised(proto, QDQ_OPSET))
    if any(tensor.data_type == onnx.TensorProto.FLOAT16 for tensor in network.proto.graph.initializer):
        network = Network(raised(network.proto, HALF_OPSET))
    for scope in network.scopes():
        _collect_constants(network, scope)
        _fold_batch_norms(network, scope)
    _name_nodes(network)
    network.drop_unused()
    return network


def raised(proto: ModelProto, opset: int) -> ModelProto:
    """The model in at least an opset. InputError where the onnx package cannot convert it."""
    has = Network(proto).opset()
    if has >= opset:
        return proto
    try:
        made = version_converter.convert_version(proto, opset)
    except Exception as error:
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
        hint = f"Export the model with opset {opset} or later, or write it anew: mlc export MODEL"
        raise InputError(f"Opset {has} cannot be raised to {opset}: {reason}", hint=hint) from error
    made.ir_version = max(made.ir_version, 7)
    return made


def _collect_constants(network: Network, scope: Scope) -> None:
    """Constant nodes, and what is computed of constants alone, become initializers."""
    kept = []
    for node in scope.graph.node:
        found = _computed(node, scope)
        if found is None:
            kept.append(node)
        else:
            scope.add(node.output[0], found)
    set_nodes(scope.graph, kept)
    for name in [each.name for each in scope.graph.output if each.name in scope.constants]:
        scope.graph.node.append(_identity(network, scope, name))


def _identity(network: Network, scope: Scope, name: str) -> NodeProto:
    """A constant that is a graph's output comes from a node, as older versions of onnx need it."""
    tensor = scope.constants.pop(name)
    tensor.name = network.fresh(f"{name}_value")
    scope.constants[tensor.name] = tensor
    return onnx.helper.make_node("Identity", [tensor.name], [name], network.fresh(f"{name}_output"))


def _computed(node: NodeProto, scope: Scope) -> Array | None:
    if node.op_type == "Constant" and node.attribute[0].name in ("value", "value_float", "value_floats"):
        value: Any = onnx.helper.get_attribute_value(node.attribute[0])
        single = isinstance(value, float | list)
        return np.array(value, np.float32) if single else numpy_helper.to_array(value)
    names = list(filter(None, node.input))
    if node.op_type not in FOLDED or node.domain or not names or any(scope.tensor(name) is None for name in names):
        return None
    if scope.is_output(node.output[0]):
        return None
    run: Any = ReferenceEvaluator(node).run
    found: Array = run(None, {name: scope.array(name) for name in names})[0]
    return found


def _fold_batch_norms(network: Network, scope: Scope) -> None:
    """Convolution, then batch normalization with constant numbers → convolution."""
    makers = {node.output[0]: node for node in scope.graph.node if node.op_type == "Conv"}
    kept, readers = [], scope.readers()
    for node in scope.graph.node:
        before = makers.get(node.input[0]) if node.op_type == "BatchNormalization" else None
        if before is None or not _folds(before, node, scope, readers):
            kept.append(node)
            continue
        _fold(network, scope, before, node)
    set_nodes(scope.graph, kept)


def _folds(conv: NodeProto, norm: NodeProto, scope: Scope, readers: Mapping[str, list[NodeProto]]) -> bool:
    alone = len(readers[conv.output[0]]) == 1 and not scope.is_output(conv.output[0])
    trained = attribute(norm, "training_mode", 0) or len(norm.output) > 1
    constants = [conv.input[1], *conv.input[2:3], *norm.input[1:5]]
    return alone and not trained and all(scope.tensor(name) is not None for name in constants)


def _fold(network: Network, scope: Scope, conv: NodeProto, norm: NodeProto) -> None:
    scale, shift, mean, variance = (_wide(scope, name) for name in norm.input[1:5])
    factor = scale / np.sqrt(variance + attribute(norm, "epsilon", 1e-5))
    weight, kind = _wide(scope, conv.input[1]), scope.array(conv.input[1]).dtype  # type: ignore[union-attr]
    bias = _wide(scope, conv.input[2]) if len(conv.input) > 2 and conv.input[2] else 0.0
    folded = weight * factor.reshape(-1, *[1] * (weight.ndim - 1))
    names = [network.fresh(f"{conv.input[1]}_folded"), network.fresh(f"{conv.output[0]}_bias")]
    scope.add(names[0], folded.astype(kind))
    scope.add(names[1], ((bias - mean) * factor + shift).astype(kind))
    data = conv.input[0]
    del conv.input[:]
    conv.input.extend([data, *names])
    conv.output[0] = norm.output[0]


def _wide(scope: Scope, name: str) -> Array:
    return scope.array(name).astype(np.float64)  # type: ignore[union-attr]


def _name_nodes(network: Network) -> None:
    """Every node has a name of its own, by which users exclude it and reports show it."""
    seen = set[str]()
    for scope in network.scopes():
        for node in scope.graph.node:
            if not node.name or node.name in seen:
                node.name = network.fresh(node.name or f"{node.op_type}_{node.output[0] if node.output else ''}")
            seen.add(node.name)
