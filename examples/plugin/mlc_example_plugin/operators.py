"""An ONNX operator of a domain of its own."""

from __future__ import annotations

from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("Cube", domain="com.example")
def cube(node: Node) -> Tensor:
    """x³."""
    return node.build.map("x0 * x0 * x0", node[0])
