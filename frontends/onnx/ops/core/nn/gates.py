"""SwiGLU (opset 28)."""

from __future__ import annotations

from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("SwiGLU", since=28)
def swiglu(node: Node) -> Tensor:
    """a * sigmoid(alpha * a) * b."""
    return node.build.formula(f"x0 * sigmoid({literal(node.attr('alpha', 1.0))} * x0) * x1", node[0], node[1])
