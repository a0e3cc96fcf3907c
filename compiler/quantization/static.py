"""Static quantization in QDQ form: QuantizeLinear and DequantizeLinear with constant scales around each layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import NodeProto, helper

from mlc.quantization.layers import Layer
from mlc.quantization.network import Array, Network, Scope, set_nodes
from mlc.quantization.ranges import Range
from mlc.quantization.weights import Quantized, by_channel, checked

ACTIVATIONS = ("Relu", "Clip")
"""What an engine fuses into the kernel of a convolution, by the range of the bytes alone."""
MOVES = ("MaxPool", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Split", "Identity", "Dropout")
"""Operators whose results are numbers of their first input: bytes with its scale."""
READERS = (*MOVES, "Concat", "AveragePool", "GlobalAveragePool")
"""Operators that read bytes where they can."""
SUMS = ("Add", "Sum")
"""Operators that read bytes where all of their inputs are bytes."""
NUMPY = {"f32": "float32", "f16": "float16"}
BIAS_LIMIT = 1 << 30  # of the integers of a bias, which are added to a sum of 32 bits


@dataclass(frozen=True)
class Scale:
    """``(byte - zero_point) * scale``."""

    scale: float
    zero_point: int
    dtype: str = "uint8"

    @classmethod
    def of(cls, within: Range, dtype: str) -> Scale:
        """Of a range with 0 in it."""
        low, high = within
        scale = float(np.float32((high - low) / 255))
        if scale <= np.finfo(np.float32).tiny:
            return cls(1.0, 0, dtype)
        first = 0 if dtype == "uint8" else -128
        return cls(scale, int(np.clip(np.rint(-low / scale), 0, 255)) + first, dtype)


@dataclass
class Plan:
    """The tensors that become bytes, in the order of the nodes, and those of them that are outputs of convolutions."""

    tensors: list[str] = field(default_factory=list)
    convolved: set[str] = field(default_factory=set)
    same: dict[str, str] = field(default_factory=dict)
    """A tensor that has the scale of another."""
    elements: dict[str, str] = field(default_factory=dict)
    """The element type of each tensor."""


def plan_of(scope: Scope, layers: Sequence[Layer]) -> Plan:
    """What becomes bytes for these layers: their operands, and the results of convolutions after ReLU."""
    plan, readers = Plan(elements={layer.operand: layer.element for layer in layers}), scope.readers()
    for layer in layers:
        if layer.is_convolution and (result := result_of(layer, readers)):
            plan.convolved.add(result)
            plan.elements[result] = layer.element
    wanted = set(plan.elements)
    made = [info.name for info in scope.graph.input] + [name for node in scope.graph.node for name in node.output]
    plan.tensors = [name for name in dict.fromkeys(made) if name in wanted]
    for node in scope.graph.node:
        if node.op_type in MOVES and node.input[0] in wanted:
            plan.same |= {name: node.input[0] for name in node.output if name in wanted}
    return plan


def result_of(layer: Layer, readers: Mapping[str, Sequence[NodeProto]]) -> str | None:
    """The tensor of a convolution that is stored: after its ReLU; None where that is an output of the model."""
    name, after = layer.output, readers.get(layer.output, ())
    if len(after) == 1 and after[0].op_type in ACTIVATIONS and not layer.scope.is_output(name):
        name = after[0].output[0]
    return None if layer.scope.is_output(name) else name


def scales_of(plan: Plan, ranges: Mapping[str, Range], dtype: str) -> dict[str, Scale]:
    found: dict[str, Scale] = {}
    for name in plan.tensors:
        source = plan.same.get(name)
        found[name] = found[source] if source in found else Scale.of(ranges[name], dtype)
    return found


def is_by_channel(layer: Layer) -> bool:
    """Whether a weight may have a scale a channel. A left factor and a batch of matrices have one scale: kernels of
    integers multiply these by no more.
    """
    batched = layer.op == "MatMul" and layer.array().ndim > 2
    return layer.axis is not None and layer.slot == 1 and not batched


def quantized(layer: Layer, operand: Scale, levels: int, per_channel: bool, search: bool) -> Quantized:
    """The weight of a layer as integers."""
    axis = layer.axis if per_channel and is_by_channel(layer) else None
    return by_channel(checked(layer), axis, levels, search, _least(layer, axis, operand))


def _least(layer: Layer, axis: int | None, operand: Scale) -> Array | None:
    """Scales below which the integers of the bias would not fit."""
    bias = layer.bias_array()
    if bias is None:
        return None
    needed = np.abs(bias.astype(np.float64)) / (operand.scale * BIAS_LIMIT)
    if axis is None:
        return np.array(needed.max())
    found: Array = needed.reshape(-1, layer.array().shape[axis]).max(0)
    return found  # a transposed convolution has the same scales in each group


@dataclass
class Writer:
    """Writes QDQ form into a graph: ``layers`` are those that are quantized, ``others`` stay in f32."""

    network: Network
    scope: Scope
    layers: Sequence[Layer]
    plan: Plan
    scales: Mapping[str, Scale]
    levels: int
    per_channel: bool
    search: bool
    shared: dict[tuple[str, int | None], str] = field(default_factory=dict)
    readers: dict[str, list[NodeProto]] = field(default_factory=dict)

    def write(self) -> None:
        names = {name: self.network.fresh(f"{name}_dequantized") for name in self.plan.tensors}
        added = [node for name in self.plan.tensors for node in self._around(name, names[name])]
        by_name = {layer.name: layer for layer in self.layers}
        self.readers = self.scope.readers()
        for node in self.scope.graph.node:
            layer = by_name.get(node.name)
            slots = [n for n, name in enumerate(node.input) if name in names and self._reads_bytes(node, layer, name)]
            if layer is not None:
                added += self._constants(layer, node)
            for slot in slots:
                node.input[slot] = names[node.input[slot]]
        set_nodes(self.scope.graph, [*self.scope.graph.node, *added])

    def _reads_bytes(self, node: NodeProto, layer: Layer | None, name: str) -> bool:
        if layer is not None:
            return name == layer.operand
        if node.op_type in SUMS:
            return all(each in self.plan.tensors for each in node.input)
        fused = node.op_type in ACTIVATIONS and node.output[0] in self.plan.convolved
        return not fused and (name in self.plan.convolved or node.op_type in READERS)

    def _around(self, name: str, dequantized: str) -> Iterator[NodeProto]:
        """tensor → bytes → floats."""
        scale, base = self.scales[name], self.network.fresh(f"{name}_quantized")
        kind = NUMPY[self.plan.elements[name]]
        constants = [self._constant(f"{name}_scale", np.array(scale.scale, kind))]
        constants.append(self._constant(f"{name}_zero_point", np.array(scale.zero_point, scale.dtype)))
        yield self._node("QuantizeLinear", [name, *constants], base)
        yield self._node("DequantizeLinear", [base, *constants], dequantized)

    def _constants(self, layer: Layer, node: NodeProto) -> Iterator[NodeProto]:
        """Weight and bias of a layer as integers."""
        found = quantized(layer, self.scales[layer.operand], self.levels, self.per_channel, self.search)
        by_one = self.per_channel and is_by_channel(layer)
        kind = NUMPY[layer.element]
        axis = layer.axis if by_one else None
        key = (layer.weight, axis if layer.bias is None else -1 - self.layers.index(layer))
        if key not in self.shared:
            self.shared[key] = self.network.fresh(f"{layer.weight}_dequantized")
            yield self._dequantized(layer.weight, found.values, found.scales, axis, kind, self.shared[key])
        yield from self._bias(layer, node, found, by_one)
        node.input[layer.slot] = self.shared[key]

    def _bias(self, layer: Layer, node: NodeProto, found: Quantized, by_one: bool) -> Iterator[NodeProto]:
        """The bias in integers of 32 bits, whose scale is that of the sum; as it is where they do not fit.

        onnxruntime multiplies bytes in MatMul and Add only where both are integers: it makes one Gemm of them first.
        """
        reader, slot = (node, 2) if layer.bias else self._added_bias(layer)
        if reader is None:
            return
        name, bias = reader.input[slot], self.scope.array(reader.input[slot])
        assert bias is not None
        scales = self._bias_scales(layer, found, bias.size)
        numbers = np.rint(bias / scales)
        if np.abs(numbers).max() > 1.01 * BIAS_LIMIT:
            return
        each, some = (0, scales) if by_one else (None, scales[:1])
        reader.input[slot] = self.network.fresh(f"{name}_dequantized")
        kind = NUMPY[layer.element]
        yield self._dequantized(name, numbers.astype(np.int32), some, each, kind, reader.input[slot])

    def _added_bias(self, layer: Layer) -> tuple[NodeProto | None, int]:
        """The Add that alone reads a product, and which of its inputs is a constant of one number a column."""
        readers = self.readers.get(layer.output, [])
        if layer.op != "MatMul" or not is_by_channel(layer) or [each.op_type for each in readers] != ["Add"]:
            return None, 0
        slot = int(readers[0].input[0] == layer.output)
        tensor = self.scope.tensor(readers[0].input[slot])
        fits = tensor is not None and list(tensor.dims) == [layer.array().shape[-1]]
        return (readers[0] if fits else None), slot

    def _bias_scales(self, layer: Layer, found: Quantized, count: int) -> Array:
        each = found.scales.reshape(-1).astype(np.float32) * np.float32(self.scales[layer.operand].scale)
        return np.tile(each, count // each.size)

    def _dequantized(
        self, name: str, values: Array, scales: Array, axis: int | None, kind: str, output: str
    ) -> NodeProto:
        flat = scales.reshape(-1).astype(kind) if axis is not None else scales.reshape(-1)[0].astype(kind)
        zero = np.zeros(flat.shape, values.dtype)
        inputs = [
            self._constant(f"{name}_{suffix}", array)
            for suffix, array in (("quantized", values), ("scale", flat), ("zero_point", zero))
        ]
        return self._node("DequantizeLinear", inputs, output, axis=axis or 0)

    def _constant(self, name: str, array: Array) -> str:
        return self.scope.add(self.network.fresh(name), np.asarray(array))

    def _node(self, op: str, inputs: Sequence[str], output: str, **attributes: Any) -> NodeProto:
        return helper.make_node(op, list(inputs), [output], self.network.fresh(f"{output}_{op}"), **attributes)
