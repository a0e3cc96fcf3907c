"""MatMul and Gemm as one form: a matrix by a constant one, with what Gemm does before and after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import NodeProto, helper

from mlc.quantization.layers import Layer, by_scope
from mlc.quantization.network import Array, Network, attribute, set_nodes
from mlc.quantization.weights import checked


@dataclass(frozen=True)
class Product:
    """``weight`` [K, N], or [M, K] where it is the left factor; ``transposed``: so is the operand, before."""

    weight: Array
    is_left: bool
    transposed: bool
    alpha: float
    beta: float
    addend: str

    @property
    def axis(self) -> int | None:
        """Where the channels are."""
        return None if self.weight.ndim == 1 else self.weight.ndim - (2 if self.is_left else 1)


def product_of(layer: Layer) -> Product:
    """A MatMul or Gemm layer."""
    array, node, left = checked(layer), layer.node, layer.slot == 0
    if layer.op == "MatMul":
        return Product(array, left, False, 1.0, 1.0, "")
    flips = [bool(attribute(node, name, 0)) for name in ("transA", "transB")]
    weight = array.T if flips[layer.slot] else array
    addend = node.input[2] if len(node.input) > 2 else ""
    scales = attribute(node, "alpha", 1.0), attribute(node, "beta", 1.0)
    return Product(np.ascontiguousarray(weight), left, flips[1 - layer.slot], *scales, addend)


def in_layout(layer: Layer, weight: Array) -> Array:
    """The weight of a product as the model has it: Gemm may transpose it."""
    flipped = layer.op == "Gemm" and layer.axis == (0 if layer.slot else 1)
    return weight.T if flipped else weight


def rewrite(network: Network, layers: Iterable[Layer], change: Callable[[NodeMaker, dict[Any, Any]], bool]) -> None:
    """Let ``change`` make nodes for each layer; it says whether they take the place of the layer's own node.

    Its second argument is a dictionary for the constants that the layers of one graph share.
    """
    for scope, mine in by_scope(layers):
        nodes, shared = list[NodeProto](), dict[Any, Any]()
        for node in scope.graph.node:
            layer = mine.get(node.name)
            if layer is None or not change(NodeMaker(network, layer, nodes), shared):
                nodes.append(node)
        set_nodes(scope.graph, nodes)


@dataclass
class NodeMaker:
    """Makes the nodes that take the place of a layer's."""

    network: Network
    layer: Layer
    nodes: list[NodeProto]
    element: str = ""

    def __post_init__(self) -> None:
        self.element = self.layer.element

    def node(self, op: str, inputs: Sequence[str], output: str = "", domain: str = "", **attributes: Any) -> str:
        """The name of a node's only result."""
        name = output or self.network.fresh(f"{self.layer.output}_{op}")
        made = helper.make_node(op, list(inputs), [name], self.network.fresh(f"{self.layer.name}_{op}"), **attributes)
        made.domain = domain
        self.nodes.append(made)
        return name

    def constant(self, suffix: str, array: Array) -> str:
        return self.layer.scope.add(self.network.fresh(f"{self.layer.weight}_{suffix}"), np.asarray(array))

    def operand(self, product: Product) -> str:
        """The operand of a product, transposed where Gemm says so."""
        name = self.layer.operand
        return self.node("Transpose", [name], perm=[1, 0]) if product.transposed else name

    def summed(self, name: str, product: Product) -> None:
        """The layer's result: what is named plus Gemm's addend, or itself."""
        if not product.addend:
            self.nodes[-1].output[0] = self.layer.output
            return
        addend = product.addend
        if product.beta != 1.0:
            addend = self.node("Mul", [addend, self.constant("beta", np.array(product.beta, self.float_type))])
        self.node("Add", [name, addend], self.layer.output)

    def summed_channels(self, name: str, shape: tuple[int, ...]) -> None:
        """The result of a convolution: what is named plus its bias, as an array of ``shape``."""
        node = self.layer.node
        bias = node.input[2] if len(node.input) > 2 else ""
        if not bias:
            self.nodes[-1].output[0] = self.layer.output
            return
        known = self.layer.scope.array(bias)
        if known is not None:
            wide = self.constant("bias", known.reshape(shape))
        else:
            wide = self.node("Reshape", [bias, self.constant("bias_shape", np.array(shape, np.int64))])
        self.node("Add", [name, wide], self.layer.output)

    @property
    def float_type(self) -> str:
        return "float16" if self.element == "f16" else "float32"
