"""The layers of a model: operators that multiply by a constant weight, which are what quantization changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from onnx import NodeProto, TensorProto

from mlc.quantization.network import Array, Network, Scope, attribute

FLOATS: dict[int, str] = {
    TensorProto.FLOAT: "f32",
    TensorProto.FLOAT16: "f16",
    TensorProto.BFLOAT16: "bf16",
    TensorProto.DOUBLE: "f64",
}


@dataclass(frozen=True, eq=False)
class Layer:
    """A node with its weight: input number ``slot``, whose channels (of the result) are along ``axis``; None: one
    channel. ``operand`` is the tensor that meets the weight, ``bias`` the name of a constant one of ``[channels]``.
    """

    node: NodeProto
    scope: Scope
    slot: int
    axis: int | None
    bias: str | None = None

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def op(self) -> str:
        return self.node.op_type

    @property
    def operand(self) -> str:
        return self.node.input[1 - self.slot]

    @property
    def weight(self) -> str:
        return self.node.input[self.slot]

    @property
    def output(self) -> str:
        return self.node.output[0]

    @property
    def element(self) -> str:
        """The type of the weight's elements: ``f32``."""
        tensor = self.scope.tensor(self.weight)
        assert tensor is not None
        return FLOATS[tensor.data_type]

    def array(self) -> Array:
        """The weight."""
        found = self.scope.array(self.weight)
        assert found is not None
        return found

    def bias_array(self) -> Array | None:
        return self.scope.array(self.bias) if self.bias else None

    @property
    def is_convolution(self) -> bool:
        return self.op in ("Conv", "ConvTranspose")


def layers_of(network: Network) -> list[Layer]:
    """Every layer, in the order of the nodes, with those in the bodies of control flow."""
    return [layer for scope in network.scopes() for layer in _of_scope(scope)]


def _of_scope(scope: Scope) -> Iterator[Layer]:
    for node in scope.graph.node:
        if node.domain in ("", "ai.onnx") and node.op_type in ("Conv", "ConvTranspose", "Gemm", "MatMul"):
            layer = _layer(node, scope)
            if layer is not None:
                yield layer


def _layer(node: NodeProto, scope: Scope) -> Layer | None:
    """A node as a layer; None where not exactly one factor is a constant of floats that has elements."""
    weights = [slot for slot in (0, 1) if _is_weight(scope.tensor(node.input[slot]))]
    constants = [slot for slot in (0, 1) if scope.tensor(node.input[slot]) is not None]
    if len(weights) != 1 or constants != weights:
        return None
    slot, rank = weights[0], len(scope.tensor(node.input[weights[0]]).dims)  # type: ignore[union-attr]
    if node.op_type in ("Conv", "ConvTranspose"):
        return None if slot == 0 else Layer(node, scope, 1, int(node.op_type == "ConvTranspose"), _bias(node, scope))
    if node.op_type == "Gemm":
        transposed = attribute(node, "transA" if slot == 0 else "transB", 0)
        return Layer(node, scope, slot, int(bool(transposed) == (slot == 0)), _bias(node, scope) if slot else None)
    return Layer(node, scope, slot, None if rank == 1 else rank - (1 if slot else 2))


def by_scope(layers: Iterable[Layer]) -> Iterator[tuple[Scope, dict[str, Layer]]]:
    """Each graph that has some of the layers, and these by name."""
    given = list(layers)
    for scope in {id(layer.scope): layer.scope for layer in given}.values():
        yield scope, {layer.name: layer for layer in given if layer.scope is scope}


def _is_weight(tensor: TensorProto | None) -> bool:
    return tensor is not None and tensor.data_type in FLOATS and len(tensor.dims) > 0 and bool(np.prod(tensor.dims))


def _bias(node: NodeProto, scope: Scope) -> str | None:
    """The constant bias of one number a channel that is added as it is."""
    name = node.input[2] if len(node.input) > 2 else ""
    tensor = scope.tensor(name)
    scaled = attribute(node, "alpha", 1.0) != 1.0 or attribute(node, "beta", 1.0) != 1.0
    if tensor is None or len(tensor.dims) != 1 or scaled:
        return None
    return name if tensor.dims[0] == _channels(node, scope) else None


def _channels(node: NodeProto, scope: Scope) -> int:
    dims = scope.tensor(node.input[1]).dims  # type: ignore[union-attr]
    if node.op_type == "ConvTranspose":
        return int(dims[1] * attribute(node, "group", 1))
    return int(dims[0] if node.op_type == "Conv" or attribute(node, "transB", 0) else dims[1])
